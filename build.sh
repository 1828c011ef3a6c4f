#!/usr/bin/env bash
# The one command of this project. It finds Python and Node, keeps a virtual environment in
# .build/venv that matches requirements.txt, and hands over to content/publish.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

venv=.build/venv
installed=$venv/requirements.installed   # a copy of what was installed, written last

fail() {
  printf 'build.sh: %s\n  what to do: %s\n' "$1" "$2" >&2
  exit 1
}

find_python() {
  local name
  for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    if [ -n "$name" ] && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  fail "no Python 3.11 or newer was found" "install one, or name it: PYTHON=/path/to/python3 ./build.sh"
}

check_node() {
  local version
  version=$(node --version 2>/dev/null || true)
  [ -n "$version" ] || fail "Node.js was not found" "install Node 20 or newer (it brings npm)"
  local major=${version#v}
  [ "${major%%.*}" -ge 20 ] || fail "Node.js is $version, and 20 or newer is needed" "install Node 20 or newer"
  command -v npm >/dev/null || fail "npm was not found" "install npm (it usually comes with Node.js)"
}

# Shows pip's newest line in place on a terminal, and nothing in a log file.
show_progress() {
  local line
  while IFS= read -r line; do
    if [ -t 1 ]; then printf '\r\033[K  %.76s' "$line"; fi
  done
  if [ -t 1 ]; then printf '\r\033[K'; fi
}

make_venv() {
  local python=$1 log=.build/log/python-packages.txt
  mkdir -p .build/log
  printf 'Python packages into %s (only when requirements.txt has changed; a minute or two)\n' "$venv"
  if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    "$python" -m venv --clear "$venv" ||
      fail "$python could not make a virtual environment" "install its venv module (Debian, Ubuntu: apt install python3-venv)"
  fi
  "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off -r requirements.txt 2>&1 |
    tee "$log" | show_progress ||
    { tail -n 5 "$log" >&2; fail "pip could not install requirements.txt" "see $log; check the network, then run the same command again"; }
  cp requirements.txt "$installed"
}

if [ "${1:-}" = torch ]; then  # needs neither Node nor the site's environment
  python=$(find_python)
  shift
  exec "$python" tests/torch/environment.py "$@"
fi
check_node
if ! cmp -s requirements.txt "$installed"; then
  python=$(find_python)  # a line of its own: its failure then ends the script
  make_venv "$python"
fi
export PYTHONPATH=$PWD/content PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=
exec "$venv/bin/python" -m publish "$@"
