package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.uber.org/goleak"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// stressed is a document of the stress test, as the client has it.
type stressed struct {
	uri     string
	version int
	lines   []string
	open    bool
}

// look is a request whose answer tells what text the server had.
type look struct {
	lsptest.Pending
	want      string
	cancelled bool
}

// stress is the editor of the stress test.
type stress struct {
	t    *testing.T
	c    *lsptest.Client
	rng  *rand.Rand
	docs []*stressed
	// looks and others are in flight.
	looks  []look
	others []lsptest.Pending
}

// TestTenThousandMessages is edits of several documents, requests of all kinds and
// cancellations at random: every request has one answer, none of them is of another
// text than the one at its place on the wire, what is published in the end is what is
// true in the end, and nothing is left behind.
func TestTenThousandMessages(t *testing.T) {
	for name, change := range map[string]func(object){"push": nil, "pull": lsptest.Pull} {
		t.Run(name, func(t *testing.T) {
			already := goleak.IgnoreCurrent()
			var before, during int64
			t.Run("session", func(t *testing.T) {
				c, status := start(t, server.Config{Log: quietLog})
				c.Ignore(requestsOfServers...)
				c.Initialize("", change)
				s := &stress{t: t, c: c, rng: rand.New(rand.NewPCG(1, 2))}
				for i := range 6 {
					s.docs = append(s.docs, &stressed{uri: fmt.Sprintf("file:///w/%d.log", i), lines: []string{""}})
				}
				messages := 10_000
				if testing.Short() {
					messages = 1000
				}
				s.run(200) // what is made once is there
				before = s.rest()
				s.run(messages)
				if change == nil {
					s.checkPublished()
				}
				during = s.rest()
				c.Shutdown()
				if code := status(); code != 0 {
					t.Errorf("exit status %d", code)
				}
			})
			if err := goleak.Find(already); err != nil {
				t.Error(err)
			}
			if after := inUse(); during > before+4<<20 || after > before+4<<20 {
				t.Errorf("%d KiB of the heap are in use at first, %d after all messages, %d after the session", before>>10, during>>10, after>>10)
			}
		})
	}
}

// run says so many things.
func (s *stress) run(messages int) {
	for range messages {
		d := s.docs[s.rng.IntN(len(s.docs))]
		if !d.open {
			s.open(d)
			continue
		}
		switch n := s.rng.IntN(100); {
		case n < 45:
			s.edit(d)
		case n < 65:
			s.look(d)
		case n < 95:
			s.ask(d)
		default:
			d.open = false
			s.c.Close(d.uri)
		}
		if len(s.looks)+len(s.others) > 40 {
			s.await()
		}
	}
	s.await()
}

// rest closes all documents, waits until all is quiet, and returns the heap in use.
func (s *stress) rest() int64 {
	for _, d := range s.docs {
		if d.open {
			s.c.Close(d.uri)
			d.open = false
		}
	}
	settle(s.c)
	s.c.Discard()
	return inUse()
}

func (s *stress) open(d *stressed) {
	d.version++
	d.open, d.lines = true, []string{"rank1 INITIATOR", "rank2 COLLATERAL waited", ""}
	s.c.Open(d.uri, "log", d.version, strings.Join(d.lines, "\n"))
}

func (s *stress) edit(d *stressed) {
	d.version++
	line := fmt.Sprintf("rank%d %s %d", s.rng.IntN(9), []string{"COLLATERAL", "ECHO", "noise"}[s.rng.IntN(3)], d.version)
	at := s.rng.IntN(len(d.lines))
	switch n := s.rng.IntN(10); {
	case n < 6 || len(d.lines) < 3: // one more line at the end
		at = len(d.lines) - 1
		fallthrough
	case n < 8: // or before another
		s.c.Change(d.uri, d.version, object{"range": lsptest.Span(at, 0, at, 0), "text": line + "\n"})
		d.lines = slices.Insert(d.lines, at, line)
	case len(d.lines) > 60: // all anew
		d.lines = []string{line, ""}
		s.c.Change(d.uri, d.version, object{"text": line + "\n"})
	default: // a line less
		at = min(at, len(d.lines)-2)
		s.c.Change(d.uri, d.version, object{"range": lsptest.Span(at, 0, at+1, 0), "text": ""})
		d.lines = slices.Delete(d.lines, at, at+1)
	}
}

// cancelled cancels one in five requests.
func (s *stress) cancelled(p lsptest.Pending) bool {
	if s.rng.IntN(5) > 0 {
		return false
	}
	p.Cancel()
	return true
}

func (s *stress) look(d *stressed) {
	p := s.c.Start("workspace/executeCommand", command(object{"uri": d.uri}))
	s.looks = append(s.looks, look{p, strings.Join(d.lines, "\n"), s.cancelled(p)})
}

func (s *stress) ask(d *stressed) {
	method := positional[s.rng.IntN(len(positional))]
	place := object{"line": s.rng.IntN(len(d.lines) + 2), "character": s.rng.IntN(30)}
	p := s.c.Start(method, object{
		"textDocument": object{"uri": d.uri}, "position": place, "range": object{"start": place, "end": place}, "query": "rank",
		"context": object{"diagnostics": []object{}, "includeDeclaration": true}, "previousResultIds": []object{}, "uri": d.uri,
		"title": "x", "data": object{"log": d.uri}, "command": "graphtrap.diagnose", "arguments": []object{{"text": "rank1 INITIATOR"}},
	})
	s.cancelled(p)
	s.others = append(s.others, p)
}

// await reads all answers that are due.
func (s *stress) await() {
	for _, p := range s.others {
		if m := p.Response(); m.Error != nil && m.Error.Code == -32603 {
			s.t.Fatalf("request %d: %s", p.ID, m.Error.Message)
		}
	}
	for _, l := range s.looks {
		m := l.Response()
		if m.Error != nil {
			if l.cancelled && m.Error.Code == protocol.CodeRequestCancelled {
				continue
			}
			s.t.Fatalf("request %d, cancelled %v: error %d: %s", l.ID, l.cancelled, m.Error.Code, m.Error.Message)
		}
		var r report
		if err := json.Unmarshal(m.Result, &r); err != nil {
			s.t.Fatal(err)
		}
		if r.Verdict.Summary != l.want {
			s.t.Fatalf("request %d is answered with another text than the one at its place:\n%q\nwant\n%q", l.ID, r.Verdict.Summary, l.want)
		}
	}
	s.looks, s.others = nil, nil
	for _, d := range s.docs {
		s.checkVersions(d)
	}
	s.c.Discard()
}

// checkVersions checks that no version is published after a later one.
func (s *stress) checkVersions(d *stressed) {
	last := int32(0)
	for _, p := range s.c.Publications(d.uri) {
		v, ok := p.Version.Get()
		if ok && (v < last || int(v) > d.version) {
			s.t.Fatalf("version %d of %s was published after version %d; the newest is %d", v, d.uri, last, d.version)
		}
		last = max(last, v)
	}
}

// checkPublished checks that what is published last of each document is true.
func (s *stress) checkPublished() {
	for _, d := range s.docs {
		if !d.open {
			s.open(d)
		} else {
			s.edit(d)
		}
		want := 0
		text := strings.Join(d.lines, "\n")
		for i := range d.lines {
			if fakeLine.MatchString(d.lines[i]) {
				want++
			}
		}
		if got := len(s.c.Diagnostics(d.uri, int32(d.version))); got != want {
			s.t.Errorf("%s: %d diagnostics, want %d, of\n%s", d.uri, got, want, text)
		}
	}
}
