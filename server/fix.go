package server

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/session"
)

// documentArgument is the one argument of commands on an open document.
type documentArgument struct {
	URI string `json:"uri"`
}

// fixCommand has the client make the edit that the code action of the same title
// makes. Its result is the client's answer.
func (s *Server) fixCommand(ctx context.Context, view *session.View, arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	d, err := openLog(CommandFix, view, arguments)
	switch {
	case err != nil:
		return nil, err
	case !view.Client.AppliesEdits:
		return nil, errors.New("this editor makes no edits that a server asks for: use the code action")
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	action := s.fixAction(view, d, analysis)
	if action == nil {
		return nil, errors.New("there is nothing to edit: the failure has no edit, or the Python file that the traceback names is not there")
	}
	if action, err = s.resolveCodeAction(ctx, view, action); err != nil {
		return nil, err
	}
	result, err := s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: &action.Title, Edit: *action.Edit})
	if err != nil {
		return nil, fmt.Errorf("the editor did not make the edit: %w", err)
	}
	if result == nil {
		return protocol.LSPAny("null"), nil
	}
	return protocol.Marshal(result)
}

// openLog is the document that a command is about, which must be open as a log.
func openLog(command string, view *session.View, arguments []protocol.LSPAny) (*session.Snapshot, error) {
	a, err := argument[documentArgument](command, arguments, "the uri of an open log")
	if err != nil {
		return nil, err
	}
	key, err := canonical(a.URI)
	if err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "bad argument of %s: %v", command, err)
	}
	d := view.Document(key)
	if d == nil || !d.Watched() {
		return nil, fmt.Errorf("%s is not open as a log", a.URI)
	}
	return d, nil
}
