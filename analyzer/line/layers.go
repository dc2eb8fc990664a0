package line

import (
	"strconv"
	"strings"
)

// The layers: each reads one shape of prefix at the start of s, stores what it says
// in p and returns its length, or returns 0. Above each stand real lines.

// [rank3]: Traceback (most recent call last):
// [rank3]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] ...
func outerRank(p *Piece, s string) int {
	n, i := numbered(s, "[rank", "]:")
	if i == 0 {
		return 0
	}
	// Two processes can be named on one line only where they nest: the same
	// rank from torchrun's template and from PyTorch. The inner one is
	// PyTorch's own and is the global rank.
	p.Origin.Rank, p.Origin.RankFrom = &n, "outer prefix"
	return i + blank(s[i:])
}

// [default2]:step 10 loss 6.912
// [trainer0]:...
func localRank(p *Piece, s string) int {
	i := 1
	for i < len(s) && isWordByte(s[i]) && !isDigit(s[i]) {
		i++
	}
	if i == 1 || i > 32 || strings.EqualFold(s[1:i], "rank") {
		return 0
	}
	n, j := numbered(s, s[:i], "]:")
	if j == 0 {
		return 0
	}
	p.Origin.LocalRank = &n
	return j
}

// [3]:step 10 loss 6.912
//
// torchrun with TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[${rank}]:'. A bare
// "[0]:" alone on its line is an entry of torchrun's failure table.
func templateRank(p *Piece, s string) int {
	n, i := numbered(s, "[", "]:")
	if i == 0 || i == len(s) || s[i] == ' ' {
		return 0
	}
	p.Origin.Rank, p.Origin.RankFrom = &n, "launcher's prefix template"
	return i
}

// [E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 3] Watchdog caught ...
// [E624 22:12:40.310223437 ProcessGroupNCCL.cpp:2057] ...
// [E ProcessGroupNCCL.cpp:457] [Rank 3] ...
// [W CUDAGraph.cpp:145] Warning: ...
func glog(p *Piece, s string) int {
	end := strings.Index(s, "] ")
	if end < 0 {
		if !strings.HasSuffix(s, "]") {
			return 0
		}
		end = len(s) - 1
	}
	if end < 4 || end > 160 {
		return 0
	}
	n := glogHead(p, s[1:end])
	if n == 0 {
		return 0
	}
	return min(end+2, len(s))
}

// W1220 03:44:31.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process ...
// I1118 03:40:02.113000 4102 torch/distributed/launcher/api.py:194] Starting ...
// E1128 04:23:22.305000 torch/distributed/elastic/multiprocessing/api.py:869] failed ...
// E0605 08:13:04.380577 123 backend_model.cc:692] "ERROR: Failed to create instance ...
//
// Triton's server quotes the whole message.
func glogBare(p *Piece, s string) int {
	end := strings.Index(s, "] ")
	if end < 0 {
		if !strings.HasSuffix(s, "]") {
			return 0
		}
		end = len(s) - 1
	}
	if end < 8 || end > 400 || !isDigit(s[1]) {
		return 0
	}
	if glogHead(p, s[:end]) == 0 {
		return 0
	}
	n := min(end+2, len(s))
	if strings.HasPrefix(s[n:], `"`) {
		n++
	}
	return n
}

// glogHead reads "E1125 01:25:02.000218549 [pid] file:line" and returns its
// length if it is one.
func glogHead(p *Piece, s string) int {
	if len(s) < 4 || strings.IndexByte("IWEFVDC", s[0]) < 0 {
		return 0
	}
	fields := strings.Fields(s[1:])
	if len(fields) == 0 || len(fields) > 6 {
		return 0
	}
	source := fields[len(fields)-1]
	colon := strings.LastIndexByte(source, ':')
	if colon <= 0 || !allDigits(source[colon+1:]) || !strings.Contains(source[:colon], ".") {
		return 0
	}
	rest := fields[:len(fields)-1]
	if len(rest) >= 2 && allDigits(rest[0]) && (len(rest[0]) == 3 || len(rest[0]) == 4) && isClock(rest[1]) {
		how := formGlog
		if strings.HasSuffix(source[:colon], ".cpp") || strings.HasSuffix(source[:colon], ".cc") {
			// The digits behind the second are from another clock than the
			// rest: c10d prints CLOCK_MONOTONIC's nanoseconds there.
			how = formC10d
		}
		if p.Stamp.Text == "" {
			p.Stamp = Stamp{Text: rest[0] + " " + rest[1], form: how}
		}
		if len(rest) >= 3 && allDigits(rest[2]) && how == formGlog && p.Origin.PID == nil {
			if pid, err := strconv.Atoi(rest[2]); err == nil {
				p.Origin.PID = &pid
			}
		}
	} else if len(rest) > 0 {
		return 0
	}
	p.Level, p.Source = s[0], source
	return len(s)
}

