"""Packages and signs Helm 4's plugin with `helm plugin package`, and proves the signature. `make plugin` calls it.

    python scripts/plugin_archive.py --helm HELM --keyring FILE --key NAME [--passphrase-file FILE] [--into DIR]
    python scripts/plugin_archive.py --helm HELM --throw-away-key [--into DIR]

    DIR/archfit-VERSION.tgz         archfit/{plugin.yaml,README.md,LICENSE}
    DIR/archfit-VERSION.tgz.prov    its metadata and SHA-256, signed
    DIR/archfit-plugin.gpg          the public key, for users to verify it with
    DIR/archfit-throw-away.gpg      the same, with --throw-away-key

Helm reads a keyring of the old form. GnuPG 2 keeps secret keys elsewhere; `gpg --export-secret-keys` writes that form.
Equal sources give equal files: Helm takes the times from the files, and SOURCE_DATE_EPOCH or 1980 is written there.

Helm writes no checksum behind a signature, and GnuPG 2.2 then reads the line that ends it as a part of it, unless the
signature is padded with `=`. One of 256 RSA signatures is not. With --throw-away-key, which is for gpgv, it is made
again, and differs as its time does.
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
_MOST_SIGNATURES = 20
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
        if given.throw_away_key:
            keyring, key, public = stack.enter_context(_throw_away_key(given.into))
        else:
            keyring, key = given.keyring, given.key
            public = stack.enter_context(_public_key(keyring, key, given.into))
        staged = _staged(Path(folder) / "archfit")
        words = ["--sign", "--keyring", keyring, "--key", key, "--destination", str(given.into)]
        words += ["--passphrase-file", given.passphrase_file] if given.passphrase_file else []
        archive = given.into / f"archfit-{_version()}.tgz"
        for _ in range(_MOST_SIGNATURES):
            for command in (
                [given.helm, "plugin", "package", *words, str(staged)],
                [given.helm, "plugin", "verify", "--keyring", public, str(archive)],
            ):
                code = subprocess.run(command, check=False).returncode
                if code:
                    return code
            if not given.throw_away_key or _ends_for_gnupg(archive.with_name(f"{archive.name}.prov")):
                return 0
    sys.stderr.write("no signature ends as GnuPG 2.2 needs it: run the command again\n")
    return 1


def _ends_for_gnupg(signed: Path) -> bool:
    """Whether the signature ends in padding or a checksum (RFC 9580, 6.1)."""
    last = signed.read_text(encoding="utf-8").splitlines()[-2]
    return last.startswith("=") or last.endswith("=")


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
def _gpg() -> Iterator[list[str]]:
    """A gpg with a home of its own, which is gone at the end, with the agent that gpg starts."""
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        try:
            yield ["gpg", "--homedir", home, "--batch", "--quiet", "--yes"]
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


@contextlib.contextmanager
def _public_key(keyring: str, key: str, into: Path) -> Iterator[str]:
    """The public part of the key in the keyring. No passphrase is needed for it. Raises SystemExit."""
    public = into / "archfit-plugin.gpg"
    with _gpg() as gpg:
        for words in (["--import", keyring], ["--output", str(public), "--export", key]):
            done = subprocess.run([*gpg, *words], check=False)
            if done.returncode or (words[0] == "--output" and not public.is_file()):
                raise SystemExit(f"gpg cannot read the key {key!r} from {keyring}: {_NO_KEY}")
        yield str(public)


@contextlib.contextmanager
def _throw_away_key(into: Path) -> Iterator[tuple[str, str, str]]:
    """Secret keyring, key and public keyring; the secret one is gone at the end."""
    name = "archfit-throw-away"
    with _gpg() as gpg:
        secret, public = Path(gpg[2]) / "secret.gpg", into / f"{name}.gpg"
        for words in (
            ["--passphrase", "", "--quick-generate-key", name, "rsa3072", "sign", "1d"],
            ["--output", str(secret), "--export-secret-keys", name],
            ["--output", str(public), "--export", name],
        ):
            subprocess.run([*gpg, *words], check=True)
        yield str(secret), name, str(public)


if __name__ == "__main__":
    sys.exit(main())
