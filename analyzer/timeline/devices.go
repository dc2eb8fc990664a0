package timeline

import (
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// device is a card of a process: what tells ranks apart that are threads of one process.
type device struct {
	process
	index int
}

// bus is a card of a host.
type bus struct {
	host    string
	address uint64
}

// learnDevices reads which rank uses which card from NCCL's init lines. They
// give a rank to the kernel's reports about a card, and to lines of a process
// that drives several cards.
//
//	lab:51210:51240 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 nvmlDev 2 busId 4e000 commId 0x1f - Init COMPLETE
func (m *maps) learnDevices(events []*message.Event) {
	largest := map[bus]int{}
	for _, e := range events {
		rank, size := number(e, "rank"), number(e, "nranks")
		if e.Message == nil || e.Message.About != "map" || rank == nil || size == nil {
			continue
		}
		host := e.At.Origin.Host
		if gpu, pid := number(e, "gpu"), e.At.Origin.PID; gpu != nil && pid != nil {
			m.byDevice[device{process{host, *pid}, *gpu}] = *rank
		}
		text, ok := e.Facts["bus_id"]
		if !ok {
			continue
		}
		address, err := strconv.ParseUint(text.Text, 16, 64)
		if err != nil {
			continue
		}
		b := bus{host, address}
		switch old, known := m.byBus[b]; {
		case *size > largest[b] || !known:
			largest[b], m.byBus[b] = *size, *rank
		case *size == largest[b] && old != *rank:
			m.byBus[b] = -1
		}
	}
}

// card returns the rank that uses the card at a PCI address. Without a host the
// address must be that of one rank only: all hosts of a kind have the same ones.
//
//	NVRM: Xid (PCI:0000:af:00): 79, pid=11873, GPU has fallen off the bus.
func (m *maps) card(host, pci string) (int, bool) {
	address, ok := pciAddress(pci)
	if !ok {
		return 0, false
	}
	if rank, ok := m.byBus[bus{host, address}]; ok {
		return rank, rank >= 0
	}
	found := map[int]bool{}
	for b, rank := range m.byBus {
		if b.address == address && (host == "" || b.host == "") {
			found[rank] = true
		}
	}
	if len(found) != 1 {
		return 0, false
	}
	for rank := range found {
		return rank, rank >= 0
	}
	return 0, false
}

// pciAddress reads an address as NCCL prints it: 0000:af:00.0 is af000. The
// driver leaves the function out.
func pciAddress(pci string) (uint64, bool) {
	pci = strings.TrimPrefix(pci, "PCI:")
	parts := strings.FieldsFunc(pci, func(r rune) bool { return r == ':' || r == '.' })
	if len(parts) == 3 {
		parts = append(parts, "0")
	}
	if len(parts) != 4 {
		return 0, false
	}
	address, err := strconv.ParseUint(strings.Join(parts, ""), 16, 64)
	return address, err == nil
}

// onDevice returns the rank of a line whose process drives several cards.
func (m *maps) onDevice(o incident.Origin) (int, bool) {
	if o.PID == nil || o.Device == nil {
		return 0, false
	}
	rank, ok := m.byDevice[device{process{o.Host, *o.PID}, *o.Device}]
	return rank, ok
}
