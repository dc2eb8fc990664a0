package line

import (
	"bytes"
	"strings"
)

// strip takes terminal control sequences and NUL bytes out of a segment that
// starts at raw column base. It knows CSI (colours, cursor), OSC (titles, links,
// shell integration), DCS and the two-byte escapes, and it leaves the bytes
// behind a sequence that is cut off by the end of the line out as well.
func strip(raw []byte, base int) (string, columnMap) {
	m := columnMap{runs: []run{{0, base, false}}}
	if bytes.IndexByte(raw, 0x1b) < 0 && bytes.IndexByte(raw, 0) < 0 && bytes.IndexByte(raw, 0x08) < 0 {
		return string(raw), m
	}
	text := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := control(raw[i:])
		if n == 0 {
			text = append(text, raw[i])
			i++
			continue
		}
		i += n
		m.runs = append(m.runs, run{len(text), base + i, true})
	}
	return string(text), m
}

// stripAgain strips a text that was decoded from a segment and maps back to it.
func stripAgain(text string, outer columnMap) (string, columnMap) {
	if strings.IndexByte(text, 0x1b) < 0 {
		return text, outer
	}
	clean, inner := strip([]byte(text), 0)
	return clean, inner.over(outer)
}

// control returns the length of the control sequence at the start of b, 0 if
// there is none.
func control(b []byte) int {
	switch b[0] {
	case 0, 0x08:
		return 1
	case 0x1b:
	default:
		return 0
	}
	if len(b) == 1 {
		return 1
	}
	switch b[1] {
	case '[': // CSI: parameters 0x30-0x3f, intermediates 0x20-0x2f, a final byte
		i := 2
		for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
			i++
		}
		if i < len(b) && b[i] >= 0x40 && b[i] <= 0x7e {
			i++
		}
		return i
	case ']', 'P', '^', '_': // OSC, DCS, PM, APC: up to BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(b)
	}
	return 2
}
