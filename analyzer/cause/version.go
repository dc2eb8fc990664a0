package cause

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// version compares the versions that the run's messages print. Two of them that
// give different answers decide nothing.
func (q *Inquiry) version(v *signatures.Version) proof {
	result := proof{holds: incident.Unknown}
	for _, e := range q.Run.Events {
		f, ok := e.Facts[v.Fact()]
		if !ok {
			continue
		}
		p := proven(compareVersions(f.Text, v.Op, v.Than), e.At.Location(), "")
		if result.at != nil && result.holds != p.holds {
			return proof{holds: incident.Unknown}
		}
		result = p
	}
	return result
}

// versionText is how programs print versions: "2.6.0+cu124", "0.11.1rc2.dev3",
// "0.4.6.post5", "2.4.0a0+07cecf4".
var versionText = regexp.MustCompile(`^v?(\d{1,9}(?:\.\d{1,9})*)[.-]?((?:a|b|rc|dev)\d*)?`)

// compareVersions compares a printed version with a release. What comes before
// the very release compared with, such as a release candidate of it, may or may
// not have what the release has.
func compareVersions(printed, op, release string) incident.Answer {
	m := versionText.FindStringSubmatch(printed)
	if m == nil {
		return incident.Unknown
	}
	a, b := strings.Split(m[1], "."), strings.Split(release, ".")
	order := 0
	for i := 0; i < max(len(a), len(b)) && order == 0; i++ {
		order = cmp.Compare(part(a, i), part(b, i))
	}
	if order == 0 && m[2] != "" {
		return incident.Unknown
	}
	x := float64(order)
	return compareIntervals(x, x, op, 0, 0)
}

// part is the nth number of a version; versions that are shorter end in zeros.
func part(version []string, n int) int {
	if n >= len(version) {
		return 0
	}
	number, _ := strconv.Atoi(version[n])
	return number
}
