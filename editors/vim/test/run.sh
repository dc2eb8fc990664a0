#!/usr/bin/env bash
# Follows the README in a fresh home, in Vim and in Neovim: the answer through :make and through :cfile.
set -euo pipefail

editors=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
installed=$("$editors/trixie.sh")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

export GOCACHE=${GOCACHE:-$(go env GOCACHE)} GOMODCACHE=${GOMODCACHE:-$(go env GOMODCACHE)}
export HOME=$dir/home
mkdir -p "$HOME"
export PATH=$HOME/go/bin:$PATH
unset GOBIN GOPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME

# The README speaks of a clone of the repository.
cd "$editors/.."
python3 .ci/shell-block.py editors/vim/README.md 1 > "$dir/commands"
sed 's/^/$ /' "$dir/commands"
bash -euo pipefail "$dir/commands"

cp -r testdata/cases/sixty-four-ranks "$dir/job"
cd "$dir/job"
graphtrap diagnose --format errorformat train.log > answer

# The test writes what went wrong into the file $FAILED.
check() {
  echo "== $1"
  export FAILED=$dir/failed-$1
  shift
  timeout 60 "$@" -n -i NONE --cmd 'set nomore' -S "$editors/vim/test/lists.vim" < /dev/null > "$dir/output" 2>&1 || true
  if [ ! -e "$FAILED" ] || [ -s "$FAILED" ]; then
    cat "$FAILED" "$dir/output"
    return 1
  fi
  echo "ok    :make and :cfile"
}
check vim "$installed/usr/bin/vim.basic" -es --not-a-term -u NONE --cmd 'set nocompatible runtimepath^=~/.vim'
check neovim "$installed/usr/bin/nvim" --headless -u NONE --cmd 'set runtimepath^=~/.vim'
