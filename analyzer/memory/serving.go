package memory

import (
	"regexp"
	"strings"
)

// What servers print while they start. Both capture a known set of sizes into
// one pool, the largest first.

var (
	// Capturing batches (bs=48 avail_mem=40.33 GB):  17%|...
	// Capture cuda graph begin. This can take up to several minutes. avail mem=3.50 GB
	sglangLeft = regexp.MustCompile(`avail[_ ]mem=(-?\d+(?:\.\d+)?) ?GB`)
	// Capture cuda graph end. Time elapsed: 12.31 s. mem usage=1.20 GB. avail mem=8.70 GB.
	sglangTook = regexp.MustCompile(`mem usage=(-?\d+(?:\.\d+)?) ?GB`)

	// Graph capturing finished in 21 secs, took 0.62 GiB
	vllmTook = regexp.MustCompile(`Graph capturing finished in \d+(?:\.\d+)? secs?, took (-?\d+(?:\.\d+)?) GiB`)
	// Estimated CUDA graph memory: 1.84 GiB total
	vllmEstimate = regexp.MustCompile(`Estimated CUDA graph memory: (-?\d+(?:\.\d+)?) GiB total`)
	// CUDA graph pool memory: 2.10 GiB (actual), 1.84 GiB (estimated), difference: 0.26 GiB (12.4%).
	vllmPool = regexp.MustCompile(`CUDA graph pool memory: (-?\d+(?:\.\d+)?) GiB \(actual\), (-?\d+(?:\.\d+)?) GiB \(estimated\)`)
	// Available KV cache memory: -41.07 GiB
	vllmCache = regexp.MustCompile(`Available KV cache memory: (-?\d+(?:\.\d+)?) GiB`)
)

// sglangStart are the lines of its start, as against what people print with its name.
//
//	Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=22.10 GB, mem usage=55.91 GB.
//	Memory pool end. avail mem=8.41 GB
var sglangStart = []string{"Capturing batches", "graph begin.", "graph end.", "weight begin.", "weight end.", "pool begin.", "pool end."}

func sglang(_ *Reader, f *figures) bool {
	m := lastMatch(sglangLeft, f.text)
	if m == nil {
		return false
	}
	f.shared = holdsAny(f.text, sglangStart)
	f.size(Available, m[1], "GB")
	if took := sglangTook.FindStringSubmatch(f.text); took != nil && strings.Contains(f.text, "graph end.") {
		f.size(Taken, took[1], "GB")
	}
	return true
}

// vllm reads what the captures took, as a difference of the memory that the driver
// has left: other processes and the driver's own graphs are in it.
func vllm(_ *Reader, f *figures) bool {
	f.shared = true
	if m := vllmTook.FindStringSubmatch(f.text); m != nil {
		f.size(Taken, m[1], "GiB")
	}
	if m := vllmEstimate.FindStringSubmatch(f.text); m != nil {
		f.size(Estimated, m[1], "GiB")
	}
	if m := vllmPool.FindStringSubmatch(f.text); m != nil {
		f.size(PrivatePools, m[1], "GiB")
		f.size(Estimated, m[2], "GiB")
	}
	if m := vllmCache.FindStringSubmatch(f.text); m != nil {
		f.size(KVCache, m[1], "GiB")
	}
	return true
}
