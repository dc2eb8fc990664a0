#!/usr/bin/env bash
# Follows the README in a fresh home, as a person would: its commands are run as they stand there, then its keys are
# typed into a Helix on a screen. The picture that the README shows is taken here.
set -euo pipefail

editors=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
installed=$("$editors/trixie.sh")
dir=$(mktemp -d)
. "$editors/screen.sh"
trap 'screen_end; rm -rf "$dir"' EXIT

export GOCACHE=${GOCACHE:-$(go env GOCACHE)} GOMODCACHE=${GOMODCACHE:-$(go env GOMODCACHE)}
export HOME=$dir/home HELIX_RUNTIME=$installed/usr/lib/hx/runtime
mkdir -p "$HOME/bin"
ln -s "$installed/usr/lib/hx/hx" "$HOME/bin/hx"
export PATH=$HOME/bin:$HOME/go/bin:$PATH
unset GOBIN GOPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME

# The README speaks of a clone of the repository.
cd "$editors/.."
python3 .ci/shell-block.py editors/helix/README.md 1 > "$dir/commands"
sed 's/^/$ /' "$dir/commands"
bash -euo pipefail "$dir/commands"
hx --health log | tee "$dir/health"
grep -q "$HOME/go/bin/graphtrap" "$dir/health"

cp -r testdata/cases/sixty-four-ranks "$HOME/job"
mkdir "$HOME/job/.git"
cd "$HOME/job"
screen_start 'hx train.log'
screen_shows 'train.log'
# One error in the last line but one; it is the first of the file's diagnostics.
screen_shows '● 1'
screen_type ']d'
screen_shows 'rank 17 started it: a CUDA graph capture ran out of memory'
# The cursor goes from the end to the begin of what ]d has selected, and the line to the top: there is room below it.
screen_type 'M-\;' '\;' z t
screen_shows '9157:11'
echo "== hover"
screen_type Space k
screen_shows '| asked for | live tensors |'
screen_picture "$editors/helix/hover.svg"
echo "== a command of the server"
screen_type Escape
screen_hides '| asked for | live tensors |'
screen_type Space a
screen_shows 'Copy the check command'
screen_type Down Enter
screen_shows 'segment_pool_id'
echo "== the fix"
screen_type Space a
screen_shows 'Share one graph pool over the captures in graphs.py:29'
screen_type Enter
screen_type ':write-all' Enter
for _ in $(seq 100); do
  grep -q 'pool = torch.cuda.graph_pool_handle()' engine/graphs.py && break
  sleep 0.1
done
diff "$editors/../testdata/cases/sixty-four-ranks/engine/graphs.py" engine/graphs.py && exit 1
grep -q 'with torch.cuda.graph(graph, pool=pool):' engine/graphs.py
echo "== the report, and a selection"
screen_type ':vsplit-new' Enter ':insert-output graphtrap diagnose train.log' Enter
screen_shows 'Fell with it'
screen_type ':quit!' Enter '%' '|' 'graphtrap diagnose -' Enter
screen_shows 'Rank 17 started it: a CUDA graph capture ran out of memory'
echo "the README was followed"
