package server

import (
	"bytes"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// codec encodes results and params with the protocol module, whose own codec is
// not exported.
type codec struct{}

// Marshal implements [jsonrpc2.Codec].
func (codec) Marshal(v any) ([]byte, error) {
	if m, ok := v.(jsonrpc2.RawMessage); ok {
		if m == nil {
			return []byte("null"), nil
		}
		return m, nil
	}
	return protocol.Marshal(v)
}

// Unmarshal implements [jsonrpc2.Codec].
func (codec) Unmarshal(b []byte, v any) error {
	if p, ok := v.(*jsonrpc2.RawMessage); ok {
		*p = bytes.Clone(b)
		return nil
	}
	return protocol.Unmarshal(b, v)
}
