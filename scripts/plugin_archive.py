"""Packages and signs Helm 4's plugin with `helm plugin package`, and proves the signature. `make plugin` calls it.

    python scripts/plugin_archive.py --helm HELM --keyring FILE --key NAME [--passphrase-file FILE] [--into DIR]
    python scripts/plugin_archive.py --helm HELM --throw-away-key [--into DIR]

    DIR/archfit-VERSION.tgz         archfit/{plugin.yaml,README.md,LICENSE}
    DIR/archfit-VERSION.tgz.prov    its metadata and SHA-256, signed
    DIR/archfit-throw-away.gpg      the public key, with --throw-away-key

Helm reads a keyring of the old form. GnuPG 2 keeps secret keys elsewhere; `gpg --export-secret-keys` writes that form.
Equal sources give equal files: Helm takes the times from the files, and SOURCE_DATE_EPOCH or 1980 is written there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "helm-plugin"
CONTENT = (PLUGIN / "plugin.yaml", PLUGIN / "README.md", ROOT / "LICENSE")
_EARLIEST = 315532800  # 1980-01-01, the first time that every archive format can hold
_NO_KEY = """\
name the secret keyring and the key, as in
  gpg --export-secret-keys you@example.com > secret.gpg
  make plugin KEYRING=secret.gpg KEY=you@example.com
"""


def main() -> int:
    """Packages. The exit code."""
    parser = argparse.ArgumentParser(description="Packages and signs Helm 4's plugin.")
    parser.add_argument("--helm", default="helm")
    parser.add_argument("--keyring", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("--passphrase-file", default="")
    parser.add_argument("--throw-away-key", action="store_true")
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    if not given.throw_away_key and not (given.keyring and given.key):
        sys.stderr.write(_NO_KEY)
        return 2
    given.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        keyring, key, public = given.keyring, given.key, given.keyring
        if given.throw_away_key:
            keyring, key, public = stack.enter_context(_throw_away_key(given.into))
        staged = _staged(Path(folder) / "archfit")
        words = ["--sign", "--keyring", keyring, "--key", key, "--destination", str(given.into)]
        words += ["--passphrase-file", given.passphrase_file] if given.passphrase_file else []
        archive = given.into / f"archfit-{_version()}.tgz"
        for command in (
            [given.helm, "plugin", "package", *words, str(staged)],
            [given.helm, "plugin", "verify", "--keyring", public, str(archive)],
        ):
            code = subprocess.run(command, check=False).returncode
            if code:
                return code
    return 0


def _version() -> str:
    """The version of pyproject.toml, which is that of plugin.yaml. Raises SystemExit where they differ."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    plugin = yaml.safe_load((PLUGIN / "plugin.yaml").read_bytes())["version"]
    if version != plugin:
        raise SystemExit(f"helm-plugin/plugin.yaml is of version {plugin}, and pyproject.toml of {version}")
    return str(version)


def _staged(folder: Path) -> Path:
    """The files of the plugin, with times and modes that do not depend on the checkout."""
    folder.mkdir()
    time = int(os.environ.get("SOURCE_DATE_EPOCH") or _EARLIEST)
    for source in CONTENT:
        file = folder / source.name
        shutil.copyfile(source, file)
        file.chmod(0o644)
        os.utime(file, (time, time))
    folder.chmod(0o755)
    os.utime(folder, (time, time))
    return folder


@contextlib.contextmanager
def _throw_away_key(into: Path) -> Iterator[tuple[str, str, str]]:
    """Secret keyring, key and public keyring; the secret one is gone at the end."""
    name = "archfit-throw-away"
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet"]
        try:
            subprocess.run(
                [*gpg, "--passphrase", "", "--quick-generate-key", name, "rsa3072", "sign", "1d"], check=True
            )
            secret, public = Path(home) / "secret.gpg", into / f"{name}.gpg"
            subprocess.run([*gpg, "--output", secret, "--export-secret-keys", name], check=True)
            subprocess.run([*gpg, "--yes", "--output", public, "--export", name], check=True)
            yield str(secret), name, str(public)
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


if __name__ == "__main__":
    sys.exit(main())
