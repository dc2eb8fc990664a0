package render

import (
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// why prints how the verdict was reached: every step with its line, what the
// failure's description looks for, who else was considered and why they lost.
func (t *page) why(v *incident.Verdict) {
	if len(v.Reasoning) > 0 {
		t.blank()
		t.line(t.color(bold, "How this was decided"))
		rule := ""
		for _, r := range v.Reasoning {
			if r.Rule != rule {
				rule = r.Rule
				t.line("  " + rule)
			}
			t.hanging("    ", 6, r.Says+t.behind(r.Says, r.Location))
		}
	}
	if len(v.Checklist) > 0 {
		t.blank()
		t.line(t.color(bold, "What was looked for"))
		for _, c := range v.Checklist {
			t.hanging(fmt.Sprintf("  %-12s ", c.State), 15, c.Item+t.behind(c.Item, c.Location))
		}
	}
	if len(v.Rivals) > 0 {
		t.blank()
		t.line(t.color(bold, "Who else was considered"))
		for _, r := range v.Rivals {
			t.hanging("  ", 4, rival(r)+": "+r.WhyNot+t.behind(r.WhyNot, r.Location))
		}
	}
	t.suffered(v)
}

// suffered lists who only fell with it, those of one line together.
func (t *page) suffered(v *incident.Verdict) {
	if len(v.Collateral) == 0 {
		return
	}
	t.blank()
	t.line(t.color(bold, "Who only suffered"))
	shown := 0
	for i := 0; i < len(v.Collateral); {
		c := v.Collateral[i]
		var ranks []int
		j := i
		for ; j < len(v.Collateral) && v.Collateral[j].Location.Offset == c.Location.Offset && v.Collateral[j].Location.File == c.Location.File; j++ {
			if r := v.Collateral[j].Rank; r != nil {
				ranks = append(ranks, *r)
			}
		}
		if shown == maxSuffered {
			t.line(fmt.Sprintf("  and %d more in --format json", len(v.Collateral)-i))
			return
		}
		shown++
		t.hanging("  ", 4, sufferers(ranks)+": "+c.Signature+t.behind("", &c.Location))
		i = j
	}
}

// maxSuffered bounds the victims listed one by one.
const maxSuffered = 64

// behind is the line that something rests on, where the words do not name it.
func (t *page) behind(says string, at *incident.Location) string {
	if at == nil {
		return ""
	}
	place := "line " + t.place(*at)
	if strings.Contains(says+" ", place+" ") || strings.Contains(says, place+";") || strings.Contains(says, place+",") {
		return ""
	}
	return " (" + place + ")"
}

func rival(r incident.Rival) string {
	if r.Rank != nil {
		return fmt.Sprintf("rank %d, %s", *r.Rank, r.Signature)
	}
	return r.Signature
}

func sufferers(ranks []int) string {
	switch len(ranks) {
	case 0:
		return "a process without a rank"
	case 1:
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + incident.Ranges(ranks)
}
