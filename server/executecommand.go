package server

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/session"
)

// The commands of workspace/executeCommand.
const (
	// CommandDiagnose reads a text, a selection, a file or a folder and returns its
	// report.
	CommandDiagnose = "graphtrap.diagnose"
	// CommandExplain returns what the signatures hold of a failure or a message.
	CommandExplain = "graphtrap.explain"
	// CommandReport returns the report of a document, to be shown as a document.
	CommandReport = "graphtrap.report"
	// CommandOpenReport shows the report of a document, in an editor that can be told
	// to open one, else its answer in a few lines.
	CommandOpenReport = "graphtrap.openReport"
	// CommandFix has the editor make the edit that mends the failure.
	CommandFix = "graphtrap.fix"
	// CommandDebugInfo returns what a bug report needs, without text of documents.
	CommandDebugInfo = "graphtrap.debugInfo"
	// CommandCopyText is for the client, which has a clipboard; see copyText.
	CommandCopyText = "graphtrap.copyText"
)

// commandNames are all commands, as initialize tells them.
func commandNames() []string {
	return []string{CommandDiagnose, CommandCopyText, CommandExplain, CommandReport, CommandOpenReport, CommandFix, CommandDebugInfo}
}

func (s *Server) executeCommand(ctx context.Context, view *session.View, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	switch p.Command {
	case CommandDiagnose:
		return s.diagnoseCommand(ctx, view, p)
	case CommandExplain:
		return s.explainCommand(view, p.Arguments)
	case CommandReport:
		return s.reportCommand(ctx, view, p)
	case CommandOpenReport:
		return s.openReport(ctx, view, p.Arguments)
	case CommandFix:
		return s.fixCommand(ctx, view, p.Arguments)
	case CommandDebugInfo:
		return s.debugInfoCommand(view)
	case CommandCopyText:
		return s.copyText(p.Arguments)
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "unknown command: %s", p.Command)
}

// argument decodes the one argument of a command, an object that what describes.
func argument[T any](command string, arguments []protocol.LSPAny, what string) (*T, error) {
	var a T
	if len(arguments) != 1 {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument, an object with %s", command, what)
	}
	if err := json.Unmarshal(arguments[0], &a); err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "bad argument of %s: %v", command, err)
	}
	return &a, nil
}

// copyText shows the text to the user. Clients with a clipboard serve the command
// themselves and never send it.
func (s *Server) copyText(arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	var text string
	if len(arguments) != 1 || json.Unmarshal(arguments[0], &text) != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument, a text", CommandCopyText)
	}
	s.outbox.show(protocol.MessageTypeInfo, text)
	return protocol.LSPAny("null"), nil
}
