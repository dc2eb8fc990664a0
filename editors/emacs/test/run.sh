#!/usr/bin/env bash
# Follows the README in a fresh home: its commands are run as they stand there, then an Emacs without a screen opens the
# shipped log with what they installed, and Eglot checks every message of the server strictly.
set -euo pipefail

editors=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
installed=$("$editors/trixie.sh")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

export GOCACHE=${GOCACHE:-$(go env GOCACHE)} GOMODCACHE=${GOMODCACHE:-$(go env GOMODCACHE)}
export HOME=$dir/home
mkdir -p "$HOME"
export PATH=$HOME/go/bin:$PATH
unset GOBIN GOPATH XDG_CONFIG_HOME

# The README speaks of a clone of the repository.
cd "$editors/.."
python3 .ci/shell-block.py editors/emacs/README.md 1 > "$dir/commands"
sed 's/^/$ /' "$dir/commands"
bash -euo pipefail "$dir/commands"

cp -r testdata/cases/sixty-four-ranks "$HOME/job"
mkdir "$HOME/job/.git"
cd "$HOME/job"

# An Emacs that lies elsewhere than it was built for is told where its files are.
libraries=$installed/usr/lib/x86_64-linux-gnu
shared=$installed/usr/share/emacs/30.1
EMACSLOADPATH=$(find "$shared/lisp" -type d | paste -sd:)
export EMACSLOADPATH EMACSDATA=$shared/etc EMACSDOC=$shared/etc
export EMACSPATH=$installed/usr/libexec/emacs/30.1/x86_64-linux-gnu
timeout 240 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$installed/usr/bin/emacs-nox" \
  --dump-file="$(echo "$EMACSPATH"/*.pdmp)" --batch --no-site-file \
  --eval '(setq native-comp-enable-subr-trampolines nil native-comp-jit-compilation nil)' \
  --load "$editors/emacs/test/session.el" 2>&1
echo "the README was followed"
