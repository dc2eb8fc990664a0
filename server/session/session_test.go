package session_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.lsp.dev/uri"
	"go.uber.org/goleak"

	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAViewIsNotChangedByWhatFollows(t *testing.T) {
	s := session.NewStore()
	d := &session.Snapshot{URI: "x:/a", Key: "x:/a", Version: 1, Text: position.New(nil, position.Convention{})}
	s.Put(d)
	s.ChangeFolders([]uri.URI{"file:///one"}, nil)
	view := s.View()
	next := d.Next(2, d.Text)
	s.Put(next)
	s.ChangeFolders([]uri.URI{"file:///two", "file:///two"}, []uri.URI{"file:///one"})
	if view.Document("x:/a") != d || len(view.Folders) != 1 || view.Folders[0] != "file:///one" {
		t.Errorf("the older view is now %+v", view)
	}
	now := s.View()
	if now.Document("x:/a") != next || len(now.Folders) != 1 || now.Folders[0] != "file:///two" {
		t.Errorf("the view is %+v", now)
	}
	if s.Current(d) || !s.Current(next) {
		t.Error("the older version is current")
	}
	if s.Replace(d, d) || !s.Replace(next, d) {
		t.Error("a version that is not current was replaced, or the current one was not")
	}
	s.Remove("x:/a")
	if s.Current(d) || s.View().Document("x:/a") != nil {
		t.Error("the document is still there")
	}
}

func TestOneComputationForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared session.Shared[int]
		var runs atomic.Int32
		open := make(chan struct{})
		compute := func(context.Context) (int, error) {
			runs.Add(1)
			<-open
			return 7, nil
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if v, err := shared.Get(t.Context(), t.Context(), compute); v != 7 || err != nil {
					t.Errorf("got %d, %v", v, err)
				}
			})
		}
		synctest.Wait()
		close(open)
		wg.Wait()
		if v, err := shared.Get(t.Context(), t.Context(), compute); v != 7 || err != nil || runs.Load() != 1 {
			t.Errorf("got %d, %v after %d computations", v, err, runs.Load())
		}
	})
}

func TestTheLastToGiveUpCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared session.Shared[int]
		cancelled := make(chan struct{})
		compute := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			close(cancelled)
			return 0, ctx.Err()
		}
		first, giveUp := context.WithCancel(t.Context())
		second, giveUpToo := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, ctx := range []context.Context{first, second} {
			wg.Go(func() {
				if _, err := shared.Get(ctx, t.Context(), compute); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		giveUp()
		synctest.Wait()
		select {
		case <-cancelled:
			t.Error("cancelled while one still waits")
		default:
		}
		giveUpToo()
		wg.Wait()
		<-cancelled
		if v, err := shared.Get(t.Context(), t.Context(), func(context.Context) (int, error) { return 3, nil }); v != 3 || err != nil {
			t.Errorf("got %d, %v from a new computation", v, err)
		}
	})
}

func TestErrorsAndPanicsAreNotKept(t *testing.T) {
	var shared session.Shared[int]
	_, err := shared.Get(t.Context(), t.Context(), func(context.Context) (int, error) { panic("secret") })
	var panicked *session.PanicError
	if !errors.As(err, &panicked) || panicked.Kind != "string" || len(panicked.Stack) == 0 {
		t.Errorf("got %v", err)
	}
	if _, err := shared.Get(t.Context(), t.Context(), func(context.Context) (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("no error")
	}
	if v, err := shared.Get(t.Context(), t.Context(), func(context.Context) (int, error) { return 5, nil }); v != 5 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}

func TestTheLatestOutlineIsFollowed(t *testing.T) {
	text := func(s string) *position.Text { return position.New([]byte(s), position.Convention{}) }
	store := session.NewStore()
	d := &session.Snapshot{Key: "x:/a", Text: text("one\n")}
	if o, same := d.Outlined(); o != nil || same != 0 {
		t.Errorf("got %v, %d of a document that is not open", o, same)
	}
	d.OutlinedAs(&outline.Outline{}) // means nothing
	store.Put(d)
	if o, same := d.Outlined(); o != nil || same != 0 {
		t.Errorf("got %v, %d of a first version", o, same)
	}
	second := d.Next(2, text("one\ntwo\n"))
	store.Put(second)
	third := second.Next(3, text("onE\ntwo\n"))
	store.Put(third)
	first := &outline.Outline{}
	d.OutlinedAs(first) // only now
	d.OutlinedAs(nil)
	if o, same := second.Outlined(); o != first || same != 4 {
		t.Errorf("got %v, %d", o, same)
	}
	if o, same := third.Outlined(); o != first || same != 2 {
		t.Errorf("got %v, %d", o, same)
	}
	store.Remove("x:/a")
	again := &session.Snapshot{Key: "x:/a", Text: text("one\n")}
	store.Put(again)
	if o, _ := again.Outlined(); o != nil {
		t.Error("a document that was closed is remembered")
	}
}