// [2026-10-30 07:03:54 TP6] Load weight end.
// [2026-10-30 07:02:54 DP1 TP1 EP1] ...
// [2026-11-18 03:44:10] iteration 1/ 500 | ...
// [2026-09-22 10:11:04,120] [INFO] [platform] ...
// [2026-11-12 01:54:57.532908: E /scratch/.../operations.cc:525] Horovod ...
func bracketTime(p *Piece, s string) int {
	end := strings.IndexByte(s, ']')
	if end < 9 || end > 220 {
		return 0
	}
	inner := s[1:end]
	n := timeLength(inner)
	if n == 0 {
		return 0
	}
	labels := strings.TrimPrefix(inner[n:], ":")
	if labels != "" && labels[0] != ' ' {
		return 0
	}
	for _, label := range strings.Fields(labels) {
		parallelLabel(p, label)
	}
	p.setStamp(inner[:n])
	return end + 1 + blank(s[end+1:])
}

// [2026-05-19T08:22:57.171444Z] 5c1f0a7e [rank=1] || INFO: [132] ...
// [2026-05-19T08:26:36.524779Z] 5c1f0a7e || W0519 ...
//
// Determined's logs of a trial name the container, and the rank of a process.
func determined(p *Piece, s string) int {
	before, _, ok := strings.Cut(s[:min(len(s), 120)], "|| ")
	if !ok {
		return 0
	}
	end := strings.IndexByte(before, ']')
	if end < 0 || timeLength(before[1:max(1, end)]) != end-1 {
		return 0
	}
	fields := strings.Fields(before[end+1:])
	if len(fields) == 0 || len(fields) > 2 || len(fields[0]) != 8 || strings.Trim(fields[0], "0123456789abcdef") != "" {
		return 0
	}
	if len(fields) == 2 {
		n, i := numbered(fields[1], "[rank=", "]")
		if i != len(fields[1]) {
			return 0
		}
		p.Origin.Rank, p.Origin.RankFrom = &n, "label of the trial's process"
	}
	p.setStamp(before[1:end])
	return len(before) + len("|| ")
}

// parallelLabel reads SGLang's and vLLM's names for a position in the group:
// TP3, PP0, DP1, EP7. They are kept in the process name and turned into a
// global rank where the whole layout is known.
func parallelLabel(p *Piece, label string) {
	if len(label) < 3 || !allDigits(label[2:]) {
		return
	}
	switch label[:2] {
	case "TP", "PP", "DP", "EP":
		if p.Origin.Process != "" {
			p.Origin.Process += " "
		}
		p.Origin.Process += label
	}
}

// [INFO] [launch.py:272:main] ...
func levelName(p *Piece, s string) int {
	for _, name := range []string{"[INFO]", "[WARNING]", "[ERROR]", "[DEBUG]", "[CRITICAL]", "[I]", "[W]", "[E]"} {
		if strings.HasPrefix(s, name) {
			p.Level = name[1]
			return len(name) + blank(s[len(name):])
		}
	}
	return 0
}

// [pod/trainer-worker-7/pytorch] ...
func podName(p *Piece, s string) int {
	if !strings.HasPrefix(s, "[pod/") {
		return 0
	}
	end := strings.Index(s, "] ")
	if end < 0 || end > 200 {
		return 0
	}
	pod, _, _ := strings.Cut(s[len("[pod/"):end], "/")
	p.Origin.Host = pod
	return end + 2
}

// [TRT-LLM] [RANK 3] [E] ...
// [11/28/2026-04:13:22] [TRT-LLM] [I] ...
func trtllm(p *Piece, s string) int {
	if strings.HasPrefix(s, "[TRT-LLM] ") {
		p.Source = "TRT-LLM"
		return len("[TRT-LLM] ")
	}
	if n, i := numbered(s, "[RANK ", "] "); i > 0 {
		p.Origin.Rank, p.Origin.RankFrom = &n, "logger's rank"
		return i
	}
	return 0
}

