package traceback

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Header is the text that starts a traceback, wherever it stands in a line:
// "Scheduler hit an exception: Traceback (most recent call last):".
const Header = "Traceback (most recent call last)"

// FrameMark stands in every frame line, so that frames are found in logs that
// start within a traceback.
const FrameMark = `", line `

var (
	// File "/app/train.py", line 88, in capture
	frameLine = regexp.MustCompile(`^\s*(?:> )?(?:\|\s*)*File "([^"]+)", line (\d+)(?:, in (.+?))?\s*$`)
	// /usr/lib/python3/site-packages/torch/optim/adam.py in step(self, closure)
	// File /usr/lib/python3/site-packages/torch/optim/adam.py:493, in Adam.step(self)
	notebookFrame = regexp.MustCompile(`^(?:File )?(/?[\w./<>-]+\.py)(?::(\d+))?(?:,)? in (.+)$`)
	// ---> 15         scaler.step(optimizer)
	arrowLine = regexp.MustCompile(`^-+> *(\d+) (.*)$`)
	// torch.OutOfMemoryError: CUDA out of memory. ...
	// ray.exceptions.RayTaskError(ValueError): ...
	// AssertionError
	exceptionLine = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\([\w.]+\))?(?::(?: .*)?|)$`)
	exceptionName = regexp.MustCompile(`(?:Error|Exception|Interrupt|Exit|Iteration|Timeout|Failure|Failed|Fault|Warning|Abort|Group|Killed|OutOfMemory|Died|Dead|Cancelled)\w*$`)
	// struct.error: unpack_from requires a buffer of at least 24 bytes ...
	// socket.gaierror: [Errno -2] Name or service not known
	oldName      = regexp.MustCompile(`\.(?:error|timeout|gaierror|herror)$`)
	caretLine    = regexp.MustCompile(`^[\s|]*[~^]+\s*$|^\s*\.\.\.<\d+ lines>\.\.\.\s*$|^\s*\[Previous line repeated \d+ more times?\]\s*$`)
	rule         = regexp.MustCompile(`^(?:={20,}|-{20,}|\*{20,})$`)
	notebookCode = regexp.MustCompile(`^\s*\d+ ?(.*)$`)
)

func parseFrame(text string) (incident.Frame, bool) {
	if !strings.Contains(text, FrameMark) {
		return incident.Frame{}, false
	}
	m := frameLine.FindStringSubmatch(text)
	if m == nil {
		return incident.Frame{}, false
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return incident.Frame{}, false
	}
	return incident.Frame{Path: m[1], Line: n, Function: m[3]}, true
}

func parseNotebookFrame(text string) (incident.Frame, bool) {
	m := notebookFrame.FindStringSubmatch(text)
	if m == nil {
		return incident.Frame{}, false
	}
	return incident.Frame{Path: m[1], Line: lineNumber(m[2]), Function: m[3]}, true
}

// lineNumber reads a line number; 0 stands for none, as older notebooks print it in
// the arrow only, and for one that no file has.
func lineNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// exception returns the name at the start of a line that states an exception,
// or "". A bare name counts only if it is named like an exception.
func exception(text string) string {
	m := exceptionLine.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	name := m[1]
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "Failures": // the head of torchrun's table
		return ""
	case exceptionName.MatchString(last):
		return name
	case strings.Contains(name, ".") && last[0] >= 'A' && last[0] <= 'Z', oldName.MatchString(name):
		return name
	}
	return ""
}

func link(text string) Link {
	switch {
	case strings.Contains(text, "was the direct cause of the following exception"):
		return Direct
	case strings.Contains(text, "During handling of the above exception, another exception occurred"):
		return During
	}
	return First
}
