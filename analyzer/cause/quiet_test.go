package cause_test

import (
	"fmt"
	"strings"
	"testing"
)

// levels prints the same line with one figure after the other.
func levels(format string, sizes ...float64) string {
	var b strings.Builder
	for i, s := range sizes {
		fmt.Fprintf(&b, format+"\n", i+1, s)
	}
	return b.String()
}

// The table of the logs in which nothing failed, or only a test did.
func TestMemoryThatGrows(t *testing.T) {
	const (
		trap  = "diagnosed cuda-graph-pool-growth; %s; graphs yes, likely"
		open  = "undetermined; %s; graphs undetermined, possible; asks per-pool-bytes"
		quiet = "no_failure_found; graphs undetermined, possible"
	)
	captured := func(reserved, allocated []float64) string {
		var b strings.Builder
		for i, r := range reserved {
			fmt.Fprintf(&b, "captured graph %d | reserved %.2f GiB | allocated %.2f GiB\n", i+1, r, allocated[i])
		}
		return b.String()
	}
	const graphLine = "[graphs] captured signature (%d, 3, 320, 320) in 0.76s\n"
	between := func(format string, reserved ...float64) string {
		var b strings.Builder
		for i, r := range reserved {
			fmt.Fprintf(&b, "Capturing CUDA graph shapes:  50%%|#####     | %d/2000 [00:01<00:01,  2.27it/s]\n", i+1)
			fmt.Fprintf(&b, format+"\n", i+1, r)
		}
		return b.String()
	}
	const sample = "test %[1]d\n[before compile ] alloc: %[2]d.0, reserved: %[3]d.0, max reserved: %[3]d.0\n[after delete] alloc: %[4]d.0, reserved: %[5]d.0, max reserved: %[5]d.0\n"
	var leak strings.Builder
	for i := range 4 {
		fmt.Fprintf(&leak, sample, i, 61*i, 96*i+2, 61*i+61, 96*i+98)
	}
	run(t, []test{
		{"held memory rises at each capture", captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4}), fmt.Sprintf(trap, "rank 0 at line 2")},
		{"no line prints live memory", levels("captured graph %d | reserved %.2f GiB", 10, 14, 18, 22), fmt.Sprintf(trap, "rank 0 at line 2")},
		{"the series begins before the first capture: the rise at that one is healthy", "eager baseline | reserved 6.00 GiB | allocated 4.00 GiB\n" + captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4}), fmt.Sprintf(trap, "rank 0 at line 3")},
		{"one rise at the first capture", captured([]float64{10, 14, 14, 14, 14}, []float64{4, 4, 4, 4, 4}), quiet},
		{"one rise before the first print", captured([]float64{14, 14, 14, 14, 14}, []float64{4, 4, 4, 4, 4}), quiet},
		{"live tensors rise as fast", captured([]float64{10, 14, 18, 22}, []float64{4, 8, 12, 16}), fmt.Sprintf(open, "rank 0 at line 4")},
		{"no capture is mentioned", levels("step %d reserved %.2f GiB", 10, 14, 18, 22), fmt.Sprintf(open, "rank 0 at line 4")},
		{"live tensors rise at steps", levels("step %[1]d reserved %.2[2]f GiB allocated %.2[2]f GiB", 10, 14, 18, 22), fmt.Sprintf(open, "rank 0 at line 4")},
		{"it rises, and then it stays", levels("step %d reserved %.2f GiB", 10, 14, 18, 22, 22, 22, 22), quiet},
		{"it creeps while the run warms up", levels("step %d reserved %.2f GiB", 60, 60.6, 61.2, 61.8), quiet},
		{"it goes up and down with the work", levels("step %d reserved %.2f GiB", 10, 20, 10, 20, 10, 20), quiet},
		{"a start passes many places once", "after model: reserved 10.0 GiB\nafter wrap: reserved 14.0 GiB\nafter optimizer: reserved 18.0 GiB\nafter batch: reserved 22.0 GiB\n", quiet},
		{"DeepSpeed's start", strings.Join([]string{
			seeMemory("before creating fp16 partitions", 1, 1), seeMemory("after creating fp16 partitions", 4, 4.5), seeMemory("before initializing optimizer states", 4, 8), seeMemory("after initializing optimizer states", 12, 16),
		}, ""), quiet},
		{"DeepSpeed's steps", seeMemory("after step 1", 4, 10) + seeMemory("after step 2", 4, 14) + seeMemory("after step 3", 4, 18) + seeMemory("after step 4", 4, 22), fmt.Sprintf(open, "rank 0 at line 11")},
		{"DeepSpeed's captures", seeMemory("after capture 1", 4, 10) + seeMemory("after capture 2", 4, 14) + seeMemory("after capture 3", 4, 18) + seeMemory("after capture 4", 4, 22), fmt.Sprintf(trap, "rank 0 at line 5")},
		{"SGLang's start", levels("Capturing batches (bs=%d avail_mem=%.2f GB):  17%%|#7        | 6/35 [00:05<00:24,  1.17it/s]", 40, 38, 36, 34, 32), quiet},
		{"what is left falls at captures", levels("captured bucket %d, avail mem=%.2f GB", 40, 36, 32, 28), fmt.Sprintf(trap, "rank 0 at line 2")},
		{"the driver's free memory falls at steps", levels("step %d torch.cuda.mem_get_info()=(%.0f, 84942979072)", 40e9, 36e9, 32e9, 28e9), fmt.Sprintf(open, "rank 0 at line 4")},
		{"the pools' own counter rises", levels("step %d reserved_bytes_by_private_pools.0_1.all.current: %.0f", 1<<30, 2<<30, 3<<30, 4<<30), fmt.Sprintf(trap, "rank 0 at line 2")},
		{"captures stand between the prints, live memory stays", between("step %d reserved %.2f GiB allocated 4.00 GiB", 10, 14, 18, 22), fmt.Sprintf(trap, "rank 0 at line 4")},
		{"captures stand between the prints, live memory is not printed", between("step %d reserved %.2f GiB", 10, 14, 18, 22), fmt.Sprintf(open, "rank 0 at line 8")},
		{"a test that asserts on memory, without a unit", leak.String(), fmt.Sprintf(open, "rank 0 at line 12")},
		{"GB and GiB do not compare", "step 1 reserved 10.0 GiB\nstep 2 reserved 11.0 GB\nstep 3 reserved 12.0 GiB\nstep 4 reserved 13.0 GB\nstep 5 reserved 14.0 GiB\n", quiet},
		{"a card's memory is anybody's", levels("|    %d   N/A  N/A      4242      C   python   %.0fMiB |", 10000, 20000, 30000, 40000), quiet},
		{"one rank of two grows", rank(0, captured([]float64{10, 10, 10, 10}, []float64{4, 4, 4, 4})) + rank(1, captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4})), fmt.Sprintf(trap, "rank 1 at line 6")},
		{"both ranks grow: none is the first", rank(0, captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4})) + rank(1, captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4})), fmt.Sprintf(trap, "nobody at line 2 and rank 1 at line 6")},
		{"a rank that is not known", "[rank0]: x\n[rank1]: x\n" + captured([]float64{10, 14, 18, 22}, []float64{4, 4, 4, 4}), "undetermined cuda-graph-pool-growth; nobody at line 4; graphs yes, likely; asks rank-map"},
		{"a warning tells more than memory that rises", warning + levels("step %d reserved %.2f GiB", 10, 14, 18, 22), "undetermined cuda-graph-recapture-dynamic-shapes; rank 0 at line 1; graphs undetermined, likely; asks reserved-over-steps"},
		{"captures without memory", fmt.Sprintf(strings.Repeat(graphLine, 4), 1, 2, 3, 4), quiet},
	})
}

