"""A CA of the tests' own and a certificate for loopback, made by the openssl program."""

from __future__ import annotations

import functools
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import machine


class TlsFiles(NamedTuple):
    """Paths of PEM files."""

    ca: Path
    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """For a server."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.certificate, self.key)
        return made


@functools.cache
def tls_files() -> TlsFiles:
    """Made once for each test process. Skips or fails the running test where there is no openssl."""
    openssl = shutil.which("openssl") or machine.missing("openssl", "apt-get install openssl")
    folder = Path(tempfile.mkdtemp(prefix="archfit-tls-"))

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    subject = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run(*new, "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=archfit tests")
    run(*new, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "extensions").write_text(subject)
    run(
        *("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-out", "server.crt", "-days", "2", "-extfile", "extensions"),
    )
    return TlsFiles(folder / "ca.crt", folder / "server.crt", folder / "server.key")
