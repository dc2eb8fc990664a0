package line

import (
	"strconv"
	"strings"
)

// unwrapJSON replaces the text of a JSON log record by its message, and reads who
// and when from its other members. Docker's json-file lines are such records, and
// so are those of most structured loggers:
//
//	{"log": "[rank1]: Traceback ...\n", "stream": "stderr", "time": "2026-11-23T08:14:44.400000000Z"}
//	{"timestamp": "2026-11-23T08:14:44Z", "level": "ERROR", "rank": 3, "message": "step failed", "exc_info": "Traceback ..."}
//
// A record without a message, such as a line of metrics, is left as it is, but its
// rank is read. extra is the text of a traceback in a member of its own.
func unwrapJSON(p *Piece) (extra *Piece, ok bool) {
	s := p.Text
	if len(s) < 2 || s[0] != '{' || s[1] != '"' && s[1] != ' ' {
		return nil, false
	}
	var message, trace span
	found := false
	for m := range members(s) {
		switch name := strings.ToLower(m.name); name {
		case "log", "message", "msg", "event", "text":
			if m.quoted && !found {
				message, found = m.value, true
			}
		case "exc_info", "exception", "traceback", "stack_trace", "stacktrace", "exc_text":
			if m.quoted {
				trace = m.value
			}
		case "stream":
			p.Origin.Stream = m.word(s)
		case "time", "timestamp", "ts", "asctime", "@timestamp":
			if word := m.word(s); timeLength(word) == len(word) && word != "" {
				p.setStamp(word)
			}
		case "level", "levelname", "severity":
			if word := strings.ToUpper(m.word(s)); levelWord(word) > 0 {
				p.Level = word[0]
			}
		case "rank", "global_rank":
			if n, err := strconv.Atoi(m.word(s)); err == nil && n >= 0 {
				p.Origin.Rank, p.Origin.RankFrom = &n, "logger's rank"
			}
		case "process_index":
			if n, err := strconv.Atoi(m.word(s)); err == nil && n >= 0 && p.Origin.Rank == nil {
				p.Origin.Rank, p.Origin.RankFrom = &n, "logger's process index"
			}
		case "local_rank":
			if n, err := strconv.Atoi(m.word(s)); err == nil && n >= 0 {
				p.Origin.LocalRank = &n
			}
		case "pid", "process_id":
			if n, err := strconv.Atoi(m.word(s)); err == nil && n >= 0 {
				p.Origin.PID = &n
			}
		case "host", "hostname", "node":
			p.Origin.Host = m.word(s)
		case "fields", "span": // Rust's tracing: {"level": "ERROR", "fields": {"message": "..."}, "span": {"rank": 1}}
			for inner := range m.members(s) {
				switch {
				case name == "fields" && inner.name == "message" && inner.quoted && !found:
					message, found = inner.value, true
				case name == "span" && inner.name == "rank" && p.Origin.Rank == nil:
					if n, err := strconv.Atoi(inner.word(s)); err == nil && n >= 0 {
						p.Origin.Rank, p.Origin.RankFrom = &n, "logger's span"
					}
				}
			}
		}
	}
	if !found && trace.end == 0 {
		return nil, false
	}
	outer := p.columns
	if found {
		p.Text, p.columns = unquote(s, message, outer)
	}
	if trace.end > 0 {
		e := *p
		e.Text, e.columns = unquote(s, trace, outer)
		if !found {
			*p = e
			return nil, true
		}
		return &e, true
	}
	return nil, true
}

// member is one member of a JSON object. value is the stretch between the quotes of
// a string, or the whole of any other value.
type member struct {
	name   string
	value  span
	quoted bool
}

// word is a short value as it stands; escapes are left as they are.
func (m member) word(s string) string { return s[m.value.start:m.value.end] }

// members yields the members of an object that is the value, with offsets into s.
func (m member) members(s string) func(yield func(member) bool) {
	return func(yield func(member) bool) {
		if m.quoted || m.value.start >= len(s) || s[m.value.start] != '{' {
			return
		}
		for inner := range members(s[m.value.start:m.value.end]) {
			inner.value.start += m.value.start
			inner.value.end += m.value.start
			if !yield(inner) {
				return
			}
		}
	}
}

// members yields the members of the object that s starts with, those of objects
// within it left out. It ends where s stops being JSON.
func members(s string) func(yield func(member) bool) {
	return func(yield func(member) bool) {
		i := skipSpace(s, 1)
		for i < len(s) && s[i] == '"' {
			end := stringEnd(s, i+1)
			if end < 0 {
				return
			}
			m := member{name: s[i+1 : end]}
			i = skipSpace(s, end+1)
			if i >= len(s) || s[i] != ':' {
				return
			}
			i = skipSpace(s, i+1)
			if i >= len(s) {
				return
			}
			if s[i] == '"' {
				end := stringEnd(s, i+1)
				if end < 0 {
					return
				}
				m.value, m.quoted = span{i + 1, end}, true
				i = end + 1
			} else {
				end := valueEnd(s, i)
				m.value = span{i, end}
				i = end
			}
			if !yield(m) {
				return
			}
			i = skipSpace(s, i)
			if i >= len(s) || s[i] != ',' {
				return
			}
			i = skipSpace(s, i+1)
		}
	}
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the offset of the quote that ends the string whose content
// starts at s[i], or -1.
func stringEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// valueEnd returns the offset behind the number, word, list or object at s[i].
func valueEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := stringEnd(s, i+1)
			if end < 0 {
				return len(s)
			}
			i = end
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// unquote decodes the content of a JSON string. A final line break is dropped.
func unquote(s string, content span, outer columnMap) (string, columnMap) {
	var text strings.Builder
	m := columnMap{}
	mark := func(at int) { m.runs = append(m.runs, run{text.Len(), outer.column(at), false}) }
	mark(content.start)
	for i := content.start; i < content.end; {
		if s[i] != '\\' || i+1 >= content.end {
			text.WriteByte(s[i])
			i++
			continue
		}
		n := 2
		switch c := s[i+1]; c {
		case 'n':
			text.WriteByte('\n')
		case 't':
			text.WriteByte('\t')
		case 'r', 'b', 'f':
		case 'u':
			n = 6
			if i+n > content.end {
				n = content.end - i
				break
			}
			if v, err := strconv.ParseUint(s[i+2:i+6], 16, 32); err == nil && v >= 0x20 {
				text.WriteRune(rune(v))
			} else if err == nil && v == 0x1b {
				text.WriteByte(0x1b)
			}
		default:
			text.WriteByte(c)
		}
		i += n
		mark(i)
	}
	return strings.TrimSuffix(text.String(), "\n"), m
}
