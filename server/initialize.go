package server

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/parent"
	"github.com/graphtrap/graphtrap/server/session"
)

// initializeRaw decodes the params. One capability of a wrong type must not keep a
// client out: it counts as one that the client lacks.
func (s *Server) initializeRaw(_ context.Context, _ *session.View, raw []byte) (any, error) {
	var p protocol.InitializeParams
	err := protocol.Unmarshal(raw, &p)
	if err != nil {
		s.log.Warn("initialize has params that cannot be read", zap.Error(err))
		p = protocol.InitializeParams{}
		err = protocol.Unmarshal(withoutBadCapabilities(raw), &p)
	}
	if err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "invalid params: %v", err)
	}
	var spelled struct {
		WorkspaceFolders []spelledFolder `json:"workspaceFolders"`
	}
	if protocol.Unmarshal(raw, &spelled) == nil {
		s.spellFolders(spelled.WorkspaceFolders)
	}
	return s.initialize(&p), nil
}

// withoutBadCapabilities leaves out each capability that cannot be decoded by
// itself. What is no object at all stays as it is.
func withoutBadCapabilities(raw []byte) []byte {
	type fields = map[string]json.RawMessage
	var params, sections fields
	if json.Unmarshal(raw, &params) != nil || json.Unmarshal(params["capabilities"], &sections) != nil {
		return raw
	}
	for section, value := range sections {
		var members fields
		if json.Unmarshal(value, &members) != nil {
			delete(sections, section)
			continue
		}
		for member, value := range members {
			alone, err := json.Marshal(map[string]fields{section: {member: value}})
			if err != nil || protocol.Unmarshal(alone, &protocol.ClientCapabilities{}) != nil {
				delete(members, member)
			}
		}
		sections[section], _ = json.Marshal(members) // raw JSON of ours cannot fail
	}
	params["capabilities"], _ = json.Marshal(sections)
	good, err := json.Marshal(params)
	if err != nil {
		return raw
	}
	return good
}

func (s *Server) initialize(p *protocol.InitializeParams) *protocol.InitializeResult {
	client := session.NewClient(p)
	s.store.Start(client, folders(p))
	s.startConfiguration(p.InitializationOptions, client)
	s.traceFrom(p.Trace)
	s.phase.Store(phaseRunning)
	if p.ProcessID != nil && !s.watchParent(int(*p.ProcessID)) {
		s.log.Info("the client's process cannot be seen from here; it is not watched", zap.Int32("pid", *p.ProcessID))
	}
	name, _ := p.ClientInfo.Version.Get()
	s.log.Info("initialize", zap.String("client", p.ClientInfo.Name), zap.String("client version", name),
		zap.String("encoding", string(client.Convention.Encoding)))

	sync := protocol.TextDocumentSyncKindIncremental
	return &protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "graphtrap", Version: protocol.NewOptional(s.config.Version)},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding:   client.Convention.Encoding,
			TextDocumentSync:   &protocol.TextDocumentSyncOptions{OpenClose: ptr(true), Change: &sync},
			HoverProvider:      protocol.Boolean(true),
			DiagnosticProvider: diagnosticProvider(client),

			CodeLensProvider:          &protocol.CodeLensOptions{},
			DefinitionProvider:        protocol.Boolean(true),
			ReferencesProvider:        protocol.Boolean(true),
			DocumentHighlightProvider: protocol.Boolean(true),
			DocumentLinkProvider:      &protocol.DocumentLinkOptions{},
			DocumentSymbolProvider:    symbolProvider(client),
			FoldingRangeProvider:      protocol.Boolean(true),
			WorkspaceSymbolProvider:   protocol.Boolean(true),

			CodeActionProvider: &protocol.CodeActionOptions{
				CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix},
				ResolveProvider: ptr(true),
			},
			InlayHintProvider:      inlayHintProvider(client),
			SemanticTokensProvider: semanticTokensProvider(client),
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{
				WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: ptr(true)}, Commands: commandNames(),
			},
			Workspace: &protocol.WorkspaceOptions{
				WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
					Supported: ptr(true), ChangeNotifications: protocol.Boolean(true),
				},
				TextDocumentContent: contentProvider(client),
			},
		},
	}
}

// folders are the workspace's roots: the newest of the three ways to say them.
func folders(p *protocol.InitializeParams) []uri.URI {
	var roots []uri.URI
	if list, ok := p.WorkspaceFolders.Get(); ok {
		for _, f := range list {
			roots = append(roots, f.URI)
		}
		return roots
	}
	if p.RootURI != nil && !p.RootURI.IsZero() {
		return append(roots, *p.RootURI)
	}
	if path, ok := p.RootPath.Get(); ok && path != "" {
		return append(roots, uri.File(path))
	}
	return nil
}

type foldersParams struct {
	Event struct {
		Added   []spelledFolder `json:"added"`
		Removed []spelledFolder `json:"removed"`
	} `json:"event"`
}

// spelledFolder is a workspace folder as the client spells it.
type spelledFolder struct {
	URI string `json:"uri"`
}

func (s *Server) didChangeWorkspaceFolders(p *foldersParams) error {
	of := func(list []spelledFolder) []uri.URI {
		var roots []uri.URI
		for _, f := range list {
			if key, err := canonical(f.URI); err == nil {
				roots = append(roots, key)
			}
		}
		return roots
	}
	s.spellFolders(p.Event.Added)
	s.store.ChangeFolders(of(p.Event.Added), of(p.Event.Removed))
	s.readSettings()
	return nil
}

// watchParent ends the session when a process does, even if another one holds its
// end of the pipe open. It returns false if there is no such process: a client in
// another container names one that cannot be seen from here.
func (s *Server) watchParent(pid int) bool {
	return parent.Watch(s.base, pid, func() {
		s.log.Warn("the client's process is gone", zap.Int("pid", pid))
		s.stop(1)
	})
}

func ptr[T any](v T) *T { return &v }
