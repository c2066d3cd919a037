#!/usr/bin/env bash
# Written by `make release-check` by scripts/release/package_managers.py: bin/list-all of an asdf plugin.
set -euo pipefail
git ls-remote --tags --refs "@address@.git" | sed -n 's|.*refs/tags/v\([0-9][0-9.]*\)$|\1|p' | sort -V | tr '\n' ' '
