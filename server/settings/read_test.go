package settings_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server/settings"
)

func TestEverySetting(t *testing.T) {
	rank := 3
	got, bad := settings.Default().With(json.RawMessage(`{
		"rankOfInterest": 3, "pathMappings": [{"from": "/app", "to": "src"}], "suppressions": ["cuda-oom"], "signatureFolder": "sigs",
		"automaticAnalysis": "off", "collateralSeverity": "none", "maxDocumentBytes": 1e6, "semanticTokens": true,
		"server": {"path": "x"}, "trace": {"server": "off"}, "terminal": {"capture": true}
	}`))
	want := settings.Settings{
		RankOfInterest: &rank, PathMappings: []settings.Mapping{{From: "/app", To: "src"}}, Suppressions: []string{"cuda-oom"},
		SignatureFolder: "sigs", MaxDocumentBytes: 1_000_000, SemanticTokens: true,
	}
	if len(bad) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v and %v", got, bad)
	}
	again, bad := got.With(json.RawMessage(`{"rankOfInterest": null, "automaticAnalysis": true, "collateralSeverity": "warning", "suppressions": []}`))
	if len(bad) > 0 || again.RankOfInterest == nil || !again.AutomaticAnalysis || again.CollateralSeverity != protocol.DiagnosticSeverityWarning || len(again.Suppressions) > 0 {
		t.Errorf("laid over it: %+v and %v", again, bad)
	}
	for _, nothing := range []string{"", "null", "{}", " null ", "[]"} {
		if same, bad := got.With(json.RawMessage(nothing)); len(bad) > 0 || !reflect.DeepEqual(same, got) {
			t.Errorf("%q changes something: %+v %v", nothing, same, bad)
		}
	}
}

// A key that cannot be used keeps its value, and is told of without the value.
func TestWrongSettings(t *testing.T) {
	for object, want := range map[string]string{
		`[1]`:                          `graphtrap is a list; allowed: an object with the keys automaticAnalysis, `,
		`"secret"`:                     `graphtrap is a string; `,
		`{"rankOfInterest": "secret"}`: `rankOfInterest is a string; allowed: a whole number from 0 to 2147483647`,
		`{"rankOfInterest": 1.5}`:      `rankOfInterest is a number; `,
		`{"rankOfInterest": -1}`:       `rankOfInterest is a number; `,
		`{"pathMappings": {}}`:         `pathMappings is an object; allowed: a list of at most 1000`,
		`{"pathMappings": ["secret", {"from": 1, "too": "secret"}]}`: `pathMappings[0] is a string; allowed: an object with the strings from and to` +
			"\n" + `pathMappings[1].from is a number; allowed: a path` + "\n" + `pathMappings[1].to is missing; allowed: a path` +
			"\n" + `pathMappings[1].too is a string under an unknown key; allowed: from and to`,
		`{"pathMappings": [null]}`:                `pathMappings[0] is null; `,
		`{"suppressions": ["cuda-oom", 5, ""]}`:   `suppressions[1] is a number; allowed: the id of a failure or message, such as "cuda-oom"` + "\nsuppressions[2] is a string; ",
		`{"suppressions": "secret"}`:              `suppressions is a string; allowed: a list`,
		`{"signatureFolder": true}`:               `signatureFolder is a boolean; allowed: the path of a folder, or ""`,
		`{"automaticAnalysis": "secret"}`:         `automaticAnalysis is a string; allowed: true or "on", false or "off"`,
		`{"collateralSeverity": "secret"}`:        `collateralSeverity is a string; allowed: "hint", "information", "warning" or "none"`,
		`{"collateralSeverity": 4}`:               `collateralSeverity is a number; `,
		`{"maxDocumentBytes": 0}`:                 `maxDocumentBytes is a number; allowed: a whole number from 1 to 1099511627776`,
		`{"maxDocumentBytes": 1e300}`:             `maxDocumentBytes is a number; `,
		`{"semanticTokens": "true"}`:              `semanticTokens is a string; allowed: true or false`,
		`{"colour": "secret"}`:                    `colour is a string under an unknown key; allowed: the keys automaticAnalysis, `,
		`{"` + strings.Repeat("x", 99) + `": []}`: strings.Repeat("x", 60) + `... is a list under an unknown key; `,
	} {
		got, bad := settings.Default().With(json.RawMessage(object))
		if !reflect.DeepEqual(got, settings.Default()) {
			t.Errorf("%s: something was taken: %+v", object, got)
		}
		var told []string
		for _, p := range bad {
			told = append(told, p.String())
		}
		wants := strings.Split(want, "\n")
		if len(told) != len(wants) {
			t.Errorf("%s: told %q", object, told)
			continue
		}
		for i := range wants {
			if !strings.HasPrefix(told[i], wants[i]) || strings.Contains(told[i], "secret") {
				t.Errorf("%s: told %q, want %q", object, told[i], wants[i])
			}
		}
	}
}

