package message

import (
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Composer prints the captured output of each rank at the end of the run:
//
//	----------Begin global rank 3 STDOUT----------
const (
	blockBegin = "----------Begin global rank "
	blockEnd   = "----------End global rank "
)

// Block is the launcher's block that the lines stand in, if any. The zero value
// stands in none.
type Block struct {
	// Origin is whose output the block repeats; not known outside of a block.
	Origin incident.Origin
}

// Marks takes the text of the next line and reports whether it begins or ends a
// block.
func (b *Block) Marks(text string) bool {
	if strings.HasPrefix(text, blockEnd) {
		b.Origin = incident.Origin{}
		return true
	}
	rest, ok := strings.CutPrefix(text, blockBegin)
	if !ok {
		return false
	}
	number, _, _ := strings.Cut(rest, " ")
	if rank, err := strconv.ParseInt(number, 10, 32); err == nil {
		n := int(rank)
		b.Origin = incident.Origin{Rank: &n, RankFrom: "launcher's block"}
	}
	return true
}
