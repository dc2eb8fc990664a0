package incident

import (
	"fmt"
	"slices"
	"strings"
)

// Ranges prints numbers as ranges: "0-16, 18-63".
func Ranges(numbers []int) string {
	n := slices.Compact(slices.Sorted(slices.Values(numbers)))
	var out []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		switch {
		case j == i:
			out = append(out, fmt.Sprint(n[i]))
		case j == i+1:
			out = append(out, fmt.Sprint(n[i]), fmt.Sprint(n[j]))
		default:
			out = append(out, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}
