#!/usr/bin/env bash
# Prints the folder of the editors that the tests drive in a terminal, and puts it in the cache when it is missing:
# Debian trixie's Neovim, Helix, Emacs and Vim with their libraries, unpacked in a folder and pointed at each other, so
# that nothing of the machine changes. Linux on x64 with Debian's mmdebstrap and patchelf only.
#
#   trixie.sh [--cached]     --cached: fail when it is missing
set -euo pipefail

RECIPE=1   # raise it when the steps below change

root=${XDG_CACHE_HOME:-$HOME/.cache}/graphtrap-editors
editors=$root/trixie-$RECIPE

if [ ! -d "$editors" ]; then
  if [ "${1-}" = --cached ]; then
    echo "trixie.sh: $editors is missing" >&2
    exit 1
  fi
  mkdir -p "$root"
  build=$(mktemp -d "$root/new-XXXXXX")
  trap 'rm -rf "$build"' EXIT
  mmdebstrap --quiet --variant=extract --include=neovim,hx,emacs-nox,vim --skip=check/empty \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' trixie "$build/whole" >&2
  libraries=$editors/usr/lib/x86_64-linux-gnu   # where they will stay
  for program in usr/bin/nvim usr/lib/hx/hx usr/bin/vim.basic; do
    patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$libraries" \
      "$build/whole/$program"
  done
  # Two builds at the same time are both right: the first to finish stays.
  mv -T "$build/whole" "$editors" 2>/dev/null || [ -d "$editors" ]
fi
echo "$editors"
