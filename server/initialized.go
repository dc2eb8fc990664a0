package server

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
)

// registrationJob is the scheduler's key of what is registered once.
const registrationJob uri.URI = "graphtrap:registration"

// initialized begins what the server does unasked: its log goes to the client, the
// settings are read, and it registers for being told of their changes. Some clients
// send odd params, so they are not looked at.
func (s *Server) initialized(context.Context, *session.View, []byte) (any, error) {
	s.clientLog.start()
	s.readSettings()
	if s.store.View().Client.RegistersConfiguration {
		s.scheduler.schedule(s.base, registrationJob, false, s.registerConfiguration)
	}
	return nil, nil
}

// registerConfiguration asks to be told when the settings change.
func (s *Server) registerConfiguration(ctx context.Context) {
	options, err := json.Marshal(map[string]string{"section": settings.Section})
	if err == nil {
		err = s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: "graphtrap/settings", Method: protocol.MethodWorkspaceDidChangeConfiguration, RegisterOptions: options,
		}}})
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("the client does not tell of changed settings", zap.Error(err))
	}
}
