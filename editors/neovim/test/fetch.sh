#!/usr/bin/env bash
# Prints the path of a Neovim to test with, and puts it in the cache when it is missing: Debian trixie's package and
# its libraries, unpacked in a folder and pointed at each other, so that nothing of the machine changes.
# Linux on x64 with Debian's mmdebstrap and patchelf only.
#
#   fetch.sh [--cached]     --cached: fail when it is missing
set -euo pipefail

RECIPE=trixie-1   # raise it when the steps below change

root=${XDG_CACHE_HOME:-$HOME/.cache}/graphtrap-editors
editor=$root/neovim-$RECIPE

if [ ! -d "$editor" ]; then
  if [ "${1-}" = --cached ]; then
    echo "fetch.sh: $editor is missing" >&2
    exit 1
  fi
  mkdir -p "$root"
  build=$(mktemp -d "$root/new-XXXXXX")
  trap 'rm -rf "$build"' EXIT
  mmdebstrap --quiet --variant=extract --include=neovim --skip=check/empty \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' trixie "$build/whole" >&2
  libraries=$editor/usr/lib/x86_64-linux-gnu   # where they will stay
  patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$libraries" \
    "$build/whole/usr/bin/nvim"
  # Two builds at the same time are both right: the first to finish stays.
  mv -T "$build/whole" "$editor" 2>/dev/null || [ -d "$editor" ]
fi
echo "$editor/usr/bin/nvim"
