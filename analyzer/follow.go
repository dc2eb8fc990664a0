package analyzer

import (
	"context"
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/signatures"
)

// Following returns an analyzer for a single file that grows: it keeps what it
// reads for the next time, and does not read again what earlier has kept of the
// first same bytes, which must not have changed since. earlier may be nil, and an
// analysis with other signatures. It never changes the report. It shares all else
// with a, so it costs nothing.
func (a *Analyzer) Following(earlier *Analysis, same int64) *Analyzer {
	follower := *a
	follower.follow = &following{earlier, same}
	return &follower
}

// following says what an analyzer may leave out.
type following struct {
	earlier *Analysis
	same    int64
}

// kept is what an analysis keeps of its file for the next one. It holds what was
// found in the text, and none of the text.
type kept struct {
	scan *scan.Kept
	read *message.Kept
}

// keeper reads the files of one analysis. If the analyzer follows a file it goes on
// from what was kept, and keeps what it reads.
type keeper struct {
	following *following // nil: it reads all and keeps nothing
	next      *kept
}

func (a *Analyzer) keeper(files []File) *keeper {
	if a.follow == nil || len(files) != 1 {
		return &keeper{}
	}
	return &keeper{following: a.follow}
}

// read scans a file and recognises what it says.
func (k *keeper) read(ctx context.Context, scanner *scan.Scanner, file File, index int, set *signatures.Set) (*scan.Result, *message.Found, error) {
	var old kept
	var same int64
	if f := k.following; f != nil {
		if f.earlier != nil && f.earlier.kept != nil {
			old, same = *f.earlier.kept, f.same
		}
		k.next = &kept{}
	}
	var scanned *scan.Result
	var err error
	if k.next == nil {
		scanned, err = scanner.Scan(ctx, file.Data, file.Size)
	} else {
		scanned, k.next.scan, err = scanner.Follow(ctx, file.Data, file.Size, old.scan, same)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("scanning %s: %w", file.Path, err)
	}
	src := message.Source{Index: index, Path: file.Path, Data: file.Data, Size: file.Size, Layout: scanned.Layout, Origin: file.Origin}
	var found *message.Found
	if k.next == nil {
		found, err = message.Read(ctx, src, scanned.Hits, set)
	} else {
		found, k.next.read, err = message.Follow(ctx, src, scanned.Hits, set, old.read, same, int64(scanner.Chunk))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", file.Path, err)
	}
	return scanned, found, nil
}