// [NeMo E 2026-08-02 11:08:20 train:188 rank:1] ...
// [NeMo W 2026-08-02 11:08:20 nemo_logging:349] ...
func nemo(p *Piece, s string) int {
	if !strings.HasPrefix(s, "[NeMo ") {
		return 0
	}
	end := strings.IndexByte(s, ']')
	if end < 0 || end > 160 {
		return 0
	}
	fields := strings.Fields(s[len("[NeMo "):end])
	if len(fields) < 4 || len(fields[0]) != 1 {
		return 0
	}
	p.Level, p.Source = fields[0][0], fields[3]
	p.setStamp(fields[1] + " " + fields[2])
	for _, f := range fields[4:] {
		if n, i := numbered(f, "rank:", ""); i == len(f) && i > 0 {
			p.Origin.Rank, p.Origin.RankFrom = &n, "logger's rank"
		}
	}
	return end + 1 + blank(s[end+1:])
}

// nemotron_8gpu_perf/0 [rank5]: torch.OutOfMemoryError: ...
//
// NeMo-Run puts the job and the replica in front of what else is a prefix.
func nemoRun(p *Piece, s string) int {
	sp := strings.IndexByte(s, ' ')
	slash := strings.LastIndexByte(s[:max(sp, 0)], '/')
	if slash <= 0 || sp > 120 || !allDigits(s[slash+1:sp]) || strings.IndexByte(s[:slash], '/') >= 0 {
		return 0
	}
	rest := s[sp+1:]
	if !strings.HasPrefix(rest, "[") && glogBare(&Piece{}, rest) == 0 {
		return 0
	}
	return sp + 1
}

// [Thu Mar 11 20:02:51 2021] NVRM: Xid ...
// [12345.678901] NVRM: Xid ...
func kernelTime(p *Piece, s string) int {
	end := strings.Index(s, "] ")
	if end < 0 || !strings.HasPrefix(s[end+2:], "NVRM") && !strings.Contains(s[end+2:min(len(s), end+60)], "oom") && !strings.HasPrefix(s[end+2:], "Out of memory") && !strings.HasPrefix(s[end+2:], "Memory cgroup out of memory") {
		return 0
	}
	p.setStamp(strings.TrimSpace(s[1:end]))
	return end + 2
}

// 2026-05-05T22:09:25.010000000Z stderr F [rank4]: Traceback ...
func criTime(p *Piece, s string) int {
	sp := strings.IndexByte(s, ' ')
	if sp < 20 || sp > 40 || s[10] != 'T' {
		return 0
	}
	for _, stream := range []string{" stdout ", " stderr "} {
		rest := s[sp:]
		if !strings.HasPrefix(rest, stream) || len(rest) < len(stream)+1 {
			continue
		}
		tag := rest[len(stream)]
		if tag != 'F' && tag != 'P' {
			return 0
		}
		p.setStamp(s[:sp])
		p.Origin.Stream = strings.TrimSpace(stream)
		p.Partial = tag == 'P'
		n := sp + len(stream) + 1
		return n + blank(s[n:])
	}
	return 0
}

// 2026-11-28 04:13:22,150 | INFO | dataloader.py:188 | ...
// 2026-07-14 09:31:10,000 INFO  [rank 0] graph entry ...
// 2026-11-28T04:13:22.150Z  INFO text_generation_launcher: ...
// 12-08 15:44:30 epoch 0 step 100/4120 loss 1.7204
func isoTime(p *Piece, s string) int {
	n := timeLength(s)
	if n == 0 {
		return 0
	}
	p.setStamp(s[:n])
	m := n
	for m < len(s) && strings.IndexByte(" |-:", s[m]) >= 0 {
		m++
	}
	if l := levelWord(s[m:]); l > 0 {
		p.Level = s[m]
		n = m + l
		for n < len(s) && strings.IndexByte(" |:", s[n]) >= 0 {
			n++
		}
		return n
	}
	for _, separator := range []string{" | ", " - ", ": ", " "} { // more blanks are the text's own indent
		if strings.HasPrefix(s[n:], separator) {
			return n + len(separator)
		}
	}
	return n
}

