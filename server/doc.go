// Package server is the language server: it shows on the lines of a log what the
// analyzer found in it.
//
// The layer decides nothing. It keeps the documents of a session, has them
// analysed, and turns the report's byte offsets into the client's positions.
//
// # The flow
//
// [stream.Stream] cuts the input into messages. The jsonrpc2 connection hands
// each to [Server.handle], on the one goroutine that reads:
//
//   - a notification is handled there and then, so that changes are applied in
//     the order in which they were sent. Its handler only changes the
//     [session.Store] and starts work elsewhere; it never writes to the client.
//   - a request is given the [session.View] of that moment and goes on in its own
//     goroutine, so that it can be cancelled and overtaken. At most maxRequests
//     run at a time.
//
// Every version of a document that is a log gets one analysis, shared by the
// diagnostics and the requests that need it (package session). The scheduler
// starts it a moment after the last change and cancels it when the next comes,
// unless that only puts text behind the end: a log that is written to all the time
// would never be analysed. An analysis goes on from the one of an earlier version,
// as far as the text is the same, so that a line more costs about the same for any
// length of a log.
//
// What goes to the client unasked passes through the outbox: one goroutine that
// writes, holding the newest diagnostics of each document and dropping those of
// a version that is no longer current. So a client that does not read blocks
// nothing but its own diagnostics. A client that asks for diagnostics is sent none
// (documentdiagnostic.go, workspacediagnostic.go), and is asked to ask again only
// for what it cannot know of (refresh.go). Long answers go out in pieces where the
// client takes them (partial.go).
//
// Documents are left alone unless they are logs by language or name. What may be a
// log or anything else, such as a text file or an output channel of the editor's,
// has to state a failure of a job first (session.LikenessOf, analyzer.Analysis.Marked).
//
// Between two messages nothing runs and no clock ticks.
//
// The user's settings come in layers (configuration.go), are read by package
// settings, and hang on each document's snapshot, so that a handler needs no lock
// and no look-up. A change of settings is a new version of the documents that it
// concerns.
//
// Work that takes a while is shown as it goes on and can be cancelled (progress.go).
// The log goes to the client as well, except what may quote a document
// (clientlog.go); nothing goes out before the client has said initialized.
//
// A panic in a handler becomes one InternalError and one line of the program's
// own log, without text of any document; the session goes on.
//
// # The files
//
// One for each group of methods: initialize.go, lifecycle.go, textsync.go,
// hover.go, codeaction.go, executecommand.go with a file for each command, and so on.
// What they share: handle.go (how a
// message gets to its method), marks.go (the lines that a report speaks of), lines.go
// (what is known of any line), outline.go (what all lines are: whose, which traceback,
// what only repeats), diagnostics.go, scheduler.go (when a document is
// analysed), outbox.go (what the client did not ask for), source.go (the Python file
// that a traceback names) and follow.go (logs on disk that were diagnosed).
package server
