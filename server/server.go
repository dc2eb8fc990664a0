package server

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/stream"
)

// Config is what a server needs from outside.
type Config struct {
	// Version is the program's version.
	Version string
	// Log gets what the server has to say of itself; nil means nowhere. Document
	// text appears in it at the debug level only.
	Log *zap.Logger
	// Analyze stands in for the analyzer in tests; nil means the analyzer itself, with
	// the signatures that the user's settings name.
	Analyze func(context.Context, []analyzer.File, analyzer.Options) (*analyzer.Analysis, error)
	// Debounce is how long after the last change a document is analysed; 0 means
	// [DefaultDebounce].
	Debounce time.Duration
	// ParentPID names a process with which the session ends; 0 means none. The
	// client names its own process as well, in initialize.
	ParentPID int
}

// DefaultDebounce is short enough to feel immediate and long enough to let a
// burst of changes pass.
const DefaultDebounce = 50 * time.Millisecond

// Server serves one session with one client.
type Server struct {
	config    Config
	log       *zap.Logger
	store     *session.Store
	methods   map[string]method
	scheduler *scheduler
	outbox    *outbox
	// client takes what goes to the client outside of responses. A request may use
	// it; notifications and whatever is sent unasked go through the outbox.
	client    protocol.Client
	refreshes refresher
	// clientLog is the part of the log that goes to the client.
	clientLog     *clientLog
	knowledge     *knowledge
	configuration configuration
	// settingsAwaited is set until a client that is asked for its settings answers.
	settingsAwaited atomic.Bool
	progresses      progresses
	reports         reports
	watching        watching
	statistics      statistics
	// analyses bounds the analyses that run at a time; each uses all processors.
	analyses chan struct{}

	// base ends with the session. It is set before the first message is read.
	base context.Context
	// phase is changed by the reading goroutine only.
	phase atomic.Int32
	exit  chan int
	// closing is closed when the client says shutdown: answers that wait for
	// something to happen are given then.
	closing chan struct{}

	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelFunc
}

// New makes a server that waits for its client's initialize.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Debounce <= 0 {
		c.Debounce = DefaultDebounce
	}
	s := &Server{
		config:   c,
		store:    session.NewStore(),
		analyses: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)/2)),
		exit:     make(chan int, 1),
		closing:  make(chan struct{}),
		running:  map[jsonrpc2.ID]context.CancelFunc{},
	}
	s.clientLog, s.knowledge = newClientLog(), newKnowledge(c.Version)
	s.log = c.Log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewTee(core, clientLogCore{log: s.clientLog})
	}))
	s.methods = s.table()
	s.scheduler = newScheduler(c.Debounce)
	return s
}

// Serve talks to a client until it says exit, its input ends, or ctx does, and
// returns the exit status of the process: 0 after a shutdown, else 1. A reader
// that is blocked in a terminal or pipe may still be there when it returns.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) int {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	s.base = base
	st := stream.New(in, out)
	st.Malformed = func(why string) { s.log.Warn("malformed message", zap.String("why", why)) }
	conn := jsonrpc2.NewConn(st, jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	s.outbox = newOutbox(s.client, s.log)
	go s.outbox.run(base)
	go s.clientLog.run(base, s.client)
	defer s.scheduler.stop()
	if s.config.ParentPID != 0 && !s.watchParent(s.config.ParentPID) {
		s.log.Error("the parent process is gone", zap.Int("pid", s.config.ParentPID))
		return 1
	}
	conn.Go(base, s.handle)
	select {
	case code := <-s.exit:
		return code
	case <-st.Ended():
	case <-ctx.Done():
	}
	select {
	case code := <-s.exit: // said before the input ended
		return code
	default:
	}
	s.log.Info("the session ended without exit")
	if s.phase.Load() == phaseShutDown {
		return 0
	}
	return 1
}

// stop ends the session with an exit status; the first one counts.
func (s *Server) stop(code int) {
	select {
	case s.exit <- code:
	default:
	}
}
