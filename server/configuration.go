package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
)

const (
	// settingsPatience is how long documents wait for the settings of a client that
	// is asked for them.
	settingsPatience = time.Second
	// maxProblems bounds the wrong keys that one message names.
	maxProblems = 20
	// maxFolderSettings bounds the workspace folders that have settings of their own.
	maxFolderSettings = 100
	// settingsJob is the scheduler's key of reading the settings.
	settingsJob uri.URI = "graphtrap:settings"
)

// configuration is what the client said of the user's settings, in layers: those
// of initialize, over them what it pushed, over them what it answered when asked.
type configuration struct {
	mu              sync.Mutex // guards what follows; never held for long
	initial, pushed json.RawMessage
	pulled          map[uri.URI]json.RawMessage // by folder; "" is everywhere
	// spelled are the folders' URIs as the client spells them.
	spelled map[uri.URI]uri.URI
	// read counts the readings of signature folders.
	read int

	// applying is held while settings are applied, so that the newest are the last.
	applying sync.Mutex
	// told is the last message about wrong keys, which is not repeated.
	told string
}

// startConfiguration takes the settings that came with initialize. The signature
// folder is not read yet: this runs on the goroutine that reads.
func (s *Server) startConfiguration(options protocol.LSPAny, client session.Client) {
	c := &s.configuration
	c.mu.Lock()
	defer c.mu.Unlock()
	c.initial = bytes.Clone(options)
	if section := settings.Member(c.initial); section != nil {
		c.initial = section
	}
	scopes, _ := c.scopes(s.store.View().Folders)
	s.store.Configure(scopes)
	if client.Configuration {
		s.settingsAwaited.Store(true)
		time.AfterFunc(settingsPatience, s.settingsArrived)
	}
}

// spellFolders remembers how the client spells its workspace folders.
func (s *Server) spellFolders(spelled []spelledFolder) {
	c := &s.configuration
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spelled == nil {
		c.spelled = map[uri.URI]uri.URI{}
	}
	for _, f := range spelled {
		if key, err := canonical(f.URI); err == nil && len(c.spelled) < maxFolderSettings {
			c.spelled[key] = uri.URI(strings.Clone(f.URI))
		}
	}
}

// settingsArrived lets documents be analysed that waited for the settings.
func (s *Server) settingsArrived() {
	if !s.settingsAwaited.Swap(false) {
		return
	}
	for _, d := range s.store.View().Documents() {
		s.diagnose(d, false)
	}
}

type configurationParams struct {
	Settings protocol.LSPAny `json:"settings"`
}

// didChangeConfiguration takes settings that are pushed, if the params have any, and
// asks a client that can be asked, whose answer counts more.
func (s *Server) didChangeConfiguration(p *configurationParams) error {
	pushed := settings.Member(bytes.Clone(p.Settings))
	s.configuration.mu.Lock()
	s.configuration.pushed = pushed
	s.configuration.mu.Unlock()
	s.readSettings()
	return nil
}

// readSettings has the settings read and applied, from another goroutine.
func (s *Server) readSettings() {
	s.scheduler.schedule(s.base, settingsJob, false, func(ctx context.Context) {
		defer func() {
			if p := recover(); p != nil {
				s.logPanic("settings", session.Recovered(p))
			}
		}()
		if s.store.View().Client.Configuration {
			s.pullSettings(ctx)
		}
		if ctx.Err() == nil {
			s.applySettings(ctx)
			s.settingsArrived()
		}
	})
}

// pullSettings asks the client for the settings, once for everywhere and once for
// each workspace folder. Without a useful answer the older ones stay.
func (s *Server) pullSettings(ctx context.Context) {
	folders := s.store.View().Folders
	folders = folders[:min(len(folders), maxFolderSettings)]
	section := settings.Section
	items := []protocol.ConfigurationItem{{Section: &section}}
	s.configuration.mu.Lock()
	for _, folder := range folders {
		if spelled, ok := s.configuration.spelled[folder]; ok {
			folder = spelled
		}
		items = append(items, protocol.ConfigurationItem{ScopeURI: &folder, Section: &section})
	}
	s.configuration.mu.Unlock()
	answers, err := s.client.Configuration(ctx, &protocol.ConfigurationParams{Items: items})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		s.log.Warn("the client did not tell its settings", zap.Error(err))
		return
	case len(answers) != len(items):
		s.log.Warn("the client told other settings than it was asked for", zap.Int("asked", len(items)), zap.Int("answers", len(answers)))
		return
	}
	pulled := map[uri.URI]json.RawMessage{"": bytes.Clone(answers[0])}
	for i, folder := range folders {
		pulled[folder] = bytes.Clone(answers[i+1])
	}
	s.configuration.mu.Lock()
	defer s.configuration.mu.Unlock()
	if ctx.Err() == nil {
		s.configuration.pulled = pulled
	}
}

