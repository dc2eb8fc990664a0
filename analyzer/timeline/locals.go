package timeline

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// linkLocal notes a pair; a local rank that stands for two global ones tells
// nothing, as two hosts have it.
func (m *maps) linkLocal(l local, rank int) {
	if old, ok := m.byLocal[l]; ok && old != rank {
		m.byLocal[l] = -1
		return
	}
	m.byLocal[l] = rank
}

// linkHost notes a rank of a host, -1 where it has several.
func (m *maps) linkHost(host string, rank int) {
	if host == "" {
		return
	}
	if old, ok := m.byHost[host]; ok && old != rank {
		rank = -1
	}
	m.byHost[host] = rank
}

// onlyOf returns the rank of a host in a job with one rank on each: as many hosts
// as ranks, and a rank known of every one.
func (m *maps) onlyOf(host string) (int, bool) {
	rank, ok := m.byHost[host]
	if !ok || len(m.byHost) < 2 || len(m.byHost) != m.world {
		return 0, false
	}
	for _, r := range m.byHost {
		if r < 0 {
			return 0, false
		}
	}
	return rank, true
}

var hostRanks = regexp.MustCompile(`'([^']+)': \[([\d, ]*)\]`)

// learnHosts reads which global ranks the local ones of each host are. Where the
// log is of one host only, its lines do not name it.
//
//	[launch.py:164:main] global_rank_mapping=defaultdict(<class 'list'>, {'node1': [0, 1], 'node2': [2, 3]})
func (m *maps) learnHosts(events []*message.Event) {
	for _, e := range events {
		ranks, ok := e.Facts["ranks"]
		if e.ID != "deepspeed-rank-map" || !ok {
			continue
		}
		hosts := hostRanks.FindAllStringSubmatch(ranks.Text, -1)
		for _, h := range hosts {
			for i, text := range strings.Split(h[2], ",") {
				rank, err := strconv.Atoi(strings.TrimSpace(text))
				if err != nil {
					break
				}
				m.linkLocal(local{h[1], i}, rank)
				if len(hosts) == 1 {
					m.linkLocal(local{"", i}, rank)
				}
			}
		}
	}
}

// learnLocals reads global ranks behind local ones, as on lines with both
// prefixes: "[default3]:[rank11]: ...".
func (m *maps) learnLocals(printers []scan.Seen) {
	for _, p := range printers {
		if p.Origin.Rank != nil {
			m.linkHost(p.Origin.Host, *p.Origin.Rank)
		}
		if o := p.Origin; o.Rank != nil && o.LocalRank != nil {
			m.linkLocal(local{o.Host, *o.LocalRank}, *o.Rank)
		}
	}
	// The pairs known of a host may give its first rank, and so the others.
	for _, p := range printers {
		o := p.Origin
		if o.LocalRank == nil || o.Rank != nil {
			continue
		}
		if _, known := m.byLocal[local{o.Host, *o.LocalRank}]; known {
			continue
		}
		if base, ok := m.base(o.Host); ok {
			m.byLocal[local{o.Host, *o.LocalRank}] = base + *o.LocalRank
		}
	}
}

// learnSpawn takes the numbers of mp.spawn's processes for ranks, where one parent
// speaks and the ranks that print are the first ones of the job, or the launcher of a
// notebook tells how many it starts, on a host that no line names.
//
//	[rank 1] graphed in 5.1 s, reserved 6.83 GiB
//	-- Process 0 terminated with the following error:
func (m *maps) learnSpawn(printers []scan.Seen, events []*message.Event) {
	seen := map[int]bool{}
	for _, p := range printers {
		if p.Origin.Host != "" {
			return
		}
		if p.Origin.Rank != nil {
			seen[*p.Origin.Rank] = true
		}
	}
	for rank := range len(seen) {
		if !seen[rank] {
			return
		}
	}
	spawned := -1
	for _, e := range events {
		n := number(e, "local_rank")
		if n == nil || !strings.HasPrefix(e.ID, "spawn-") {
			continue
		}
		if spawned >= 0 && spawned != *n {
			return
		}
		spawned = *n
	}
	size := len(seen)
	for _, e := range events {
		if n := number(e, "world_size"); n != nil && e.ID == "accelerate-notebook" {
			size = max(size, *n)
		}
	}
	if spawned < 0 || spawned >= size || size > hostCards {
		return
	}
	if _, known := m.byLocal[local{"", spawned}]; !known {
		m.byLocal[local{"", spawned}] = spawned
	}
}

// hostCards is how many cards a host has at most, in practice.
const hostCards = 16

// base returns the first rank of a host, if all pairs known of it agree.
func (m *maps) base(host string) (int, bool) {
	base, found := 0, false
	for l, rank := range m.byLocal {
		if l.host != host {
			continue
		}
		if rank < 0 || found && base != rank-l.rank {
			return 0, false
		}
		base, found = rank-l.rank, true
	}
	return base, found && base >= 0
}

// host returns the ranks of the one host whose local ranks the log maps: a host
// with local rank 7 has the seven below it as well.
func (m *maps) host() []int {
	name, top := "", -1
	for l := range m.byLocal {
		if top >= 0 && l.host != name {
			return nil
		}
		name, top = l.host, max(top, l.rank)
	}
	base, ok := m.base(name)
	if !ok || top > 64 {
		return nil
	}
	var out []int
	for r := range top + 1 {
		out = append(out, base+r)
	}
	return out
}
