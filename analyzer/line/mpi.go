package line

import (
	"regexp"
	"strconv"
	"strings"
)

// How the launchers of MPI name the process that printed a line: Open MPI by a tag
// that nothing else looks like, Hydra and PALS by labels that a file's layout allows.

// [1,3]<stdout>:...
// [3]<stderr>:...
// [1,mpirank:10,algo-2]<stdout>:...
//
// The last one is SageMaker's, which names the host as well.
func mpiTag(p *Piece, s string) int {
	end := strings.IndexByte(s, ']')
	if end < 2 || end > 100 {
		return 0
	}
	stream, _, ok := strings.Cut(s[end+1:], ">:")
	stream, opened := strings.CutPrefix(stream, "<")
	if !ok || !opened || stream != "stdout" && stream != "stderr" && stream != "stddiag" {
		return 0
	}
	number, host := s[1:end], ""
	if _, after, ok := strings.Cut(number, ","); ok {
		number, host, _ = strings.Cut(after, ",")
		number = strings.TrimPrefix(number, "mpirank:")
	}
	rank, err := strconv.Atoi(number)
	if err != nil || !allDigits(number) {
		return 0
	}
	p.Origin.Rank, p.Origin.RankFrom = &rank, "launcher's tag"
	p.Origin.Stream = stream
	if host != "" {
		p.Origin.Host = host
	}
	return end + 1 + len("<") + len(stream) + len(">:")
}

// TaskForm is how a launcher writes the task that printed a line in front of it.
type TaskForm int

const (
	// ColonTask is srun's: "3: ".
	ColonTask TaskForm = iota
	// BracketTask is Hydra's, the launcher of MPICH and of Intel MPI: "[3] ".
	BracketTask
	// HostTask is that of PALS on Cray systems: "x3102c0s1b0n0.hsn.example 3: ".
	HostTask
)

// readTaskIn reads a task's label in the form of the layout. The host is empty where
// the form does not name it.
func readTaskIn(form TaskForm, s string) (task, host string, n int) {
	switch form {
	case BracketTask:
		task, n = readBracket(s)
	case HostTask:
		task, host, n = readHostTask(s)
	default:
		task, n = readTask(s)
	}
	return task, host, n
}

// [2] [rank2]: Traceback (most recent call last):
// [2]
//
// "[0]:" is an entry of torchrun's failure table.
func readBracket(s string) (string, int) {
	_, n := numbered(s, "[", "]")
	if n == 0 || n < len(s) && s[n] != ' ' {
		return "", 0
	}
	return s[1 : n-1], n + blank(s[n:])
}

// x3102c0s1b0n0.hsn.cm.example.gov 84: Sat Mar  8 04:27:33 2025: [PE_84]:inet_recv:...
func readHostTask(s string) (task, host string, n int) {
	host, _, ok := strings.Cut(s, " ")
	if !ok || len(host) < 3 || len(host) > 80 || !strings.ContainsAny(host, "0123456789") || allDigits(host) || strings.Trim(host, hostBytes) != "" {
		return "", "", 0
	}
	_, n = numbered(s, host+" ", ":")
	if n == 0 || n < len(s) && s[n] != ' ' {
		return "", "", 0
	}
	return s[len(host)+1 : n-1], host, n + blank(s[n:])
}

const hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// brackets counts what bears out that "[3] " is Hydra's label and not an entry of a
// list, an epoch or a card:
//
//   - mpiexec -l -n 6 python -u train.py
//     [2] rank 2 of 6, local 2
//     [0] [rank0]: Traceback (most recent call last):
type brackets struct {
	first, proved bool
	own           map[string]bool // labels whose text names the same rank
}

// mpiLabels is a command that asks Hydra for labels.
var mpiLabels = regexp.MustCompile(`\bmpi(?:exec|run)(?:\.hydra)?\b.* -(?:l|prepend-rank)\b`)

func (b *brackets) look(text string) {
	label, n := readBracket(text)
	if n == 0 {
		b.proved = b.proved || strings.Contains(text, "mpi") && mpiLabels.MatchString(text)
		return
	}
	b.first = b.first || label == "0"
	rest := text[n:]
	if strings.HasPrefix(rest, "[rank"+label+"]:") || strings.HasPrefix(rest, "Traceback (most recent call last)") {
		b.proved = true
	}
	_, after, named := strings.Cut(rest, "rank "+label)
	if named && (after == "" || !isWordByte(after[0])) {
		b.own[label] = true
	}
}

// used reports whether the labels are ranks: the first rank prints in nearly every log.
func (b *brackets) used() bool { return b.first && (b.proved || len(b.own) > 1) }
