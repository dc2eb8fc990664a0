package message

import (
	"context"
	"maps"
	"slices"
	"sort"

	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
	"github.com/graphtrap/graphtrap/signatures"
)

// maxKept bounds the events and tracebacks that are kept; where there are more of
// them the file is read anew each time.
const maxKept = 20_000

// Kept is what is kept of a file that was read, up to a line of it.
type Kept struct {
	at int64 // the offset of that line
	// hits are those before it. A scan of more text may have thinned them out.
	hits  []scan.Hit
	state *reader
}

// Follow is [Read], which it never differs from, for a file that was read before
// and has since changed behind its first same bytes: what was kept then is not
// read again. earlier is nil for the first time. It returns what to keep for the
// next time, nil if nothing. That reaches up to a line before the end, at most about
// two steps, in bytes, before it: the more often it moves, the more is copied.
func Follow(ctx context.Context, src Source, hits []scan.Hit, set *signatures.Set, earlier *Kept, same, step int64) (*Found, *Kept, error) {
	if src.pasted() {
		found, err := Read(ctx, src, hits, set)
		return found, nil, err
	}
	var r *reader
	if earlier.holds(src, hits, set, same) {
		r = earlier.state.clone()
		r.src = src
	} else {
		r, earlier = newReader(src, set), nil
	}
	todo, from := hits, int64(0)
	if earlier != nil {
		todo, from = hits[len(earlier.hits):], earlier.at
	}
	kept := earlier
	// Of a log that is being written the last lines are the ones that still change.
	if to := src.Size - step/4; to-from >= step {
		end, whole, err := r.readTo(ctx, todo, to)
		if err != nil {
			return nil, nil, err
		}
		done := sort.Search(len(hits), func(i int) bool { return hits[i].Offset >= end })
		if whole && end > from && len(r.found.Events)+len(r.joiner.Done()) <= maxKept {
			kept = &Kept{at: end, hits: hits[:done], state: r.clone()}
			kept.state.src.Data = nil // the text is not kept
		}
		todo = hits[max(done, len(hits)-len(todo)):]
	}
	if err := scan.Walk(ctx, src.Data, src.Size, todo, r.line); err != nil {
		return nil, nil, err
	}
	return r.finish(), kept, nil
}

// holds reports whether what was kept is still so.
func (k *Kept) holds(src Source, hits []scan.Hit, set *signatures.Set, same int64) bool {
	if k == nil || k.at > same || k.state.set != set || len(hits) < len(k.hits) {
		return false
	}
	old := k.state.src
	if old.Index != src.Index || old.Path != src.Path || old.Layout != src.Layout || old.Origin.Key() != src.Origin.Key() {
		return false
	}
	n := len(k.hits)
	return slices.Equal(hits[:n], k.hits) && (n == len(hits) || hits[n].Offset >= k.at)
}

// readTo reads the hits that start before an offset, and the lines that they go
// on over. It returns where the next line starts, 0 if it read none; whole is false
// where the file ends before what the last of them says.
func (r *reader) readTo(ctx context.Context, hits []scan.Hit, offset int64) (end int64, whole bool, err error) {
	n := sort.Search(len(hits), func(i int) bool { return hits[i].Offset >= offset })
	more := false
	err = scan.Walk(ctx, r.src.Data, r.src.Size, hits[:n], func(raw scan.Raw) bool {
		end = raw.Offset + int64(raw.Length) + 1 // behind its LF; past the end of the file if it has none yet
		more = r.line(raw)
		return more
	})
	return end, !more && end <= r.src.Size, err
}

// clone returns a reader that goes on from here by itself: what becomes of the one
// does not show in the other.
func (r *reader) clone() *reader {
	c := *r
	tracebacks := map[*traceback.Traceback]*traceback.Traceback{nil: nil}
	c.joiner = r.joiner.Clone(tracebacks)
	c.memory, c.figures = r.memory.Clone(), r.figures.Clone()
	c.partial = maps.Clone(r.partial)
	events := map[*Event]*Event{}
	event := func(e *Event) *Event {
		copied, ok := events[e]
		if !ok {
			copied = new(Event)
			*copied = *e
			copied.Facts, copied.Traceback = maps.Clone(e.Facts), tracebacks[e.Traceback]
			events[e] = copied
		}
		return copied
	}
	list := func(all []*Event) []*Event {
		copied := make([]*Event, len(all))
		for i, e := range all {
			copied[i] = event(e)
		}
		return copied
	}
	c.found.Events = list(r.found.Events)
	c.common = make(map[string]*recent, len(r.common))
	for id, common := range r.common {
		latest := slices.Clone(common.latest)
		for i, l := range latest {
			l.event.read(l.match) // once, not at every change behind it
			latest[i].event = event(l.event)
		}
		c.common[id] = &recent{first: common.first, latest: latest, next: common.next}
	}
	if r.wrapping != nil {
		c.wrapping = &wrap{event: event(r.wrapping.event), text: r.wrapping.text, left: r.wrapping.left}
	}
	if r.relayed != nil {
		c.relayed = &relayed{origin: r.relayed.origin, tb: tracebacks[r.relayed.tb], at: r.relayed.at}
	}
	return &c
}

func newReader(src Source, set *signatures.Set) *reader {
	return &reader{src: src, set: set, joiner: traceback.NewJoiner(), partial: map[string]line.Placed{}, common: map[string]*recent{}}
}
