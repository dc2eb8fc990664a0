package lsptest

import (
	"bytes"
	"strings"
)

// An archive is a text of several sections in the txtar format: a comment, then
// for each section a line "-- name --" and its body.
type archive struct {
	comment  string
	sections []section
}

type section struct {
	name, body string
}

func parseArchive(text []byte) archive {
	var a archive
	body := &a.comment
	for line := range strings.Lines(string(text)) {
		if name, ok := sectionName(line); ok {
			a.sections = append(a.sections, section{name: name})
			body = &a.sections[len(a.sections)-1].body
			continue
		}
		*body += line
	}
	return a
}

func sectionName(line string) (string, bool) {
	line = strings.TrimRight(line, "\r\n")
	name, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, " --")
	return strings.TrimSpace(name), ok && strings.TrimSpace(name) != ""
}

func (a *archive) format() []byte {
	var b bytes.Buffer
	b.WriteString(a.comment)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n" + s.body)
		if s.body != "" && !strings.HasSuffix(s.body, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
