# For tests that watch an editor's screen: a terminal of 110 columns and 34 lines that nobody looks at. To be sourced.
#
# It wants $dir, a folder of the test's own, and $editors. screen_start COMMAND, screen_type KEY..., screen_shows TEXT,
# screen_hides TEXT, screen_picture FILE, screen_end.

screen() {
  tmux -L "graphtrap-$$" -f /dev/null "$@"
}

screen_start() {
  screen new-session -d -x 110 -y 34 "env TERM=tmux-256color COLORTERM=truecolor $1"
  screen set-option -g status off
  screen set-option -s escape-time 0
  screen set-option -ga terminal-overrides ',*:Tc'
}

screen_type() {
  screen send-keys "$@"
}

# Waits until a text is on the screen; says what is there instead when it does not come.
screen_shows() {
  local tries
  for tries in $(seq 600); do
    if screen capture-pane -p 2> "$dir/tmux" | grep -qF -- "$1"; then
      echo "ok    the screen shows: $1"
      return
    fi
    sleep 0.1
  done
  echo "FAIL  the screen does not show: $1"
  screen capture-pane -p || cat "$dir/tmux"
  return 1
}

# Waits until a text is no more on the screen, such as that of a box that a key closes.
screen_hides() {
  local tries
  for tries in $(seq 600); do
    screen capture-pane -p | grep -qF -- "$1" || return 0
    sleep 0.1
  done
  echo "FAIL  the screen still shows: $1"
  return 1
}

# Takes a picture; with GRAPHTRAP_PICTURES=1 it replaces the one that the README shows.
screen_picture() {
  screen capture-pane -e -p > "$dir/screen"
  python3 "$editors/picture.py" < "$dir/screen" > "$dir/$(basename "$1")"
  if [ "${GRAPHTRAP_PICTURES-}" = 1 ]; then
    cp "$dir/$(basename "$1")" "$1"
  fi
  [ -e "$1" ] || { echo "FAIL  $1 is missing: GRAPHTRAP_PICTURES=1 makes it"; return 1; }
}

# An editor that is hung up still writes its files: the folder is the test's own again when it is gone.
screen_end() {
  local pid tries
  pid=$(screen list-panes -a -F '#{pane_pid}' 2> "$dir/tmux") || true
  screen kill-server 2> "$dir/tmux" || true
  for tries in $(seq 100); do
    kill -0 $pid 2> "$dir/tmux" || return 0
    sleep 0.1
  done
}
