#!/usr/bin/env bash
# Follows the README in a fresh home, as a person would: its commands are run as they stand there, then its keys are
# typed into a Neovim on a screen. The pictures that the README shows are taken here.
set -euo pipefail

editors=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
repository=$editors/..
nvim=${GRAPHTRAP_NVIM:-$("$editors/trixie.sh")/usr/bin/nvim}
dir=$(mktemp -d)
. "$editors/screen.sh"
trap 'screen_end; rm -rf "$dir"' EXIT

export GOCACHE=${GOCACHE:-$(go env GOCACHE)} GOMODCACHE=${GOMODCACHE:-$(go env GOMODCACHE)}
export HOME=$dir/home
mkdir -p "$HOME/bin"
ln -s "$nvim" "$HOME/bin/nvim"
export PATH=$HOME/bin:$HOME/go/bin:$PATH
unset GOBIN GOPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME

# The README speaks of a clone of the repository.
cd "$repository"
for number in 1 2; do
  python3 .ci/shell-block.py editors/neovim/README.md $number > "$dir/commands"
  sed 's/^/$ /' "$dir/commands"
  bash -euo pipefail "$dir/commands"
done

# The log and its sources, in a folder of their own: the fix edits one of them.
cp -r testdata/cases/sixty-four-ranks "$HOME/job"
mkdir "$HOME/job/.git"
cd "$HOME/job"
screen_start 'nvim train.log'
screen_shows 'train.log'
screen_type ':GraphTrap initiator' Enter
screen_shows 'rank 17 started it: a CUDA graph capture ran out of memory; 15.96 GiB lie idle in graph pools'
screen_shows '>>'
screen_picture "$editors/neovim/initiator.svg"
screen_type ':GraphTrap' Enter
screen_shows 'what failed was made inside a capture'
screen_picture "$editors/neovim/report.svg"
screen_type 'q' ':GraphTrap fix' Enter
screen_shows 'pool = torch.cuda.graph_pool_handle()'
screen_shows 'u takes it back'
screen_shows 'Safe if the graphs are replayed one at a time'
screen_picture "$editors/neovim/fix.svg"
screen_type ':tab help GraphTrap' Enter
screen_shows 'Diagnose the buffer, or some lines of it'
screen_type ':tab checkhealth graphtrap' Enter
screen_shows 'OK running for'
screen_type ':messages' Enter
if screen capture-pane -p | grep -E 'E[0-9]+:|Error|stack traceback'; then
  echo "FAIL  there is an error in :messages"
  exit 1
fi
echo "the README was followed"
