#!/usr/bin/env bash
# Written by `make release-check` by scripts/release/package_managers.py: bin/install of an asdf plugin.
set -euo pipefail
mkdir -p "$ASDF_INSTALL_PATH/bin"
cp -R "$ASDF_DOWNLOAD_PATH/archfit" "$ASDF_INSTALL_PATH/archfit"
ln -s ../archfit/archfit "$ASDF_INSTALL_PATH/bin/archfit"
