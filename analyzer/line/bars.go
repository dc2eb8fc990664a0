package line

import "strings"

// splitBars cuts a line where another process's output was glued to the end of
// a tqdm bar, which ends without a line break:
//
//	Capturing CUDA graph shapes:  76%|███▌ | 51/67 [00:19<00:05,  2.61it/s](VllmWorker rank=3 pid=7719) ERROR 07-19 ...
func splitBars(text string) []span {
	var out []span
	start := 0
	for {
		end := barEnd(text[start:])
		if end < 0 || start+end == len(text) {
			return append(out, span{start, len(text)})
		}
		out = append(out, span{start, start + end})
		start += end
	}
}

// barEnd returns the offset behind the first bar in s, or -1.
func barEnd(s string) int {
	bar := strings.Index(s, "%|")
	if bar < 0 {
		return -1
	}
	rate := strings.Index(s[bar:], "it/s")
	if slow := strings.Index(s[bar:], "s/it"); rate < 0 || slow >= 0 && slow < rate {
		rate = slow
	}
	if rate < 0 {
		return -1
	}
	end := strings.IndexByte(s[bar+rate:], ']')
	if end < 0 {
		return -1
	}
	return bar + rate + end + 1
}