func TestAWrongKeyDoesNotKeepTheOthersOut(t *testing.T) {
	got, bad := settings.Default().With(json.RawMessage(`{"semanticTokens": 1, "suppressions": ["xid"], "rankOfInterest": 2}`))
	if len(bad) != 1 || len(got.Suppressions) != 1 || got.RankOfInterest == nil || got.SemanticTokens {
		t.Errorf("got %+v and %v", got, bad)
	}
}

func TestMember(t *testing.T) {
	for object, want := range map[string]string{
		`{"graphtrap": {"a": 1}, "other": 2}`: `{"a": 1}`, `{"other": 2}`: "", `[1]`: "", ``: "", `{"graphtrap": null}`: "null",
	} {
		if got := string(settings.Member(json.RawMessage(object))); got != want {
			t.Errorf("%s: %q", object, got)
		}
	}
}

func TestMap(t *testing.T) {
	s := settings.Settings{PathMappings: []settings.Mapping{
		{From: "/app", To: "/home/me/app"}, {From: "/app/src/", To: "/home/me/src/"}, {From: `C:\jobs`, To: "/mnt/jobs"}, {From: "/", To: "/root"},
	}}
	for path, want := range map[string]string{
		"/app/src/train.py": "[/home/me/src/train.py /home/me/app/src/train.py /root/app/src/train.py]",
		"/application/x.py": "[/root/application/x.py]",
		"/app":              "[/home/me/app /root/app]",
		`C:\jobs\a\b.py`:    "[/mnt/jobs/a/b.py]",
		"relative.py":       "[]",
	} {
		if got := fmt.Sprint(s.Map(path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestScopes(t *testing.T) {
	sized := func(n int64) settings.Settings { return settings.Settings{MaxDocumentBytes: n} }
	scopes := settings.Scopes{Everywhere: sized(1), Folders: map[uri.URI]settings.Settings{
		"file:///a": sized(2), "file:///a/b/": sized(3), "untitled:x": sized(4),
	}}
	for key, want := range map[uri.URI]int64{
		"": 1, "file:///c": 1, "file:///a": 2, "file:///a/x.log": 2, "file:///ab/x.log": 1, "file:///a/b/x.log": 3, "untitled:x": 4, "untitled:xy": 1,
	} {
		if got := scopes.For(key).MaxDocumentBytes; got != want {
			t.Errorf("%s has the settings of %d, want %d", key, got, want)
		}
	}
}

func TestSeverityNames(t *testing.T) {
	var names []string
	for _, severity := range []protocol.DiagnosticSeverity{0, protocol.DiagnosticSeverityWarning, protocol.DiagnosticSeverityInformation, protocol.DiagnosticSeverityHint, protocol.DiagnosticSeverityError} {
		names = append(names, settings.SeverityName(severity))
	}
	if !slices.Equal(names, []string{"none", "warning", "information", "hint", ""}) {
		t.Errorf("names %q", names)
	}
}

func FuzzWith(f *testing.F) {
	f.Add(`{"pathMappings": [{"from": "a", "to": "b"}], "rankOfInterest": 1}`)
	f.Add(`{"suppressions": [null, 1]}`)
	f.Fuzz(func(t *testing.T, object string) {
		got, _ := settings.Default().With(json.RawMessage(object))
		if got.MaxDocumentBytes < 1 || got.RankOfInterest != nil && *got.RankOfInterest < 0 {
			t.Errorf("%q gives %+v", object, got)
		}
	})
}
