#!/usr/bin/env bash
# Tests the plugin in a headless Neovim, with a server that is built here, on copies of the shipped case.
#
#   run.sh [NAME...]     the tests named, such as log; else all of them
# GRAPHTRAP_NVIM names the Neovim to test with; else it is the one in the cache, fetched when it is missing.
set -euo pipefail

plugin=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
repository=$plugin/../..
nvim=${GRAPHTRAP_NVIM:-$("$plugin/../trixie.sh")/usr/bin/nvim}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$repository" && go build -o "$dir/bin/graphtrap" ./cmd/graphtrap)
export PATH=$dir/bin:$PATH PLUGIN=$plugin README=$plugin/README.md JOB=$repository/editors/vscode/test/job/launch.py

# A session of one test: nothing of the user's, no plugin but ours, and a folder of its own.
session() {
  local name=$1
  cp -r "$repository/testdata/cases/sixty-four-ranks" "$dir/$name"
  mkdir "$dir/$name/.git" "$dir/$name.home"   # the first makes it the root for the sources in its folders, too
  cd "$dir/$name"
  HOME=$dir/$name.home XDG_STATE_HOME=$dir/$name.home/state SHELL=/bin/sh LUA_PATH="$plugin/test/?.lua;;" \
    timeout 240 "$nvim" --headless -u NONE -i NONE -n --cmd "set runtimepath^=$plugin" \
    --cmd "runtime ftdetect/graphtrap.lua" --cmd "runtime plugin/graphtrap.lua" -l "$plugin/test/$name.lua" 2>&1
}

[ $# -gt 0 ] || set -- log other_text configuration large newer
failed=0
for name; do
  echo "== $name"
  (session "$name") || failed=1
done
exit $failed
