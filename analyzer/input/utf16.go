package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
)

// maxUTF16 bounds a UTF-16 log, in bytes: it is turned into UTF-8 in memory.
const maxUTF16 = 256 << 20

// fromUTF16 gives the UTF-8 text of a file that starts with a UTF-16 byte order
// mark, as PowerShell's > writes it. Offsets and columns in the report are those of
// the UTF-8 text.
func fromUTF16(f File) (File, error) {
	head := make([]byte, 2)
	if n, err := f.Data.ReadAt(head, 0); n < 2 || err != nil && err != io.EOF {
		return f, nil
	}
	var order binary.ByteOrder
	switch {
	case bytes.Equal(head, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.Equal(head, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return f, nil
	}
	if f.Size > maxUTF16 {
		return File{}, fmt.Errorf("it is UTF-16 and longer than %d bytes: turn it into UTF-8 first, iconv -f UTF-16 -t UTF-8", maxUTF16)
	}
	raw := make([]byte, f.Size-2)
	n, err := f.Data.ReadAt(raw, 2)
	if n < len(raw) && err != nil && err != io.EOF {
		return File{}, err
	}
	units := make([]uint16, n/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	text := []byte(string(utf16.Decode(units)))
	f.Data, f.Size = bytes.NewReader(text), int64(len(text))
	return f, nil
}
