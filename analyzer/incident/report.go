package incident

// SchemaVersion is the version of the Report's JSON form. From version 1 on
// fields are added, never renamed or removed.
const SchemaVersion = 1

// Report is the answer to one incident, and the public contract: `graphtrap
// diagnose --format json` prints it as it is. Sizes are bytes, durations are
// seconds, lines are counted from 1 on LF only, columns are UTF-8 bytes of the
// raw line counted from 1, offsets are bytes from the start of the file.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Tool          Tool      `json:"tool"`
	Input         Input     `json:"input"`
	Coverage      Coverage  `json:"coverage"`
	Episodes      []Episode `json:"episodes"`
	Verdict       Verdict   `json:"verdict"`
	Memory        []Series  `json:"memory"`
	Pools         []Pool    `json:"pools"`
	Events        []Event   `json:"events"`
	// Notes tell the reader what a bound removed and what else limits the answer.
	Notes []string `json:"notes"`
}

// Tool names the program that made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Input lists the files that were read as one incident.
type Input struct {
	Files []File `json:"files"`
}

// File is one file of the incident.
type File struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Lines int64  `json:"lines"`
	// Rank is the global rank that the file's path gives, if it gives one.
	Rank *int `json:"rank"`
}

// Coverage says how much of the run the log shows.
type Coverage struct {
	RanksSeen          []int     `json:"ranks_seen"`
	WorldSize          *int      `json:"world_size"`
	WorldSizeFrom      *Location `json:"world_size_from"`
	LinesWithoutOrigin int64     `json:"lines_without_origin"`
	FirstTime          *Time     `json:"first_time"`
	LastTime           *Time     `json:"last_time"`
	ClockSkewSeconds   *float64  `json:"clock_skew_seconds"`
	Cut                []string  `json:"cut"`
}

// Outcome is how an episode ended.
type Outcome string

// The outcomes of an episode.
const (
	Failed         Outcome = "failed"
	Ended          Outcome = "ended"
	OutcomeUnknown Outcome = "unknown"
)

// Episode is one attempt of the run; elastic restarts make several.
type Episode struct {
	Attempt   int     `json:"attempt"`
	FirstLine int64   `json:"first_line"`
	LastLine  int64   `json:"last_line"`
	Outcome   Outcome `json:"outcome"`
}

// Status is how far a verdict goes.
type Status string

// The states of a verdict.
const (
	Diagnosed      Status = "diagnosed"
	Undetermined   Status = "undetermined"
	NoFailureFound Status = "no_failure_found"
)

// Answer is a three-valued answer to a yes-or-no question.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "undetermined"
)

// Confidence is one word for the degree of certainty.
type Confidence string

// The degrees of certainty.
const (
	Confirmed Confidence = "confirmed"
	Likely    Confidence = "likely"
	Possible  Confidence = "possible"
)

// Verdict says which failure, whose, since which line, how sure, and what is
// missing.
type Verdict struct {
	Status           Status          `json:"status"`
	Signature        *string         `json:"signature"`
	Title            string          `json:"title"`
	Summary          string          `json:"summary"`
	GraphPoolIsCause Answer          `json:"graph_pool_is_cause"`
	Confidence       Confidence      `json:"confidence"`
	Initiator        *Initiator      `json:"initiator"`
	CoInitiators     []Initiator     `json:"co_initiators"`
	Collateral       []Collateral    `json:"collateral"`
	Evidence         []Evidence      `json:"evidence"`
	Checklist        []ChecklistItem `json:"checklist"`
	Rivals           []Rival         `json:"rivals"`
	Reasoning        []Reason        `json:"reasoning"`
	MissingFact      *MissingFact    `json:"missing_fact"`
	Fixes            []Fix           `json:"fixes"`
	Verify           []Verify        `json:"verify"`
	Related          []string        `json:"related"`
	References       []Reference     `json:"references"`
}

// Initiator is the process that failed first.
type Initiator struct {
	// Rank is the global rank; nil where the log cannot tell it.
	Rank      *int    `json:"rank"`
	LocalRank *int    `json:"local_rank"`
	Host      *string `json:"host"`
	PID       *int    `json:"pid"`
	Process   *string `json:"process"`
	// RankFrom says how the global rank is known: "outer prefix", "failure table", ...
	RankFrom string `json:"rank_from"`
	// Location covers the whole block that shows the failure; nil where the
	// initiator is known by absence or by a summary only.
	Location *Location `json:"location"`
	// StatedAt is the one line that states the failure.
	StatedAt *Location `json:"stated_at"`
	Time     *Time     `json:"time"`
	Frame    *Frame    `json:"frame"`
	// FrameTrusted is false where the error was reported asynchronously, so
	// that the frame may be innocent.
	FrameTrusted bool `json:"frame_trusted"`
}

