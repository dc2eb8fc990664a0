package line

import (
	"bytes"
	"strings"
)

// Layout says which ambiguous prefixes a file uses. "3: " starts a line of
// `srun --label`, "node-3: " one of pdsh and "trainer-7 pytorch " one of stern, but
// all of them start many an innocent line as well: they count as prefixes only in
// files where most lines have them.
type Layout struct {
	// TaskLabel: "3: ", the scheduler's task, which is the rank.
	TaskLabel bool
	// NodeLabel: "3: " as well, but a task is a node with several ranks: torchrun
	// runs once for each, and its workers name other ranks behind the label.
	NodeLabel bool
	// TaskForm is how these two are written.
	TaskForm TaskForm
	// HostLabel: "node-3: ", the host.
	HostLabel bool
	// PodLabel: "trainer-worker-3 pytorch ", the pod and the container.
	PodLabel bool
	// Width is where a window cut all longer lines, in characters; 0 where none did.
	Width int
	// Words: it cut them in front of the blank before the word that went beyond Width.
	Words bool
}

const (
	// DetectBytes is how much of a file's start its layout is told from.
	DetectBytes = 256 << 10
	// labelShare is the share of the lines that must have a label, with two
	// different values at least. The rest are the launcher's own lines.
	labelShare = 0.5
	// onePodLines and onePodShare are for the log of a single pod, whose label has
	// one value: then nearly all of many lines must have it.
	onePodLines = 20
	onePodShare = 0.95
)

// Detect tells the layout of a file from its first bytes.
func Detect(head []byte) Layout {
	if len(head) > DetectBytes {
		head = head[:DetectBytes]
	}
	lines := 0
	counts := map[string]int{}
	values := map[string]map[string]bool{"task": {}, "bracket": {}, "host task": {}, "host": {}, "pod": {}}
	nodes := map[string]bool{} // kinds of task labels that name nodes
	hydra := brackets{own: map[string]bool{}}
	for raw := range bytes.Lines(head) {
		raw = bytes.TrimRight(raw, "\r\n")
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		lines++
		text, _ := strip(raw[:min(len(raw), 256)], 0)
		hydra.look(text)
		for kind, read := range labelKinds {
			if value, n := read(text); n > 0 {
				counts[kind]++
				values[kind][value] = true
				nodes[kind] = nodes[kind] || kind != "host" && kind != "pod" && namesAnother(value, text[n:])
			}
		}
	}
	uses := func(kind string) bool {
		share := float64(counts[kind]) / float64(max(lines, 1))
		if kind == "pod" && len(values[kind]) == 1 && lines >= onePodLines {
			return share >= onePodShare
		}
		return len(values[kind]) > 1 && share >= labelShare
	}
	layout := Layout{HostLabel: uses("host"), PodLabel: uses("pod")}
	for form, kind := range []string{ColonTask: "task", BracketTask: "bracket", HostTask: "host task"} {
		if uses(kind) && (kind != "bracket" || hydra.used()) {
			layout.TaskLabel, layout.NodeLabel, layout.TaskForm = !nodes[kind], nodes[kind], TaskForm(form)
			break
		}
	}
	layout.Width = cutWidth(head)
	if layout.Width == 0 {
		layout.Width = wordWidth(head)
		layout.Words = layout.Width > 0
	}
	return layout
}

// labelKinds are the labels by what they are.
var labelKinds = map[string]func(string) (string, int){
	"task": readTask, "bracket": readBracket, "host task": func(s string) (string, int) {
		task, _, n := readHostTask(s)
		return task, n
	}, "host": readHost, "pod": readPod,
}

// namesAnother reports whether what follows a task's label says that the task is
// not the rank: torch's own prefix has another one, or torchrun's a local one.
func namesAnother(task, rest string) bool {
	if strings.HasPrefix(rest, "[default") {
		return true
	}
	rank, n := numbered(rest, "[rank", "]:")
	return n > 0 && rank != decimal(task)
}

func decimal(digits string) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// labels peels the labels that the layout allows.
func labels(p *Piece, layout Layout) {
	if layout.TaskLabel || layout.NodeLabel {
		if task, host, n := readTaskIn(layout.TaskForm, p.Text); n > 0 {
			switch {
			case layout.NodeLabel:
				p.Origin.Host = "task " + task
			default:
				rank := decimal(task)
				p.Origin.Rank, p.Origin.RankFrom = &rank, "scheduler's task label"
			}
			if host != "" {
				p.Origin.Host = host
			}
			p.cut(n)
		}
	}
	if layout.HostLabel {
		if value, n := readHost(p.Text); n > 0 {
			p.Origin.Host = value
			p.cut(n)
		}
	}
	if layout.PodLabel {
		if value, n := readPod(p.Text); n > 0 {
			p.Origin.Host = value
			p.cut(n)
		}
	}
}

// 3: [rank3]: Traceback ...
//
//	12: ncclRemoteError: ...
func readTask(s string) (string, int) {
	i := 0
	for i < len(s) && s[i] == ' ' {
		i++
	}
	_, j := numbered(s, s[:i], ":")
	if j == 0 || j-i > 6 || j < len(s) && s[j] != ' ' {
		return "", 0
	}
	return s[i : j-1], j + blank(s[j:])
}

// gpu-node-3: step 10 loss 6.9
func readHost(s string) (string, int) {
	i := 0
	digit := false // or a dash in a lower-case name, as in cw-a
	for i < len(s) && (isWordByte(s[i]) || s[i] == '-' || s[i] == '.') {
		digit = digit || isDigit(s[i])
		i++
	}
	digit = digit || i <= 20 && lowerName(s[:i]) && strings.Contains(s[:i], "-")
	if i < 2 || i > 64 || !digit || !strings.HasPrefix(s[i:], ": ") || allDigits(s[:i]) {
		return "", 0
	}
	return s[:i], i + 2
}

// trainer-worker-3 pytorch step 10 loss 6.9
func readPod(s string) (string, int) {
	pod, rest, ok := strings.Cut(s, " ")
	if !ok || len(pod) < 4 || len(pod) > 80 || !lowerName(pod) || !strings.Contains(pod, "-") || !strings.ContainsAny(pod, "0123456789") {
		return "", 0
	}
	container, _, ok := strings.Cut(rest, " ")
	if !ok || len(container) < 2 || len(container) > 40 || !lowerName(container) || container[0] < 'a' {
		return "", 0
	}
	return pod, len(pod) + 1 + len(container) + 1
}

// lowerName: lower-case letters, digits and dashes, as Kubernetes names are.
func lowerName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '-' && !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
