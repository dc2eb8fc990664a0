#!/usr/bin/env bash
# Tests graphtrap in a headless Neovim: builds the server, and lets probe.lua use it on a copy of the shipped case.
# GRAPHTRAP_NVIM names the Neovim to test with; else it is the one in the cache, fetched when it is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
nvim=${GRAPHTRAP_NVIM:-$("$here/fetch.sh")}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$repository" && go build -o "$dir/bin/graphtrap" ./cmd/graphtrap)
cp -r "$repository/testdata/cases/sixty-four-ranks" "$dir/case"
mkdir "$dir/case/.git"   # makes it the root for the sources in its folders, too

# A home of its own: no settings, no plugins, no logs of the user's.
cd "$dir/case"
HOME=$dir XDG_STATE_HOME=$dir/state PATH=$dir/bin:$PATH README=$here/../README.md \
  timeout 120 "$nvim" --headless --clean -i NONE -n -l "$here/probe.lua" 2>&1