const warning = "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size. Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes. Please consider the following options for better performance: a) padding inputs to a few fixed number of shapes; or b) set torch._inductor.config.triton.cudagraph_skip_dynamic_graphs=True. Set torch._inductor.config.triton.cudagraph_dynamic_shape_warn_limit=None to silence this warning.\n"

// seeMemory is a report of DeepSpeed.
func seeMemory(title string, ma, ca float64) string {
	const head = "[2026-09-22 10:11:04,120] [INFO] [utils.py:781:see_memory_usage] "
	return head + title + "\n" + fmt.Sprintf("%sMA %g GB         Max_MA %g GB         CA %g GB         Max_CA %.0f GB \n", head, ma, ma, ca, ca) + head + "CPU Virtual Memory:  used = 36.79 GB, percent = 3.7%\n"
}

// What the verdict says out loud.
func TestGrowthSays(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"held", levels("captured graph %d | reserved %.2f GiB | allocated 4.00 GiB", 10, 14, 18, 22), "reserved memory rose at each of 3 captures, from 10.00 GiB to 22.00 GiB, while live memory did not"},
		{"live memory is not printed", levels("captured graph %d | reserved %.2f GiB", 10, 14, 18, 22), "reserved memory rose at each of 3 captures, from 10.00 GiB to 22.00 GiB; no line prints live memory"},
		{"what is left", levels("captured bucket %d, avail mem=%.2f GB", 40, 36, 32, 28), "available memory fell at each of 3 captures, from 40.00 GiB to 28.00 GiB; no line prints live memory"},
		{"live", levels("step %[1]d reserved %.2[2]f GiB allocated %.2[2]f GiB", 10, 14, 18, 22), "live tensors rose with it, from 10.00 GiB to 22.00 GiB: memory in use grows, not what graph pools hold idle"},
		{"no capture", levels("step %d reserved %.2f GiB", 10, 14, 18, 22), "reserved memory rose at 3 readings, from 10.00 GiB to 22.00 GiB"},
		{"no unit", levels("step %[1]d memory_reserved: %.1[2]f", 10, 14, 18, 22), "reserved memory rose at 3 readings, from 10.0 to 22.0 (no unit is printed)"},
	}
	for _, tt := range tests {
		v := diagnose(t, tt.log).Verdict
		var said []string
		for _, e := range v.Evidence {
			said = append(said, e.Says)
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, tt.want) {
			t.Errorf("%s: the evidence is\n%s\nwant\n%s", tt.name, all, tt.want)
		}
	}
}

// The missing fact names the steps to look at.
func TestGrowthAsksAtSteps(t *testing.T) {
	v := diagnose(t, levels("step %d reserved %.2f GiB", 10, 14, 18, 22)).Verdict
	if want := "at step 4 and at step 104"; !strings.HasSuffix(v.MissingFact.Fact, want) {
		t.Errorf("%q does not end in %q", v.MissingFact.Fact, want)
	}
}
