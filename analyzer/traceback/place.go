package traceback

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Place reads the line of a frame: what it states, and the bytes of the text that
// name the file and the line in it. part is what [Joiner.Add] said of the line; a
// frame that stands in another's message, as Ray prints them, counts as well.
//
//	  File "/app/train.py", line 88, in capture
//	File /usr/lib/python3/site-packages/torch/optim/adam.py:493, in Adam.step(self)
func Place(part Part, text string) (frame incident.Frame, start, end int, ok bool) {
	if strings.Contains(text, FrameMark) {
		if m := frameLine.FindStringSubmatchIndex(text); m != nil {
			frame, ok = parseFrame(text)
			return frame, m[2] - len(`File "`), m[5], ok
		}
	}
	if part != Frame {
		return frame, 0, 0, false
	}
	if m := notebookFrame.FindStringSubmatchIndex(text); m != nil {
		frame, ok = parseNotebookFrame(text)
		return frame, m[2], max(m[3], m[5]), ok
	}
	return frame, 0, 0, false
}