// 66.3s	53	-- Process 0 terminated with the following error:
//
// Kaggle counts the seconds and the lines of a committed notebook, with tabs behind.
func kaggle(_ *Piece, s string) int {
	seconds, rest, ok := strings.Cut(s, "s\t")
	if !ok || len(seconds) > 12 || !allDigits(strings.Replace(seconds, ".", "", 1)) {
		return 0
	}
	number, _, ok := strings.Cut(rest, "\t")
	if !ok || !allDigits(number) {
		return 0
	}
	return len(seconds) + len("s\t") + len(number) + len("\t")
}

// gpu-a02:4054:4910 [4] NCCL INFO [Service thread] Connection closed by localRank 1
// gpu-a02:4054:4910 [4] enqueue.cc:1024 NCCL WARN Cuda failure ...
//
// The number in brackets is the device of the calling thread, no rank.
func ncclHost(p *Piece, s string) int {
	sp := strings.IndexByte(s, ' ')
	if sp < 5 || sp > 120 || sp+2 >= len(s) || s[sp+1] != '[' {
		return 0
	}
	parts := strings.Split(s[:sp], ":")
	if len(parts) != 3 || parts[0] == "" || !allDigits(parts[1]) || !allDigits(parts[2]) {
		return 0
	}
	end := strings.IndexByte(s[sp:], ']')
	if end < 0 || !allDigits(s[sp+2:sp+end]) || !strings.Contains(s[sp+end:min(len(s), sp+end+80)], "NCCL ") {
		return 0
	}
	if pid, err := strconv.Atoi(parts[1]); err == nil {
		p.Origin.PID = &pid
	}
	if device, err := strconv.Atoi(s[sp+2 : sp+end]); err == nil {
		p.Origin.Device = &device
	}
	p.Origin.Host = parts[0]
	return sp + end + 1 + blank(s[sp+end+1:])
}

// Thu Nov 12 01:54:27 2026[2]<stderr>:command terminated with exit code 137
func ctimeTag(p *Piece, s string) int {
	const length = len("Thu Nov 12 01:54:27 2026")
	if len(s) <= length || s[length] != '[' || !isClock(s[11:19]) {
		return 0
	}
	if mpiTag(p, s[length:]) == 0 {
		return 0
	}
	p.setStamp(s[:length])
	return length + mpiTag(p, s[length:])
}

// Nov 28 04:13:22 gpu-node-3 trainer[4417]: [rank3]: ...
// Nov  8 04:13:22 gpu-node-3 kernel: NVRM: Xid ...
func syslog(p *Piece, s string) int {
	const length = len("Nov 28 04:13:22")
	if len(s) <= length || s[3] != ' ' || !isClock(s[7:length]) || s[length] != ' ' {
		return 0
	}
	if day := strings.TrimLeft(s[4:6], " "); !allDigits(day) || !strings.Contains("JanFebMarAprMayJunJulAugSepOctNovDec", s[:3]) {
		return 0
	}
	host, rest, ok := strings.Cut(s[length+1:], " ")
	tag, _, tagged := strings.Cut(rest, ": ")
	if !ok || !tagged || host == "" || len(tag) > 60 || strings.Contains(tag, " ") {
		return 0
	}
	if _, number, ok := strings.Cut(strings.TrimSuffix(tag, "]"), "["); ok && allDigits(number) {
		if pid, err := strconv.Atoi(number); err == nil {
			p.Origin.PID = &pid
		}
	}
	p.Origin.Host = host
	p.setStamp(s[:length])
	return length + 1 + len(host) + 1 + len(tag) + 2
}

// ERROR 2025-12-02T06:31:48.301100004Z [resource.labels.containerName: vllm] ...
func cloudSeverity(p *Piece, s string) int {
	n := levelWord(s)
	if n == 0 || n >= len(s) || s[n] != ' ' {
		return 0
	}
	const label = "[resource.labels."
	t := timeLength(s[n+1:])
	if t == 0 || !strings.HasPrefix(s[n+1+t:], " "+label) {
		return 0
	}
	end := strings.Index(s[n+1+t:], "] ")
	if end < 0 {
		return 0
	}
	p.setStamp(s[n+1 : n+1+t])
	return n + 1 + t + end + 2
}

