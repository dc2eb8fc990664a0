package cause

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// peer is who the victims name as the one that closed their connections.
type peer struct {
	// rank is known where they name a local rank that the log maps.
	rank *int
	// host is the address that they name.
	host string
	at   *message.Event
}

// namedPeer returns the one process or host that all victims name, nil if they
// name none or several, or one that is a victim itself. The store does not count:
// it runs with rank 0 or with the launcher, and goes when the job does.
//
//	node7:4054:4910 [4] NCCL INFO [Service thread] Connection closed by localRank 1
//	RuntimeError: [.../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.5]:41000
func (q *Inquiry) namedPeer() *peer {
	var found *peer
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleCollateral || e.ID == "c10d-store-lost" {
			continue
		}
		p := &peer{at: e}
		if local, ok := e.Facts["local_rank"]; ok && e.ID == "nccl-peer-closed-local" {
			n := int(local.Int)
			p.rank = q.Run.Resolve(incident.Origin{Host: e.At.Origin.Host, LocalRank: &n}).Rank
		}
		if host, ok := e.Facts["peer"]; ok && !loopback(host.Text) {
			p.host = host.Text
		}
		switch {
		case p.rank == nil && p.host == "":
		case found == nil:
			found = p
		case p.host != found.host, (p.rank == nil) != (found.rank == nil), p.rank != nil && *p.rank != *found.rank:
			return nil
		}
	}
	if found != nil && found.rank != nil {
		for _, e := range q.Run.Events {
			if q.roles[e] == incident.RoleCollateral && e.Origin.Rank != nil && *e.Origin.Rank == *found.rank {
				return nil
			}
		}
	}
	return found
}

// bothEnds returns the ranks that report failed transfers, and the first such report,
// where two hosts name each other: then neither is gone, and what failed is the path
// between them or a card at one of its ends.
//
//	n1: n1:880:1041 [2] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<44206> with status=12 opcode=0 len=0 vendor err 129 (Send)
//	n2: n2:882:1042 [2] NCCL WARN NET/IB : Got completion from peer 10.0.0.1<44210> with status=12 opcode=0 len=0 vendor err 129 (Send)
func (q *Inquiry) bothEnds() ([]int, *message.Event) {
	names := map[string]string{} // by the reporting host
	blamed, ranks := map[string]bool{}, map[int]bool{}
	var first *message.Event
	for _, e := range q.Run.Events {
		peer, ok := e.Facts["peer"]
		if e.ID != "nccl-ib-error" || !ok || e.Origin.Host == "" {
			continue
		}
		if old, seen := names[e.Origin.Host]; seen && old != peer.Text {
			return nil, nil
		}
		names[e.Origin.Host] = peer.Text
		blamed[peer.Text] = true
		if e.Origin.Rank != nil {
			ranks[*e.Origin.Rank] = true
		}
		if first == nil {
			first = e
		}
	}
	if len(names) != 2 || len(blamed) != 2 {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(ranks)), first
}

func loopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

// speaks reports whether a process of a host printed anything in this log.
func (q *Inquiry) speaks(host string) bool {
	for _, p := range q.Run.Printers {
		if p.Origin.Host == host {
			return true
		}
	}
	return false
}
