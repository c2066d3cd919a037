"""PGP keys for a test, made by gpg in a home of its own, as keyrings that Helm reads.

with signing_key(folder, "me") as key:
    key.secret    what `gpg --export-secret-keys` wrote: `helm plugin package --keyring`
    key.public    what `gpg --export` wrote: `helm plugin install --keyring`
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import machine


class SigningKey(NamedTuple):
    """A key and its two keyrings. home: GNUPGHOME."""

    name: str
    home: Path
    secret: Path
    public: Path


@contextlib.contextmanager
def signing_key(folder: Path, name: str, passphrase: str = "") -> Iterator[SigningKey]:
    """A key. The agent that gpg starts is ended."""
    home = folder / f"gnupg-{name}"
    home.mkdir(mode=0o700)
    key = SigningKey(name, home, folder / f"{name}.secret.gpg", folder / f"{name}.gpg")
    gpg = [machine.tool("gpg"), "--homedir", str(home), "--batch", "--quiet"]
    gpg += ["--pinentry-mode", "loopback", "--passphrase", passphrase]
    environ = {**os.environ, "GNUPGHOME": str(home)}
    try:
        for words in (
            ("--quick-generate-key", name, "rsa3072", "sign", "1d"),
            ("--output", str(key.secret), "--export-secret-keys", name),
            ("--output", str(key.public), "--export", name),
        ):
            subprocess.run([*gpg, *words], env=environ, check=True, capture_output=True)
        yield key
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)