// Frame is one entry of a Python traceback.
type Frame struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	// Text is the source line that the traceback quotes; empty where it has none.
	Text string `json:"text"`
}

// Role is the part that a message or a process plays in the incident.
type Role string

// The roles. Advice is hint text and never evidence.
const (
	RoleInitiator  Role = "initiator"
	RoleCollateral Role = "collateral"
	RoleEcho       Role = "echo"
	RoleSymptom    Role = "symptom"
	RoleAdvice     Role = "advice"
	RoleContext    Role = "context"
)

// Collateral is a process, or a line of it, that only suffered.
type Collateral struct {
	Rank      *int     `json:"rank"`
	Role      Role     `json:"role"`
	Signature string   `json:"signature"`
	Location  Location `json:"location"`
	Time      *Time    `json:"time"`
	Why       string   `json:"why"`
}

// Weight is what a piece of evidence does to the verdict.
type Weight string

// The weights of evidence.
const (
	Supports Weight = "supports"
	Refutes  Weight = "refutes"
	Neutral  Weight = "context"
)

// Evidence is one claim with the raw line that shows it.
type Evidence struct {
	Location Location `json:"location"`
	Says     string   `json:"says"`
	For      Weight   `json:"for"`
}

// ChecklistItem is one thing that the failure's description tells to look for.
type ChecklistItem struct {
	Item string `json:"item"`
	// State is "seen", "not seen" or "contradicted".
	State    string    `json:"state"`
	Location *Location `json:"location"`
}

// Rival is another candidate, and why it lost.
type Rival struct {
	Signature string    `json:"signature"`
	Rank      *int      `json:"rank"`
	WhyNot    string    `json:"why_not"`
	Location  *Location `json:"location"`
}

// Reason is one step that led to the verdict, in the order in which it was taken.
type Reason struct {
	Rule string `json:"rule"`
	Says string `json:"says"`
	// Location is the line that the step rests on; nil where it rests on none.
	Location *Location `json:"location"`
}

// MissingFact is the one fact that would decide, and how to get it.
type MissingFact struct {
	ID   string `json:"id"`
	Fact string `json:"fact"`
	How  string `json:"how"`
}

// Fix is one remedy, with what a careful person must know before using it.
type Fix struct {
	ID           string      `json:"id"`
	Title        string      `json:"title"`
	Stack        string      `json:"stack"`
	Why          string      `json:"why"`
	Code         string      `json:"code"`
	Language     string      `json:"language"`
	Precondition string      `json:"precondition"`
	Risk         string      `json:"risk"`
	Rollback     string      `json:"rollback"`
	Edit         *SourceEdit `json:"edit"`
}

// SourceEdit is a fix applied to a source file that could be read.
type SourceEdit struct {
	Path    string   `json:"path"`
	Changes []Change `json:"changes"`
}

// Change replaces the bytes from Offset to EndOffset of a file by NewText.
type Change struct {
	Offset    int64  `json:"offset"`
	EndOffset int64  `json:"end_offset"`
	NewText   string `json:"new_text"`
}

// Verify is a command that shows whether a fix worked, and what to expect of it.
type Verify struct {
	Command string `json:"command"`
	// Language is "shell", or "python" for a line that belongs into the program itself.
	Language string `json:"language"`
	Expect   string `json:"expect"`
}

// Reference is a page with more about the failure.
type Reference struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Series is one memory metric of one rank over the run.
type Series struct {
	Rank            *int     `json:"rank"`
	Metric          string   `json:"metric"`
	Samples         []Sample `json:"samples"`
	SamplesDropped  int      `json:"samples_dropped"`
	Trend           string   `json:"trend"`
	BytesPerCapture *int64   `json:"bytes_per_capture"`
}

// Sample is one reading of a memory metric; the printed size stands for any
// value from Low to High.
type Sample struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Low    int64  `json:"low"`
	High   int64  `json:"high"`
	Step   *int64 `json:"step"`
	Time   *Time  `json:"time"`
}

// Pool is one allocator pool read from a snapshot.
type Pool struct {
	ID       [2]int64 `json:"id"`
	Reserved int64    `json:"reserved"`
	Live     int64    `json:"live"`
	Idle     int64    `json:"idle"`
}

// Event is one recognised message.
type Event struct {
	Message  string          `json:"message"`
	Role     Role            `json:"role"`
	Rank     *int            `json:"rank"`
	Location Location        `json:"location"`
	Time     *Time           `json:"time"`
	Facts    map[string]Fact `json:"facts"`
}
