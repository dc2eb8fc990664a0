// Package pysource reads Python source and finds where it captures CUDA
// graphs: which calls, in which function and loop, with or without a memory
// pool. From that it makes the edit that lets the captures of one loop share
// one pool.
//
// [Scan] never fails: broken text gives the sites that can still be seen, and
// [Source.Problem] says what is broken. [SharePool] is the opposite: it edits
// only the plain shape and refuses everything else with a [Refusal] that says
// why, because a pool shared where it must not be gives silently wrong numbers.
//
// The package has its own scanner and no Python parser, so that it also reads
// files that are being typed, needs no cgo and runs in wasm. It works in three
// steps: bytes to tokens and logical lines, lines to indentation blocks and
// statements, and those to names, calls and sites. Everything refers to tokens
// by their index; nothing is copied out of the source until it is asked for.
package pysource
