package pysource

// Change replaces the bytes from Offset to EndOffset. All changes of this
// package are insertions: EndOffset is Offset.
type Change struct {
	Offset, EndOffset int
	NewText           string
}

// Edit lets the captures of one loop share one pool.
type Edit struct {
	// Changes are in ascending order and do not overlap.
	Changes []Change
	// Site is the capture that was asked for. Others in its loop are changed too.
	Site Site
	// LoopLine is the line of the loop before which the handle is made, and
	// SiteLine the line of the capture; both from 1, before the edit.
	LoopLine, SiteLine int
	// Variable is the name of the handle.
	Variable string
}

// Apply returns src with the changes made.
func (e Edit) Apply(src []byte) []byte {
	size := len(src)
	for _, c := range e.Changes {
		size += len(c.NewText)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, c := range e.Changes {
		out = append(out, src[done:c.Offset]...)
		out = append(out, c.NewText...)
		done = c.EndOffset
	}
	return append(out, src[done:]...)
}
