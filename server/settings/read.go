package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
)

// Section is the name of the settings' object.
const Section = "graphtrap"

// editors are the keys of the section that editors use by themselves.
var editors = []string{"server", "terminal", "trace"}

// SeverityName is the value of collateralSeverity for a severity.
func SeverityName(severity protocol.DiagnosticSeverity) string {
	for name, s := range severities {
		if s == severity {
			return name
		}
	}
	return ""
}

// maxItems bounds the lists of the settings.
const maxItems = 1000

// severities are the values of collateralSeverity.
var severities = map[string]protocol.DiagnosticSeverity{
	"hint":        protocol.DiagnosticSeverityHint,
	"information": protocol.DiagnosticSeverityInformation,
	"warning":     protocol.DiagnosticSeverityWarning,
	"none":        0,
}

// Problem is a key that cannot be used.
type Problem struct {
	// Key names it: "pathMappings[1].to".
	Key string
	// Is tells what it is, by the type of its value, never by the value itself.
	Is string
	// Allowed tells what may stand there.
	Allowed string
}

// String is the problem in one line.
func (p Problem) String() string { return fmt.Sprintf("%s is %s; allowed: %s", p.Key, p.Is, p.Allowed) }

// reader puts one value into settings, and tells what is wrong with it.
type reader func(value json.RawMessage, into *Settings) []Problem

// keys are all settings.
var keys = map[string]reader{
	"rankOfInterest": func(value json.RawMessage, into *Settings) []Problem {
		rank, bad := whole(value, "rankOfInterest", 0, math.MaxInt32)
		if bad == nil {
			n := int(rank)
			into.RankOfInterest = &n
		}
		return bad
	},
	"pathMappings": mappings,
	"suppressions": func(value json.RawMessage, into *Settings) []Problem {
		ids, bad := list(value, "suppressions", func(item json.RawMessage, key string) (string, []Problem) {
			return text(item, key, "the id of a failure or message, such as \"cuda-oom\"")
		})
		if bad == nil {
			into.Suppressions = ids
		}
		return bad
	},
	"signatureFolder": func(value json.RawMessage, into *Settings) []Problem {
		var folder string
		if json.Unmarshal(value, &folder) != nil {
			return wrong("signatureFolder", value, "the path of a folder, or \"\"")
		}
		into.SignatureFolder = folder
		return nil
	},
	"automaticAnalysis": func(value json.RawMessage, into *Settings) []Problem {
		switch strings.TrimSpace(string(value)) {
		case `"on"`, "true":
			into.AutomaticAnalysis = true
		case `"off"`, "false":
			into.AutomaticAnalysis = false
		default:
			return wrong("automaticAnalysis", value, `true or "on", false or "off"`)
		}
		return nil
	},
	"collateralSeverity": func(value json.RawMessage, into *Settings) []Problem {
		var name string
		if json.Unmarshal(value, &name) == nil {
			if severity, ok := severities[name]; ok {
				into.CollateralSeverity = severity
				return nil
			}
		}
		return wrong("collateralSeverity", value, `"hint", "information", "warning" or "none"`)
	},
	"maxDocumentBytes": func(value json.RawMessage, into *Settings) []Problem {
		size, bad := whole(value, "maxDocumentBytes", 1, 1<<40)
		if bad == nil {
			into.MaxDocumentBytes = size
		}
		return bad
	},
	"semanticTokens": func(value json.RawMessage, into *Settings) []Problem {
		var on bool
		if json.Unmarshal(value, &on) != nil {
			return wrong("semanticTokens", value, "true or false")
		}
		into.SemanticTokens = on
		return nil
	},
}

// With returns the settings with those of an object in their place, and the keys of
// it that cannot be used. Nothing at all, null, and keys whose value is null change
// nothing.
func (s Settings) With(object json.RawMessage) (Settings, []Problem) {
	if text := strings.TrimSpace(string(object)); isNull(object) || text == "[]" { // an empty table of Lua's
		return s, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return s, wrong(Section, object, "an object with the keys "+known())
	}
	var bad []Problem
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := members[key]
		read := keys[key]
		switch {
		case slices.Contains(editors, key) || isNull(value):
		case read == nil:
			bad = append(bad, Problem{cut(key), kind(value) + " under an unknown key", "the keys " + known()})
		default:
			bad = append(bad, read(value, &s)...)
		}
	}
	return s, bad
}

// Member is the section inside an object of several; nil if it has none.
func Member(object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members[Section]
}

func isNull(value json.RawMessage) bool {
	text := strings.TrimSpace(string(value))
	return text == "" || text == "null"
}

func known() string { return strings.Join(slices.Sorted(maps.Keys(keys)), ", ") }

// kind names the type of a JSON value.
func kind(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return "no JSON"
	}
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}

func wrong(key string, value json.RawMessage, allowed string) []Problem {
	return []Problem{{key, kind(value), allowed}}
}

func whole(value json.RawMessage, key string, least, most int64) (int64, []Problem) {
	var n float64
	if json.Unmarshal(value, &n) != nil || isNull(value) || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return 0, wrong(key, value, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return int64(n), nil
}

func text(value json.RawMessage, key, what string) (string, []Problem) {
	var s string
	if json.Unmarshal(value, &s) != nil || s == "" {
		return "", wrong(key, value, what)
	}
	return s, nil
}

// list reads a list whose items are all good.
func list[T any](value json.RawMessage, key string, item func(json.RawMessage, string) (T, []Problem)) ([]T, []Problem) {
	var raw []json.RawMessage
	if json.Unmarshal(value, &raw) != nil || len(raw) > maxItems {
		return nil, wrong(key, value, fmt.Sprintf("a list of at most %d", maxItems))
	}
	var all []T
	var bad []Problem
	for i, r := range raw {
		one, wrong := item(r, fmt.Sprintf("%s[%d]", key, i))
		bad = append(bad, wrong...)
		all = append(all, one)
	}
	return all, bad
}

func mappings(value json.RawMessage, into *Settings) []Problem {
	all, bad := list(value, "pathMappings", func(item json.RawMessage, key string) (Mapping, []Problem) {
		const allowed = "an object with the strings from and to"
		var members map[string]json.RawMessage
		if isNull(item) || json.Unmarshal(item, &members) != nil {
			return Mapping{}, wrong(key, item, allowed)
		}
		var m Mapping
		var bad []Problem
		for _, name := range []string{"from", "to"} {
			given, ok := members[name]
			if !ok {
				bad = append(bad, Problem{key + "." + name, "missing", "a path"})
				continue
			}
			path, wrong := text(given, key+"."+name, "a path")
			bad = append(bad, wrong...)
			if name == "from" {
				m.From = path
			} else {
				m.To = path
			}
			delete(members, name)
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			bad = append(bad, Problem{key + "." + cut(name), kind(members[name]) + " under an unknown key", "from and to"})
		}
		return m, bad
	})
	if bad == nil {
		into.PathMappings = all
	}
	return bad
}

// cut keeps a key of the user's from filling a message.
func cut(key string) string {
	if runes := []rune(key); len(runes) > 60 {
		return string(runes[:60]) + "..."
	}
	return key
}
