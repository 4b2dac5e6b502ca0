#!/usr/bin/env bash
# Make sure that there is a Chromium for the browser tests: from PATH, otherwise from Debian if we are root.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing chromium for the browser tests ..."
  export DEBIAN_FRONTEND=noninteractive
  if { apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1; then exit 0; fi
fi
echo "no chromium and chromedriver on PATH: the browser tests cannot run (Debian: apt install chromium chromium-driver)" >&2
