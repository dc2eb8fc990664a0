package input

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// identity is what a path says.
type identity struct {
	origin  incident.Origin
	attempt int
}

var (
	// torchrun --log-dir: RUN_ID_x/attempt_0/3/stderr.log. The number is the local rank.
	torchrunFile = regexp.MustCompile(`(?:^|/)attempt_(\d+)/(\d+)/(stdout|stderr)\.log(?:\.gz|\.zst)?$`)
	torchrunJSON = regexp.MustCompile(`(?:^|/)attempt_(\d+)/(\d+)/error\.json$`)
	// deepspeed --enable_each_rank_log: 20261128041322_rank3.log; rank_3.log; rank-03/out.txt
	rankName = regexp.MustCompile(`(?i)(?:^|[/._-])(?:global[_-]?)?rank[_-]?(\d{1,6})(?:$|[/._-])`)
	// slurm-4711_3.out, slurm-4711.3.out: job and task
	slurmTask = regexp.MustCompile(`(?:^|/)slurm-\d+[_.](\d{1,6})\.(?:out|err|log)(?:\.gz|\.zst)?$`)
	// trainer-worker-7.log, job-master-0/pytorch.log: pods
	podName = regexp.MustCompile(`(?:^|/)([a-z0-9][a-z0-9.-]*-(?:worker|master|node|ps|launcher)-\d+|(?:worker|node|host)[_-]?\d+)(?:\.[a-z0-9.]+)?(?:/|$)`)
)

// identify reads a path relative to the folder that was given.
func identify(path string) identity {
	var id identity
	slash := strings.ReplaceAll(path, `\`, "/")
	if m := podName.FindStringSubmatch(slash); m != nil {
		id.origin.Host = m[1]
	}
	switch {
	case torchrunFile.MatchString(slash):
		m := torchrunFile.FindStringSubmatch(slash)
		id.attempt = number(m[1])
		id.origin.LocalRank, id.origin.Stream = pointer(number(m[2])), m[3]
		id.origin.Host = agent(slash, id.origin.Host)
	case torchrunJSON.MatchString(slash):
		m := torchrunJSON.FindStringSubmatch(slash)
		id.attempt = number(m[1])
		id.origin.LocalRank = pointer(number(m[2]))
		id.origin.Host = agent(slash, id.origin.Host)
	case rankName.MatchString(slash):
		m := rankName.FindStringSubmatch(slash)
		id.origin.Rank, id.origin.RankFrom = pointer(number(m[1])), "file's name"
	case slurmTask.MatchString(slash):
		m := slurmTask.FindStringSubmatch(slash)
		id.origin.Rank, id.origin.RankFrom = pointer(number(m[1])), "scheduler's task in the file's name"
	}
	return id
}

// agent names the folder above torchrun's own, which tells hosts apart where
// several wrote into one folder.
func agent(path, host string) string {
	if host != "" {
		return host
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "attempt_") && i >= 2 {
			return parts[i-2]
		}
	}
	return ""
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func pointer(n int) *int { return &n }
