#!/usr/bin/env bash
# Written by `make release-check` by scripts/release/package_managers.py: bin/download of an asdf plugin.
set -euo pipefail
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-amd64 ;;
Linux-aarch64) platform=linux-arm64 ;;
*) echo "archfit has no binary for $(uname -s) on $(uname -m): use pipx install archfit" >&2; exit 1 ;;
esac
file="archfit-$ASDF_INSTALL_VERSION-$platform.tar.gz"
from="@address@/releases/download/v$ASDF_INSTALL_VERSION"
cd "$ASDF_DOWNLOAD_PATH"
curl --fail --silent --show-error --location --remote-name "$from/$file"
curl --fail --silent --show-error --location --remote-name "$from/SHA256SUMS"
grep " $file\$" SHA256SUMS > archfit.sha256
sha256sum --check --quiet archfit.sha256
tar -xzf "$file"
rm "$file" SHA256SUMS archfit.sha256
