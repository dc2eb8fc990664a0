package memory

import "testing"

// The lines that healthy logs hold most of.
func BenchmarkRead(b *testing.B) {
	for name, raw := range map[string]string{
		"megatron":  "[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0",
		"printed":   "2026-10-14 08:00:02,120 | INFO | memory.py:31 | step=12 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=6",
		"sglang":    "Capturing batches (bs=48 avail_mem=40.33 GB):  17%|#7        | 6/35 [00:05<00:24,  1.17it/s]",
		"traceback": `    torch.cuda.memory._dump_snapshot(reserved_path)`,
		"nothing":   "2026-10-14 08:00:02,120 | INFO | train.py:31 | step 12 loss 2.31 lr 0.0001 grad norm 0.3",
	} {
		b.Run(name, func(b *testing.B) {
			var r Reader
			p := placed(raw, 1)
			b.ReportAllocs()
			for b.Loop() {
				r.Read(p)
			}
		})
	}
}
