#!/usr/bin/env bash
# Make .venv with the given Python, or say in one line why this machine cannot.
set -euo pipefail
python=$1
fail() { echo "make: $*" >&2; exit 1; }

command -v "$python" >/dev/null || fail "no $python on PATH; install Python 3.11 or newer, or run: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" -V 2>&1) is too old; install Python 3.11 or newer, then run: make PYTHON=python3.11"
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || fail "this runs on Linux x86-64; here it is $(uname -s) $(uname -m)"
"$python" -m venv .venv || fail "cannot make .venv; install Python's venv module (Debian: apt install python3-venv)"
