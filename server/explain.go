package server

import (
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/session"
)

// explainArguments is the one argument of [CommandExplain].
type explainArguments struct {
	// ID is the id of a failure or a message.
	ID string `json:"id"`
	// URI, if given, is the document whose signature folder counts.
	URI string `json:"uri"`
}

// explained is the answer of [CommandExplain].
type explained struct {
	ID string `json:"id"`
	// Kind is "failure" or "message".
	Kind     string `json:"kind"`
	Markdown string `json:"markdown"`
}

func (s *Server) explainCommand(view *session.View, arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	a, err := argument[explainArguments](CommandExplain, arguments, "id")
	if err != nil {
		return nil, err
	}
	var key uri.URI
	if a.URI != "" {
		if key, err = canonical(a.URI); err != nil {
			return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
		}
	}
	set, _, err := s.knowledge.with(view.Settings(key).SignatureFolder)
	if set == nil {
		return nil, err
	}
	e, err := render.Explain(set, a.ID)
	if err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	return json.Marshal(explained{e.ID, e.Kind, e.Markdown})
}
