package server

import (
	"slices"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
)

// logTooLarge says why a log is not diagnosed by itself, if it is for its size.
func (s *Server) logTooLarge(d *session.Snapshot) {
	if int64(d.Text.Len()) > d.Settings.MaxDocumentBytes && session.LikenessOf(d.Language, d.Key) != session.NotALog && !d.Asked {
		s.log.Info("a document is larger than graphtrap.maxDocumentBytes: it is diagnosed when the user asks", zap.Stringer("uri", d.Key),
			zap.Int("bytes", d.Text.Len()), zap.Int64("bound", d.Settings.MaxDocumentBytes))
	}
}

// shown is what the user's settings let be shown of a report.
type shown struct {
	settings *settings.Settings
	// messages are the ids of the messages on each line that has one, by its offset;
	// nil if nothing is suppressed.
	messages map[int64][]string
}

func newShown(with *settings.Settings, r *incident.Report) shown {
	s := shown{settings: with}
	if len(with.Suppressions) > 0 {
		s.messages = map[int64][]string{}
		for _, e := range r.Events {
			s.messages[e.Location.Offset] = append(s.messages[e.Location.Offset], e.Message)
		}
	}
	return s
}

// suppressed reports whether the user wants no diagnostic with this code at this
// mark.
func (s shown) suppressed(m mark, code string) bool {
	return slices.ContainsFunc(s.settings.Suppressions, func(id string) bool {
		return id == code || slices.Contains(s.messages[m.offset], id)
	})
}

// collateral is the severity of a line that only suffered, and whether it is shown.
func (s shown) collateral(c *incident.Collateral) (protocol.DiagnosticSeverity, bool) {
	switch {
	case s.settings.CollateralSeverity != 0:
		return s.settings.CollateralSeverity, true
	case s.ofInterest(c):
		return protocol.DiagnosticSeverityHint, true
	}
	return 0, false
}

// ofInterest reports whether it is of the rank that the user wants to see.
func (s shown) ofInterest(c *incident.Collateral) bool {
	rank := s.settings.RankOfInterest
	return rank != nil && c != nil && c.Rank != nil && *c.Rank == *rank
}

// inOrder puts the marks of the rank of interest in front of the others.
func (s shown) inOrder(others []mark) []mark {
	if s.settings.RankOfInterest == nil {
		return others
	}
	others = slices.Clone(others)
	slices.SortStableFunc(others, func(a, b mark) int {
		switch x, y := s.ofInterest(a.collateral), s.ofInterest(b.collateral); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return others
}
