# The steps of .ci/run. Each stands in the top folder of the clone, and may leave files in $work.

case_log=testdata/cases/sixty-four-ranks/train.log

# Installs those programs of the other steps that are missing.
step_programs() {
  local program missing=()
  for program in chromium gcc git mmdebstrap patchelf python3 strace tmux; do
    command -v $program > /dev/null || missing+=($program)
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # libc6-dev: gcc alone cannot link what the race detector needs.
    apt-get install -y -qq --no-install-recommends libc6-dev "${missing[@]}" > "$work/apt" 2>&1 || { cat "$work/apt"; false; }
  fi
  go version
  echo "node $(node --version)"
}

step_format() {
  local unformatted
  unformatted=$(git ls-files '*.go' | xargs -r gofmt -l)
  [ -z "$unformatted" ] || { printf 'gofmt would change:\n%s\n' "$unformatted"; false; }
}

step_vet() {
  go vet ./...
}

# The program is pure Go: it builds for every platform without a C compiler.
# Without paths, as the packages of the extension have it, which then need not compile all again.
step_cross() {
  local os arch
  for os in linux darwin windows; do
    for arch in amd64 arm64; do
      CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -o "$work/cross/$os-$arch/" ./cmd/graphtrap
      echo "$os/$arch"
    done
  done
}

# The README's first two commands, as they stand there.
step_readme() {
  local number
  for number in 1 2; do
    python3 .ci/shell-block.py README.md $number > "$work/command"
    sed 's/^/$ /' "$work/command"
    bash -euo pipefail "$work/command" > "$work/output" 2>&1 || { cat "$work/output"; false; }
    [ $number -ne 1 ] || grep -F 'Rank 17 started it' "$work/output"
  done
}

step_lint() {
  go tool -modfile=.ci/tools.mod golangci-lint run ./...
}

# The VS Code extension: types, style, units, the lock file, and a package for each platform with what must ship alone.
step_extension() {
  cd editors/vscode
  npm ci --ignore-scripts --no-audit --no-fund
  npm run --silent check
  if grep -nE '"resolved": *"https?:' package-lock.json; then
    echo "package-lock.json names download addresses: npm config set omit-lockfile-registry-resolved true"
    false
  fi
  npm run --silent lint
  npm run --silent unit
  npm run --silent package -- --out "$work/packages"
  python3 -m zipfile --list "$work/packages/graphtrap-linux-x64.vsix"
  node_modules/.bin/vsce ls --no-dependencies | LC_ALL=C sort | diff test/ships.txt -

  npm run --silent package -- --out "$work/again" --only linux-x64
  cmp "$work/packages/graphtrap-linux-x64.vsix" "$work/again/graphtrap-linux-x64.vsix"
}

# What the client needs that holds whole sessions with the language server; the tests run it.
step_client() {
  cd server/endtoend/node
  npm ci --ignore-scripts --no-audit --no-fund
  if grep -nE '"resolved": *"https?:' package-lock.json; then
    echo "package-lock.json names download addresses: npm config set omit-lockfile-registry-resolved true"
    false
  fi
}

# The editors that the tests drive; later steps find them in the cache.
step_editors() {
  editors/vscode/test/host.sh
  editors/trixie.sh
}

step_tests() {
  GRAPHTRAP_REQUIRE_NODE=1 go test $(go list ./... | grep -v '/editors$')
  GRAPHTRAP_REQUIRE_EDITORS=1 go test -count=1 -v ./editors
}

step_race() {
  go test -race -short ./analyzer/... ./server/...
}

# Neither a diagnosis nor a whole session of the language server makes one network call.
step_network() {
  local strace=(strace -f -qqq -e trace=network -e signal=none) calls
  CGO_ENABLED=0 go build -o "$work/graphtrap" ./cmd/graphtrap

  calls=$work/calls
  "${strace[@]}" -o "$calls" python3 -c 'import socket; socket.socket()'
  [ -s "$calls" ] || { echo "strace does not see network calls here"; false; }

  "${strace[@]}" -o "$calls" "$work/graphtrap" diagnose "$case_log" > /dev/null
  [ ! -s "$calls" ] || { echo "diagnose made network calls:"; cat "$calls"; false; }

  python3 .ci/lsp-session.py "$case_log" "${strace[@]}" -o "$calls" "$work/graphtrap" serve --stdio
  [ ! -s "$calls" ] || { echo "the language server made network calls:"; cat "$calls"; false; }
}

# Every fuzz target for ten seconds.
step_fuzz() {
  local package target
  go test -list '^Fuzz' ./... |
    awk '/^Fuzz/ { targets[++count] = $1 } /^ok/ { for (i = 1; i <= count; i++) print $2, targets[i]; count = 0 }' > "$work/targets"
  while read -r package target; do
    echo "$package $target"
    if ! go test -run '^$' -fuzz "^$target\$" -fuzztime 10s -fuzzminimizetime 20x "$package" > "$work/output" 2>&1; then
      # A worker that is late when the time is over fails the run, too, and has found nothing.
      grep -q 'context deadline exceeded' "$work/output" && ! grep -q 'Failing input' "$work/output" ||
        { cat "$work/output"; false; }
    fi
    grep '^fuzz: elapsed' "$work/output" | tail -n 1
  done < "$work/targets"
}

# The public cases, where they lie beside the clone.
step_corpus() {
  local shared=../shared
  if [ ! -d $shared ]; then
    echo "no $shared: skipped"
    return
  fi
  CGO_ENABLED=0 go build -o "$work/graphtrap" ./cmd/graphtrap
  $shared/score-corpus --binary "$work/graphtrap" --min-exact 68 $shared/corpus
}
