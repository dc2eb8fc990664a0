package signatures

import (
	"fmt"
	"strings"
)

const (
	// maxFile is the largest signature file that is read.
	maxFile = 1 << 20
	// maxDepth bounds the nesting of values and of dotted keys, because the
	// TOML reader recurses over it.
	maxDepth = 64
)

// source is a signature file with the lines of its keys. The TOML library does
// not say where a key stands, and an error without a line is of little use in a
// file of a hundred messages.
type source struct {
	path string
	keys []keyLine
}

// keyLine is a table header or a key with its line.
type keyLine struct {
	table string // the header it stands under: "message.yes"; "" at the top
	key   string // "" for a header
	line  int
}

// table is the nth table of a name inside the one before it.
type table struct {
	name string
	nth  int
}

// newSource finds the keys of a TOML text. It does not check the syntax, which
// is the TOML library's part; it refuses only what is nested too deeply.
func newSource(path, text string) (*source, error) {
	s := &source{path: path}
	header, line, depth, dots := "", 1, 0, 0
	fresh := true // nothing but blanks stands before on the line
	for i := 0; i < len(text); {
		first := fresh
		fresh = false
		end := i + 1
		switch c := text[i]; {
		case c == '\n':
			line++
			fresh, dots = true, 0
		case c == ' ' || c == '\t' || c == '\r':
			fresh = first
		case c == '#':
			end = skipTo(text, i, '\n')
		case c == '=' || c == ',':
			dots = 0
		case c == '.':
			dots++
		case c == '[' && depth == 0 && first:
			end = skipTo(text, i, '\n')
			name, _, _ := strings.Cut(text[i:end], "#")
			header = strings.Trim(name, "[] \t\r")
			dots = strings.Count(name, ".")
			s.keys = append(s.keys, keyLine{table: header, line: line})
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == '"' || c == '\'':
			end = skipString(text, i)
			if isKey(text, end) {
				s.keys = append(s.keys, keyLine{header, strings.Trim(text[i:end], `"'`), line})
			}
			line += strings.Count(text[i:end], "\n")
		case isBare(c):
			for end < len(text) && (isBare(text[end]) || text[end] == '.') {
				end++
			}
			dots += strings.Count(text[i:end], ".")
			if isKey(text, end) {
				s.keys = append(s.keys, keyLine{header, text[i:end], line})
			}
		}
		if depth > maxDepth || dots > maxDepth {
			return nil, s.errorf(line, "nested more than %d deep: write it flatter", maxDepth)
		}
		i = end
	}
	return s, nil
}

// line returns the line of a key in a table, or that of the table's header if
// the key is not there: line("pattern", table{"message", 3}). Without tables
// the key is one outside of all tables.
func (s *source) line(key string, tables ...table) int {
	keys, found, name := s.keys, 0, ""
	for _, t := range tables {
		n := t.nth
		for len(keys) > 0 && (keys[0].key != "" || keys[0].table != t.name || n > 0) {
			if keys[0].key == "" && keys[0].table == t.name {
				n--
			}
			keys = keys[1:]
		}
		if len(keys) == 0 {
			return found
		}
		found, name = keys[0].line, t.name
		keys = keys[1:]
		for i, k := range keys { // cut behind the table and what is nested in it
			if k.key == "" && !strings.HasPrefix(k.table, t.name+".") {
				keys = keys[:i]
				break
			}
		}
	}
	for _, k := range keys {
		if k.table == name && k.key == key {
			return k.line
		}
	}
	return found
}

// lineOf returns the line of the nth key with this dotted name, which may stand
// in an inline table.
func (s *source) lineOf(dotted []string, nth int) int {
	whole := strings.Join(dotted, ".")
	for _, k := range s.keys {
		full := strings.TrimPrefix(k.table+"."+k.key, ".")
		inline := k.key == dotted[len(dotted)-1] && strings.HasPrefix(whole, strings.TrimPrefix(k.table+".", "."))
		if full != whole && full != whole+"." && !inline {
			continue
		}
		if nth == 0 {
			return k.line
		}
		nth--
	}
	return 0
}

// errorf makes an error that points at a line of the file; 0 is the file itself.
func (s *source) errorf(line int, format string, args ...any) error {
	where := s.path
	if line > 0 {
		where = fmt.Sprintf("%s:%d", s.path, line)
	}
	return fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...))
}

func isBare(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isKey says whether an equals sign comes next on the line.
func isKey(text string, i int) bool {
	rest := strings.TrimLeft(text[i:min(len(text), i+64)], " \t")
	return strings.HasPrefix(rest, "=")
}

// skipTo returns the next place of stop, or the end of the text.
func skipTo(text string, i int, stop byte) int {
	if n := strings.IndexByte(text[i:], stop); n >= 0 {
		return i + n
	}
	return len(text)
}

// skipString returns the place behind the string that begins at i. A string
// that is not closed ends with the line, or with the text if it may have
// several lines.
func skipString(text string, i int) int {
	quote := text[i : i+1]
	triple := strings.Repeat(quote, 3)
	long := strings.HasPrefix(text[i:], triple)
	j := i + 1
	if long {
		j = i + 3
	}
	for ; j < len(text); j++ {
		switch {
		case text[j] == '\\' && quote == `"`:
			j++
		case text[j] == '\n' && !long:
			return j
		case long && strings.HasPrefix(text[j:], triple):
			for j += 3; strings.HasPrefix(text[j:], quote); j++ {
				// One or two quotes may be the last of the text itself.
			}
			return j
		case !long && text[j:j+1] == quote:
			return j + 1
		}
	}
	return len(text)
}
