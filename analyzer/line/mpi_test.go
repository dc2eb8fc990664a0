package line

import "testing"

func TestMPITags(t *testing.T) {
	for _, test := range []struct{ name, raw, text, facts string }{
		{"Open MPI", `[1,3]<stdout>:step 10`, `step 10`, "rank=3 stream=stdout"},
		{"SageMaker names the host as well", `[1,mpirank:10,algo-2]<stderr>:Traceback (most recent call last):`, `Traceback (most recent call last):`, "rank=10 host=algo-2 stream=stderr"},
		{"SageMaker, with NCCL behind it", `[1,mpirank:0,algo-1]<stdout>:algo-1:79:1300 [0] NCCL INFO Launch mode Parallel`, `NCCL INFO Launch mode Parallel`, "rank=0 pid=79 host=algo-1 stream=stdout"},
		{"no rank", `[1,mpirank:x,algo-1]<stdout>:a`, `[1,mpirank:x,algo-1]<stdout>:a`, ""},
		{"no stream", `[1,mpirank:0,algo-1] a`, `[1,mpirank:0,algo-1] a`, ""},
		{"a stream that it has not", `[1,3]<stdlog>:a`, `[1,3]<stdlog>:a`, ""},
		{"text behind a list", `[1,3] is shown as <stdout>:a`, `[1,3] is shown as <stdout>:a`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := one(t, test.raw, Layout{})
			if p.Text != test.text || facts(p) != test.facts {
				t.Errorf("%q, %s", p.Text, facts(p))
			}
		})
	}
}

func TestTaskForms(t *testing.T) {
	hydra, nodes := Layout{TaskLabel: true, TaskForm: BracketTask}, Layout{NodeLabel: true, TaskForm: BracketTask}
	pals := Layout{TaskLabel: true, TaskForm: HostTask}
	for _, test := range []struct {
		raw, text, facts string
		layout           Layout
	}{
		{`[2] [rank2]: RuntimeError: x`, `RuntimeError: x`, "rank=2", hydra},
		{`[12]   File "a.py", line 1, in f`, `  File "a.py", line 1, in f`, "rank=12", hydra},
		{`[0]`, ``, "rank=0", hydra},
		{`[0]:`, `[0]:`, "", hydra}, // an entry of torchrun's failure table
		{`[0, 1] x`, `[0, 1] x`, "", hydra},
		{`[2] x`, `[2] x`, "", Layout{}},
		{`2: x`, `2: x`, "", hydra},
		{`[1] [rank5]: x`, `x`, "rank=5 host=task 1", nodes},
		{`x3102c0s1b0n0.hsn.cm.example.gov 84: loss 2.1`, `loss 2.1`, "rank=84 host=x3102c0s1b0n0.hsn.cm.example.gov", pals},
		{`nid001417 0: [rank0]: x`, `x`, "rank=0 host=nid001417", pals},
		{`nid001417 0:30 left`, `nid001417 0:30 left`, "", pals},
		{`x3102c0s7b0n0.hsn.example: rank 7 exited with code 255`, `x3102c0s7b0n0.hsn.example: rank 7 exited with code 255`, "", pals},
	} {
		p := one(t, test.raw, test.layout)
		if p.Text != test.text || facts(p) != test.facts {
			t.Errorf("%s: %q, %s", test.raw, p.Text, facts(p))
		}
	}
}

func TestDetectTaskForms(t *testing.T) {
	hydra := Layout{TaskLabel: true, TaskForm: BracketTask}
	for _, test := range []struct {
		name, log string
		want      Layout
	}{
		{"torch names the same ranks behind the labels", "[0] a\n[1] b\n[0] [rank0]: c\n[1] d\n", hydra},
		{"two ranks name themselves", "[1] rank 1 of 2\n[0] rank 0 of 2\n", hydra},
		{"a rank raises", "[0] a\n[1] Traceback (most recent call last):\n", hydra},
		{"the command asked for labels", "+ mpiexec -l -n 2 python train.py\n[0] a\n[1] b\n[0] c\n", hydra},
		{"Intel MPI", "mpirun -n 2 -prepend-rank python train.py\n[0] a\n[1] b\n[0] c\n", hydra},
		{"torchrun in each task", "[0] [rank3]: a\n[1] [rank11]: b\n[1] Traceback (most recent call last):\n", Layout{NodeLabel: true, TaskForm: BracketTask}},
		{"a list", "cards:\n[0] NVIDIA H100\n[1] NVIDIA H100\n", Layout{}},
		{"steps", "[0] loss 2.1\n[100] loss 2.0\n[200] loss 1.9\n", Layout{}},
		{"one epoch names a rank", "[0] rank 0 saves\n[1] loss 2.0\n[2] rank 0 saves\n", Layout{}},
		{"another rank's number", "[0] waits for rank 1\n[1] waits for rank 10\n", Layout{}},
		{"mpiexec without labels", "+ mpiexec -n 2 python train.py --lr 1\n[0] loss 2\n[1] loss 1\n", Layout{}},
		{"torchrun's failure table", "Traceback (most recent call last):\n[0]:\n  rank : 0\n[1]:\n  rank : 1\n", Layout{}},
		{"NCCL's devices", "n1:10:11 [0] NCCL INFO a\nn1:12:13 [1] NCCL INFO b\n", Layout{}},
		{"Intel MPI's own lines", "[0] MPI startup(): Intel(R) MPI Library, Version 2021.8\n[0] MPI startup(): rank 0 of 2\n", Layout{}},
		{"few lines of a log", "a\nb\nc\nd\n[0] rank 0\n[1] rank 1\n", Layout{}},
		{"PALS", "x1c0s0b0n0.hsn 0: a\nx1c0s1b0n0.hsn 4: b\nx1c0s1b0n0.hsn: rank 4 exited with code 1\n", Layout{TaskLabel: true, TaskForm: HostTask}},
		{"words with a digit are no hosts where they have one number", "step1 0: a\nstep2 0: b\n", Layout{}},
	} {
		if got := Detect([]byte(test.log)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