// INFO:megatron.core.transformer.cuda_graphs:Start CUDA Graphs capture...
// ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) ...
func pythonLevel(p *Piece, s string) int {
	n := levelWord(s)
	if n == 0 || n >= len(s) || s[n] != ':' {
		return 0
	}
	end := strings.IndexByte(s[n+1:], ':')
	if end <= 0 {
		return 0
	}
	name := s[n+1 : n+1+end]
	for i := range len(name) {
		if !isWordByte(name[i]) && name[i] != '.' {
			return 0
		}
	}
	p.Level, p.Source = s[0], name
	return n + 1 + end + 1
}

// ERROR 07-19 02:44:22 [multiproc_executor.py:470] WorkerProc hit an exception.
// INFO 09-02 18:22:03 model_runner.py:732] Loading model weights took 2.3511 GB
func vllmLevel(p *Piece, s string) int {
	n := levelWord(s)
	if n == 0 || n+1 >= len(s) || s[n] != ' ' {
		return 0
	}
	t := timeLength(s[n+1:])
	if t == 0 {
		return 0
	}
	p.Level = s[0]
	p.setStamp(s[n+1 : n+1+t])
	i := n + 1 + t
	i += blank(s[i:])
	if end := strings.IndexByte(s[i:], ']'); end > 0 && end < 200 {
		source := strings.TrimPrefix(s[i:i+end], "[")
		if colon := strings.LastIndexByte(source, ':'); colon > 0 && allDigits(source[colon+1:]) && !strings.ContainsAny(source, " []") {
			p.Source = source
			i += end + 1
			i += blank(s[i:])
		}
	}
	return i
}

// trainer-worker-1  | [rank3]: ...
func composeName(p *Piece, s string) int {
	bar := strings.Index(s, " | ")
	if bar < 3 || bar > 60 {
		return 0
	}
	name := strings.TrimRight(s[:bar], " ")
	dash := strings.LastIndexByte(name, '-')
	if dash <= 0 || !allDigits(name[dash+1:]) {
		return 0
	}
	for i := range len(name) {
		if !isWordByte(name[i]) && name[i] != '-' && name[i] != '.' {
			return 0
		}
	}
	p.Origin.Host = name
	return bar + 3
}

// (Worker_TP2 pid=143) ERROR ...
// (EngineCore_DP0 pid=311) ...
// (VllmWorker rank=3 pid=7719) ...
// (VllmWorkerProcess pid=9143) ...
// (RayWorkerWrapper pid=4402, ip=10.0.7.28) ...
// (raylet, ip=10.0.7.57) ...
// (MegatronPolicyWorker[rank=8] pid=3294808, ip=10.109.19.209) ...
func actor(p *Piece, s string) int {
	end := strings.IndexByte(s, ')')
	if end < 2 || end > 120 {
		return 0
	}
	inner := s[1:end]
	var name string
	var rank, pid *int
	if sp := strings.IndexByte(inner, ' '); sp > 0 { // NeMo-RL's actors name their rank
		if open := strings.IndexByte(inner[:sp], '['); open > 0 {
			if n, i := numbered(inner[open:sp], "[rank=", "]"); i == sp-open {
				rank, inner = &n, inner[:open]+inner[sp:]
			}
		}
	}
	host := ""
	for i, field := range strings.FieldsFunc(inner, func(r rune) bool { return r == ' ' || r == ',' }) {
		key, value, pair := strings.Cut(field, "=")
		switch {
		case !pair && (i == 0 || len(field) <= 20):
			name = strings.TrimSpace(name + " " + field)
		case key == "pid", key == "rank":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return 0
			}
			if key == "pid" {
				pid = &n
			} else {
				rank = &n
			}
		case key == "ip":
			host = value
		default:
			return 0
		}
	}
	if pid == nil && rank == nil && name != "raylet" {
		return 0
	}
	if name == "raylet" && host == "" && pid == nil && end+1 < len(s) && s[end+1] != ' ' {
		return 0
	}
	p.Origin.Process, p.Origin.PID = name, pid
	if host != "" {
		p.Origin.Host = host
	}
	if rank != nil {
		p.Origin.Rank, p.Origin.RankFrom = rank, "worker's label"
	}
	return end + 1 + blank(s[end+1:])
}
