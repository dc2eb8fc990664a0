package session

import (
	"path"
	"regexp"
	"strings"

	"go.lsp.dev/uri"
)

// Likeness is how much a document is like a log, by what the client says of it.
type Likeness int

// The degrees of likeness.
const (
	// NotALog: source code, configuration, prose, and text of no sort.
	NotALog Likeness = iota
	// PerhapsALog: it may as well be notes, or the output of the editor itself. It
	// is shown to be a log by what stands in it, or it is left alone.
	PerhapsALog
	// ALog by its language or its name.
	ALog
)

var (
	// logName matches the names under which logs lie: train.log, train.log.3,
	// slurm-4711.out, worker.err, stderr.
	logName = regexp.MustCompile(`(?i)(^|\.)(log|out|err)(\.\d+)?$|^std(out|err)(\.\d+)?$`)
	// textName matches those of texts, which may be logs.
	textName = regexp.MustCompile(`(?i)\.txt(\.\d+)?$`)
	// proseName matches those of texts that programs read, or that people write about
	// programs.
	proseName = regexp.MustCompile(`(?i)^(readme|change(s|log)|license|licence|copying|notice|authors|contributors|contributing|` +
		`install|history|news|todo|faq|cmakelists|requirements|constraints|robots|humans|manifest)([-_.].*)?\.txt$`)
)

// LikenessOf tells by its language and its URI whether a document is a log. A
// language that is none of plain text is believed, even if the name is a log's.
func LikenessOf(language string, u uri.URI) Likeness {
	name := path.Base(u.Path())
	var by Likeness
	switch strings.ToLower(language) {
	case "log", "logs", "logfile", "python-traceback", "pythontraceback", "ansi":
		by = ALog
	case "", "plaintext", "text", "txt", "plain", "text.plain", "fundamental", "output":
		switch {
		case logName.MatchString(name):
			by = ALog
		case textName.MatchString(name) && !proseName.MatchString(name):
			by = PerhapsALog
		}
	default:
		if !codeLanguages[strings.ToLower(language)] && logName.MatchString(name) {
			by = ALog
		}
	}
	if by == ALog && (u.Scheme() == "untitled" || u.Scheme() == "output") {
		return PerhapsALog
	}
	return by
}

// codeLanguages are languages whose documents are what they say, whatever their
// names are. Editors that do not know a log's name may guess any other.
var codeLanguages = func() map[string]bool {
	set := map[string]bool{}
	for _, id := range strings.Fields(`asciidoc bat c cmake cpp csharp css cuda-cpp cuda dart diff dockerfile dotenv elixir
		erlang git-commit git-rebase go graphql groovy haskell html ini java javascript javascriptreact json json5 jsonc jsonl
		julia kotlin latex less lua makefile markdown mdx nix objective-c objective-cpp ocaml org perl php powershell properties
		protobuf python r restructuredtext ruby rust scala scss shellscript sql starlark svelte swift terraform tex toml
		typescript typescriptreact vue xml yaml zig`) {
		set[id] = true
	}
	return set
}()