// applySettings makes the settings those that the layers add up to, tells the user
// once of all that cannot be used, and has the documents analysed anew for which
// something has changed.
func (s *Server) applySettings(ctx context.Context) {
	c := &s.configuration
	c.applying.Lock()
	defer c.applying.Unlock()
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	scopes, problems := c.scopes(s.store.View().Folders)
	c.mu.Unlock()
	problems = append(problems, s.checkSignatures(&scopes)...)
	if message := complaint(problems); message != c.told {
		c.told = message
		if message != "" {
			s.outbox.show(protocol.MessageTypeWarning, message)
		}
	}
	changed := s.store.Configure(scopes)
	for _, change := range changed {
		if change.Before.Watched() && !change.Now.Watched() {
			s.clear(change.Now)
		}
		s.diagnose(change.Now, false)
	}
	if len(changed) > 0 {
		s.refreshDiagnostics()
		s.refreshDecoration()
		s.refreshLenses()
	}
	s.watchSignatures(&scopes)
}

// scopes adds the layers up, for everywhere and for each folder. c is locked.
func (c *configuration) scopes(folders []uri.URI) (settings.Scopes, []string) {
	var told []string
	add := func(scope string, problems []settings.Problem) {
		for _, p := range problems {
			line := p.String()
			if scope != "" && slices.Contains(told, line) {
				continue // the folder's are those of everywhere
			}
			if scope != "" {
				line += " (in the folder " + scope + ")"
			}
			told = append(told, line)
		}
	}
	all := settings.Default()
	for _, layer := range []json.RawMessage{c.initial, c.pushed} {
		var problems []settings.Problem
		all, problems = all.With(layer)
		add("", problems)
	}
	everywhere, problems := all.With(c.pulled[""])
	add("", problems)
	scopes := settings.Scopes{Everywhere: c.resolve(everywhere, folders), Folders: map[uri.URI]settings.Settings{}}
	for _, folder := range folders[:min(len(folders), maxFolderSettings)] {
		own, asked := c.pulled[folder]
		if !asked {
			own = c.pulled[""]
		}
		here, problems := all.With(own)
		add(path.Base(folder.Path()), problems)
		scopes.Folders[folder] = c.resolve(here, []uri.URI{folder})
	}
	return scopes, told
}

// resolve makes the relative paths of settings start from the first folder.
func (c *configuration) resolve(s settings.Settings, folders []uri.URI) settings.Settings {
	if s.SignatureFolder != "" {
		s.SignatureReading = c.read
	}
	if len(folders) == 0 || !folders[0].IsFile() {
		return s
	}
	root := folders[0].FsPath()
	if s.SignatureFolder != "" && !filepath.IsAbs(s.SignatureFolder) {
		s.SignatureFolder = filepath.Join(root, s.SignatureFolder)
	}
	s.PathMappings = slices.Clone(s.PathMappings)
	for i, m := range s.PathMappings {
		if !filepath.IsAbs(m.To) {
			s.PathMappings[i].To = filepath.Join(root, m.To)
		}
	}
	return s
}

// checkSignatures loads what the settings name, and tells what is wrong with it.
func (s *Server) checkSignatures(scopes *settings.Scopes) []string {
	// What was wrong with a folder may have been put right.
	s.knowledge.forget(func(_ string, failed bool) bool { return failed })
	var told []string
	used := map[string]bool{}
	check := func(where *settings.Settings) {
		folder := where.SignatureFolder
		used[folder] = true
		if folder == "" && len(where.Suppressions) == 0 {
			return // the built-in ones are loaded when they are needed
		}
		set, _, err := s.knowledge.with(folder)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				told = append(told, "signatureFolder: "+line)
			}
		}
		if set == nil {
			return
		}
		for i, id := range where.Suppressions {
			if set.Failure(id) == nil && set.Message(id) == nil {
				told = append(told, settings.Problem{
					Key: fmt.Sprintf("suppressions[%d]", i), Is: "a string that is no id",
					Allowed: "the ids that the command `graphtrap signatures` lists",
				}.String())
			}
		}
	}
	check(&scopes.Everywhere)
	for _, folder := range slices.Sorted(maps.Keys(scopes.Folders)) {
		here := scopes.Folders[folder]
		check(&here)
	}
	s.knowledge.forget(func(folder string, _ bool) bool { return !used[folder] })
	return told
}

// complaint is one message about everything that cannot be used; empty if all can.
func complaint(problems []string) string {
	slices.Sort(problems)
	problems = slices.Compact(problems)
	if len(problems) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("These settings of graphtrap cannot be used; the others apply.")
	for i, p := range problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		b.WriteString("\n- " + p)
	}
	return b.String()
}
