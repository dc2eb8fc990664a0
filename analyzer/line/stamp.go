package line

import (
	"strings"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Stamp is a printed time that is parsed only when it is asked for: most lines
// of a log are never compared.
type Stamp struct {
	Text string
	form form
}

type form byte

const (
	formNone form = iota
	formISO
	formGlog
	formC10d
	formShort // 07-19 02:44:22
	formCtime
	formTRT
	formSyslog
	formUptime
)

func formFor(s string) form {
	switch {
	case len(s) >= 10 && s[4] == '-' && s[7] == '-':
		return formISO
	case len(s) >= 8 && s[2] == '-' && s[5] == ' ':
		return formShort
	case len(s) >= 10 && s[2] == '/' && s[5] == '/':
		return formTRT
	case len(s) == len(time.Stamp) && s[3] == ' ':
		return formSyslog
	case len(s) == len(time.ANSIC):
		return formCtime
	}
	return formUptime
}

// Time parses the stamp. It is nil if the line has none or it reads as nothing.
func (s Stamp) Time() *incident.Time {
	t := &incident.Time{Text: s.Text, Clock: incident.Wall, Granularity: 1}
	var layouts []string
	text := s.Text
	switch s.form {
	case formNone:
		return nil
	case formISO:
		text = strings.Replace(text, " ", "T", 1)
		text = strings.Replace(text, ",", ".", 1)
		layouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"}
		t.Granularity = fraction(text)
	case formGlog, formC10d:
		if strings.IndexByte(text, ' ') == 3 { // the month is not padded: E624 is 24 June
			text = "0" + text
		}
		layouts = []string{"0102 15:04:05"}
		if s.form == formGlog {
			t.Granularity = fraction(text)
		} else if dot := strings.IndexByte(text, '.'); dot > 0 {
			text = text[:dot]
		}
	case formShort:
		text = strings.Replace(text, ",", ".", 1)
		layouts = []string{"01-02 15:04:05"}
		t.Granularity = fraction(text)
	case formCtime:
		layouts = []string{time.ANSIC}
	case formSyslog:
		layouts = []string{time.Stamp}
	case formTRT:
		layouts = []string{"01/02/2006-15:04:05"}
	case formUptime:
		t.Clock = incident.Monotonic
		return t
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			at = at.UTC()
			t.At = &at
			return t
		}
	}
	t.Clock = incident.ClockUnknown
	return t
}

// fraction returns the size of the last digit of a time, in seconds.
func fraction(s string) float64 {
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 {
		return 1
	}
	g := 1.0
	for i := dot + 1; i < len(s) && isDigit(s[i]); i++ {
		g /= 10
	}
	return g
}

// timeLength returns the length of the date and time at the start of s:
// "2026-11-28 04:13:22,150", "2026-11-28T04:13:22.150Z", "07-19 02:44:22",
// "11/28/2026-04:13:22". It returns 0 if there is none.
func timeLength(s string) int {
	var n int
	switch {
	case shaped(s, "dddd-dd-dd?dd:dd:dd"):
		if s[10] != ' ' && s[10] != 'T' {
			return 0
		}
		n = len("2006-01-02 15:04:05")
	case shaped(s, "dd-dd dd:dd:dd"):
		n = len("01-02 15:04:05")
	case shaped(s, "dd/dd/dddd-dd:dd:dd"):
		n = len("01/02/2006-15:04:05")
	default:
		return 0
	}
	if n < len(s) && (s[n] == '.' || s[n] == ',') {
		m := n + 1
		for m < len(s) && isDigit(s[m]) {
			m++
		}
		if m > n+1 {
			n = m
		}
	}
	if n < len(s) && s[n] == 'Z' {
		return n + 1
	}
	if shaped(s[n:], "+dd:dd") || shaped(s[n:], "-dd:dd") {
		n += len("+00:00")
	}
	return n
}

// shaped reports whether s starts with the shape: d is a digit, ? is any byte.
func shaped(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		switch c := shape[i]; c {
		case 'd':
			if !isDigit(s[i]) {
				return false
			}
		case '?':
		default:
			if s[i] != c {
				return false
			}
		}
	}
	return true
}

func isClock(s string) bool { return shaped(s, "dd:dd:dd") }
