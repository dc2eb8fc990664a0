package pysource

import "strings"

// Snippet is the fix in words, for source that [SharePool] does not edit. It is
// made of comment lines, so that it can be put anywhere.
type Snippet struct {
	// Plain is the text as it is inserted.
	Plain string
	// Placeholders is the same in the snippet syntax of editors: ${1:pool} is
	// the handle and ${2:g} the graph.
	Placeholders string
}

// NewSnippet makes the fix text. indent starts every line, torchCuda is how the
// file spells torch.cuda (see [Source.TorchCuda]), newline ends every line.
func NewSnippet(indent, torchCuda, newline string) Snippet {
	return Snippet{
		Plain: snippetText(indent, torchCuda, newline, "pool", "pool", "g"),
		Placeholders: snippetText(escapeSnippet(indent), escapeSnippet(torchCuda), newline,
			"${1:pool}", "$1", "${2:g}"),
	}
}

func snippetText(indent, torchCuda, newline, pool, poolAgain, graph string) string {
	lines := []string{
		"# Let the captures share one memory pool.",
		"# 1. Once, before all captures (outside the loop, or in the caller):",
		"#        " + pool + " = " + torchCuda + ".graph_pool_handle()",
		"# 2. At each capture, with that handle passed in:",
		"#        with " + torchCuda + ".graph(" + graph + ", pool=" + poolAgain + "):",
		"# Safe only if the graphs are replayed one at a time on one stream, and the",
		"# outputs of a graph are used or cloned before the next one is replayed.",
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(indent + line + newline)
	}
	return b.String()
}

var snippetEscaper = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`)

func escapeSnippet(text string) string { return snippetEscaper.Replace(text) }

// IndentAt is the white space that a line starts with, for text to be put
// before it; line is from 1. Lines outside the source give "".
func (s *Source) IndentAt(line int) string {
	if line < 1 || line > len(s.lineStarts) {
		return ""
	}
	start := max(s.lineStarts[line-1], 0)
	if line == 1 {
		start = s.firstOffset()
	}
	end := start
	for end < len(s.src) && (s.src[end] == ' ' || s.src[end] == '\t') {
		end++
	}
	return string(s.src[start:end])
}
