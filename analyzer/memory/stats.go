package memory

import (
	"regexp"
	"strconv"
	"strings"
)

// Counters of PyTorch's allocator under the names of torch.cuda.memory_stats(),
// and what the trainers make of them.

var (
	// {'DeviceStatsMonitor.on_train_batch_end/reserved_bytes.all.current': 20971520.0, ...}
	// reserved_bytes.all.current: 20971520
	statsLevel = regexp.MustCompile(`(?:^|[^a-z_])(reserved|allocated)_bytes\.all\.current["']?\s{0,2}[:=]\s{0,4}(\d+)(?:\.0*)?(?:$|[^\d.e])`)
	// 'reserved_bytes_by_private_pools.0_2.all.current': 2277507072
	statsPool = regexp.MustCompile(`reserved_bytes_by_private_pools\.\d+_\d+\.all\.current["']?\s{0,2}[:=]\s{0,4}(\d+)(?:\.0*)?(?:$|[^\d.e])`)

	//   train_mem_gpu_alloc_delta   =      693MB
	// {'train_mem_gpu_alloc_delta': 726663168, 'train_mem_gpu_peaked_delta': 1048576, ...}
	trainerDelta = regexp.MustCompile(`\b(?:init|train|eval|test|predict)_mem_gpu_alloc_delta["']?\s*[=:]\s*(-?\d[\d,]*)\s?(MB|)(?:$|[^\w.])`)
)

// memoryStats reads counters; the pools of graphs have one each and are summed.
func memoryStats(_ *Reader, f *figures) bool {
	found := false
	for _, m := range statsLevel.FindAllStringSubmatch(f.text, -1) {
		f.size(Metric(m[1]), m[2], "bytes")
		found = true
	}
	sum := int64(0)
	pools := statsPool.FindAllStringSubmatch(f.text, -1)
	for _, m := range pools {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > MaxSize {
			return found
		}
		sum += n
	}
	if len(pools) > 0 {
		f.size(PrivatePools, strconv.FormatInt(sum, 10), "bytes")
		found = true
	}
	return found
}

// transformers reads what a stage of the Trainer allocated: one value a stage.
func transformers(_ *Reader, f *figures) bool {
	m := trainerDelta.FindStringSubmatch(f.text)
	if m == nil {
		return false
	}
	unit := "bytes"
	if m[2] != "" {
		unit = m[2]
	}
	if strings.TrimLeft(m[1], "-0,") != "" || unit != "bytes" {
		f.size(AllocatedDelta, m[1], unit)
	}
	return true
}
