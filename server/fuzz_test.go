package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/graphtrap/graphtrap/server"
)

// FuzzSession feeds the server whatever messages a client might send, one on each
// line of the input, after a good start: it must neither panic nor stay when the
// input ends.
func FuzzSession(f *testing.F) {
	const start = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a.log","languageId":"log","version":1,"text":"a\r\nrank1 INITIATOR\rrank2 COLLATERAL é😀"}}}
`
	f.Add([]byte(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"x:/a.log","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":1},"end":{"line":9,"character":0}},"text":"\n"}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"x:/a.log"},"position":{"line":1,"character":4294967295}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"x:/a.log"},"range":{"start":{"line":1,"character":0},"end":{"line":0,"character":0}},"context":{"diagnostics":[]}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand","params":{"command":"graphtrap.diagnose","arguments":[{"uri":"x:/a.log","range":{"start":{"line":1,"character":3},"end":{"line":0,"character":0}},"format":"text"}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"codeAction/resolve","params":{"title":"","data":{"log":"x:/a.log"}}}
{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}
{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"x:/a.log"}}}
{"jsonrpc":"2.0","id":2,"method":"shutdown"}
{"jsonrpc":"2.0","method":"exit"}`))
	f.Fuzz(func(t *testing.T, messages []byte) {
		var input bytes.Buffer
		for body := range bytes.SplitSeq(append([]byte(start), messages...), []byte("\n")) {
			fmt.Fprintf(&input, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		core, logs := observer.New(zap.ErrorLevel)
		srv := server.New(server.Config{Analyze: fakeAnalysis, Log: zap.New(core), Debounce: time.Nanosecond})
		srv.Serve(context.Background(), &input, io.Discard)
		for _, entry := range logs.FilterMessage("panic").All() {
			t.Fatalf("panic in %v: %v\n%s", entry.ContextMap()["in"], entry.ContextMap()["kind"], entry.ContextMap()["stack"])
		}
	})
}
