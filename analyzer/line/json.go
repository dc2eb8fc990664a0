package line

import (
	"strconv"
	"strings"
)

// unwrapJSON replaces the text of a JSON log record by its message, and reads who
// and when from its other members. Docker's json-file lines are such records, and
// so are those of most structured loggers, of collectors and of what exports them:
//
//	{"log": "[rank1]: Traceback ...\n", "stream": "stderr", "time": "2026-11-23T08:14:44.400000000Z"}
//	{"timestamp": "2026-11-23T08:14:44Z", "level": "ERROR", "rank": 3, "message": "step failed", "exc_info": "Traceback ..."}
//	{"date": 1773741603.0, "log": "[rank11]: ...", "kubernetes": {"pod_name": "moe-worker-0", ...}}            Fluent Bit
//	{"labels": {"pod": "tts-worker-1", ...}, "line": "[rank4]: ...", "timestamp": "2026-04-14T19:06:07Z"}      Loki
//	{"jsonPayload": {"message": "[rank9]: ...", "levelname": "ERROR", ...}, "severity": "ERROR", ...}          Google Cloud
//	,{"stream_name": "stderr", "time": 513.08, "data": "RuntimeError: ...\n"}                                  Kaggle
//
// A record without a message, such as a line of metrics, is left as it is, but its
// rank is read. extra is the text of a traceback in a member of its own.
func unwrapJSON(p *Piece) (extra *Piece, ok bool) {
	s := p.Text
	if len(s) > 2 && (s[0] == '[' || s[0] == ',') && s[1] == '{' && s[2] == '"' {
		p.cut(1) // a list of records, one on each line
		s = p.Text
	}
	if len(s) < 2 || s[0] != '{' || s[1] != '"' && s[1] != ' ' {
		return nil, false
	}
	r := record{piece: p, text: s}
	for m := range members(s) {
		r.read(m)
	}
	message := r.message
	if message.end == 0 {
		message = r.perhaps
	}
	if message.end == 0 && r.trace.end == 0 {
		return nil, false
	}
	if r.collected && p.Level == 'I' {
		p.Level = 0 // the collector's word for standard output
	}
	outer := p.columns
	if message.end > 0 {
		p.Text, p.columns = unquote(s, message, outer)
	}
	if r.trace.end > 0 {
		e := *p
		e.Text, e.columns = unquote(s, r.trace, outer)
		if message.end == 0 {
			*p = e
			return nil, true
		}
		return &e, true
	}
	return nil, true
}

// record is what is read of a JSON log record.
type record struct {
	piece *Piece
	text  string
	// message is the text of the record, perhaps a member that is one in some records
	// only, trace a traceback of its own.
	message, perhaps, trace span
	// collected: a collector wrapped what a program printed.
	collected bool
}

func (r *record) read(m member) {
	p, s := r.piece, r.text
	switch name := strings.ToLower(m.name); name {
	case "log", "message", "msg", "event", "text", "textpayload", "@message":
		if m.quoted && r.message.end == 0 {
			r.message = m.value
		}
		r.collected = r.collected || name == "textpayload"
	case "line", "data", "body", "content":
		if m.quoted && r.perhaps.end == 0 {
			r.perhaps = m.value
		}
	case "exc_info", "exception", "traceback", "stack_trace", "stacktrace", "exc_text":
		if m.quoted {
			r.trace = m.value
		}
	case "stream", "stream_name":
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
		if n := m.count(s); n != nil {
			p.Origin.Rank, p.Origin.RankFrom = n, "logger's rank"
		}
	case "process_index":
		if n := m.count(s); n != nil && p.Origin.Rank == nil {
			p.Origin.Rank, p.Origin.RankFrom = n, "logger's process index"
		}
	case "local_rank":
		if n := m.count(s); n != nil {
			p.Origin.LocalRank = n
		}
	case "pid", "process_id":
		if n := m.count(s); n != nil {
			p.Origin.PID = n
		}
	case "host", "hostname", "node":
		p.Origin.Host = m.word(s)
	case "jsonpayload": // Google Cloud's: the program's own record, or what its agent made of a line
		r.collected = true
		for inner := range m.members(s) {
			r.read(inner)
		}
	case "kubernetes", "labels", "attrs", "resource":
		r.place(m)
	case "fields": // Rust's tracing: {"level": "ERROR", "fields": {"message": "..."}, "span": {"rank": 1}}
		for inner := range m.members(s) {
			if inner.name == "message" && inner.quoted && r.message.end == 0 {
				r.message = inner.value
			}
		}
	case "span":
		for inner := range m.members(s) {
			if n := inner.count(s); inner.name == "rank" && n != nil && p.Origin.Rank == nil {
				p.Origin.Rank, p.Origin.RankFrom = n, "logger's span"
			}
		}
	}
}

// place reads which pod, or which replica of a job, a collector took a line from:
// for the ranks on it that is the host.
func (r *record) place(m member) {
	for inner := range m.members(r.text) {
		switch inner.name {
		case "pod", "pod_name", "tag", "task_name":
			if inner.quoted && r.piece.Origin.Host == "" {
				r.piece.Origin.Host = inner.word(r.text)
			}
		case "labels":
			r.place(inner)
		}
	}
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

// count is the value if it is a whole number from 0 on, else nil.
func (m member) count(s string) *int {
	n, err := strconv.Atoi(m.word(s))
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

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
