package cause

import (
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// words says what a condition asks, for `diagnose --why`.
func words(w *signatures.When) string {
	if w == nil {
		return "always"
	}
	switch {
	case w.All != nil:
		return join(w.All, " and ")
	case w.Any != nil:
		return join(w.Any, " or ")
	case w.Not != nil:
		return "not: " + words(w.Not)
	case w.Same != "":
		return fmt.Sprintf("%s has one %s with %d values of %s", w.Message, w.Same, w.AtLeast, w.Distinct)
	case w.Source != "":
		return fmt.Sprintf("a source line of the traceback holds %q", w.Source)
	case w.Version != nil:
		return fmt.Sprintf("%s %s %s", w.Version.Of, w.Version.Op, w.Version.Than)
	case w.Fact != "" && w.Op == "":
		return fmt.Sprintf("%s has %s", w.Message, w.Fact)
	case w.Fact != "" && w.Times != 0:
		return fmt.Sprintf("%s of %s %s %g of %s", w.Fact, w.Message, w.Op, w.Times, w.Than)
	case w.Fact != "":
		return fmt.Sprintf("%s of %s %s %s", w.Fact, w.Message, w.Op, w.Than)
	case w.Message != "":
		return w.Message + " was printed"
	case w.Phase != "":
		return phaseWords[w.Phase]
	case w.Frame != "" || w.Function != "":
		return strings.TrimSpace(fmt.Sprintf("a frame %s in %s", w.Function, w.Frame))
	case w.Text != "":
		return fmt.Sprintf("the line holds %q", w.Text)
	case w.Metric != "":
		return fmt.Sprintf("%s memory is %s", w.Metric, w.Trend)
	case w.Stack != "":
		return w.Stack + " runs"
	case w.Processes != "":
		return w.Processes + " process runs"
	}
	return "a condition"
}

var phaseWords = map[string]string{
	"capture":         "it happened inside a capture",
	"replay":          "it happened in the replay of a graph",
	"captures-seen":   "graphs were captured before",
	"graphs-off":      "the log shows that graphs are off",
	"captures-differ": "ranks captured different numbers of buffers",
}

func join(parts []signatures.When, by string) string {
	var out []string
	for i := range parts {
		text := words(&parts[i])
		if parts[i].Any != nil || parts[i].All != nil {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, by)
}

// answerWord is how an answer stands behind a condition.
func answerWord(a incident.Answer) string {
	switch a {
	case incident.Yes:
		return "holds"
	case incident.No:
		return "does not hold"
	}
	return "the log does not tell"
}
