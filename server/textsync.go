package server

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// The params of text synchronisation are decoded into types of ours. Those of the
// protocol module rewrite URIs, which must go back as the client spelled them,
// and take a change with a bad range for a replacement of the whole document.

type openParams struct {
	TextDocument struct {
		URI        string  `json:"uri"`
		LanguageID string  `json:"languageId"`
		Version    int32   `json:"version"`
		Text       *string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int32  `json:"version"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
}

type change struct {
	Range       protocol.LSPAny `json:"range"`
	RangeLength *uint32         `json:"rangeLength"`
	Text        *string         `json:"text"`
}

type closeParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
}

func canonical(spelled string) (uri.URI, error) {
	if spelled == "" {
		return "", errors.New("a document without a URI")
	}
	return uri.Parse(spelled)
}

func (s *Server) didOpen(p *openParams) error {
	key, err := canonical(p.TextDocument.URI)
	if err != nil {
		return err
	}
	if p.TextDocument.Text == nil {
		return errors.New("a document without a text")
	}
	view := s.store.View()
	if old := view.Document(key); old != nil {
		s.log.Warn("opened twice without a close", zap.Stringer("uri", key))
		s.forget(old)
	}
	d := &session.Snapshot{
		URI: uri.URI(p.TextDocument.URI), Key: key,
		Language: p.TextDocument.LanguageID, Version: p.TextDocument.Version,
		Text: position.New([]byte(*p.TextDocument.Text), view.Client.Convention),
	}
	s.store.Put(d)
	s.opened(key)
	s.logTooLarge(d)
	s.diagnose(d, false)
	return nil
}

// didChangeRaw applies the changes of one message. When one of them cannot be
// read, the client's text is not known any more.
func (s *Server) didChangeRaw(_ context.Context, _ *session.View, raw []byte) (any, error) {
	var p changeParams
	bad := protocol.Unmarshal(raw, &p)
	if bad != nil {
		bad = paramsError{bad}
		var where closeParams // at least which document it was
		if err := protocol.Unmarshal(raw, &where); err != nil {
			return nil, bad
		}
		p.TextDocument.URI = where.TextDocument.URI
	}
	key, err := canonical(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	view := s.store.View()
	old := view.Document(key)
	if old == nil {
		return nil, fmt.Errorf("change of %s, which is not open", key)
	}
	d := old.Next(p.TextDocument.Version, old.Text)
	if bad == nil {
		bad = apply(d, p.ContentChanges, view.Client.Convention)
	}
	if bad != nil {
		d.Text, d.Broken = old.Text, true
	}
	s.store.Put(d)
	if old.Watched() && !d.Watched() && !d.Broken { // it has grown too large
		s.clear(d)
		s.logTooLarge(d)
	}
	if bad != nil && !old.Broken {
		s.outbox.show(protocol.MessageTypeWarning, fmt.Sprintf(
			"graphtrap lost track of %s: the editor sent a change that cannot be read (%v). Close and reopen the document to have it diagnosed again.",
			displayName(view, d), bad))
	}
	s.diagnose(d, true)
	return nil, bad
}

// apply makes d's text the one after the changes. They are checked first, so that
// a message is applied whole or not at all.
func apply(d *session.Snapshot, changes []change, c position.Convention) error {
	ranges := make([]*protocol.Range, len(changes))
	for i, change := range changes {
		r, err := change.span()
		if err != nil {
			return fmt.Errorf("contentChanges[%d] %w", i, err)
		}
		ranges[i] = r
	}
	for i, change := range changes {
		text := []byte(*change.Text)
		r := ranges[i]
		if r == nil {
			d.Text, d.Broken = position.New(text, c), false
			continue
		}
		if d.Broken {
			continue // until the whole text is sent
		}
		d.Text = d.Text.Replace(d.Text.Offset(r.Start), d.Text.Offset(r.End), text)
	}
	return nil
}

// span is what a change replaces; nil stands for the whole text.
func (c change) span() (*protocol.Range, error) {
	type point struct {
		Line      *uint32 `json:"line"`
		Character *uint32 `json:"character"`
	}
	if c.Text == nil {
		return nil, errors.New("has no text")
	}
	if len(c.Range) == 0 {
		if c.RangeLength != nil {
			return nil, errors.New("has a length but no range")
		}
		return nil, nil
	}
	var r struct {
		Start *point `json:"start"`
		End   *point `json:"end"`
	}
	if err := protocol.Unmarshal(c.Range, &r); err != nil {
		return nil, fmt.Errorf("has a bad range: %w", err)
	}
	for _, p := range []*point{r.Start, r.End} {
		if p == nil || p.Line == nil || p.Character == nil {
			return nil, errors.New("has half a range")
		}
	}
	start := protocol.Position{Line: *r.Start.Line, Character: *r.Start.Character}
	end := protocol.Position{Line: *r.End.Line, Character: *r.End.Character}
	if end.Line < start.Line || end.Line == start.Line && end.Character < start.Character {
		return nil, errors.New("has a range that ends before it starts")
	}
	return &protocol.Range{Start: start, End: end}, nil
}

func (s *Server) didClose(p *closeParams) error {
	key, err := canonical(p.TextDocument.URI)
	if err != nil {
		return err
	}
	d := s.store.View().Document(key)
	if d == nil {
		return fmt.Errorf("close of %s, which is not open", key)
	}
	s.store.Remove(key)
	s.forget(d)
	return nil
}
