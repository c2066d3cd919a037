"""A certificate for the webhook, made by the program openssl: a CA for this one certificate, and the certificate.

    ca.key ── signs ─> ca.crt           goes into caBundle; the key is discarded, so the CA never signs anything else
       └───── signs ─> tls.crt          with tls.key, for the pods

P-256 keys; extensions as the strict checks of OpenSSL 3 and Go's crypto/x509 want them (RFC 5280, 4.2). The keys exist
in a temporary folder of mode 0700 while openssl runs; nothing prints them.

OpenSSL 1.1.1 or later and LibreSSL take these commands. archfit needs no cryptography library for this one command.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence

from archfit.errors import ArchfitError
from archfit.files import read_file
from archfit.integrations.external_program import run_program
from archfit.record import Record

_CONFIGURATION = """\
[req]
distinguished_name = subject
prompt = no
[subject]
CN = {subject}
[ca]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid:always
subjectAltName = {names}
"""
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256")


class Pair(Record):
    """A certificate and its key, and the CAs that prove it. All PEM."""

    ca: bytes
    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Pair(..)"


def issue(names: Sequence[str], days: int, environ: Mapping[str, str]) -> Pair:
    """A new pair. names: DNS names that the certificate proves. days: how long both are valid. Raises ArchfitError."""
    openssl = shutil.which("openssl", path=environ.get("PATH"))
    if not openssl:
        raise ArchfitError(
            "openssl is not on PATH, and archfit makes the certificate with it: install it, or let cert-manager make "
            "the certificate with --cert-manager"
        )
    serial = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="archfit-") as folder:

        def path(name: str) -> str:
            return os.path.join(folder, name)

        def run(*words: str) -> None:
            done = run_program((openssl, *words), environ)
            if done.returncode:
                said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
                raise ArchfitError(
                    f"{openssl} {words[0]} failed: {said}. Update OpenSSL, or use --cert-manager"
                )

        def configuration(name: str, subject: str) -> str:
            text = _CONFIGURATION.format(subject=subject, names=",".join(f"DNS:{name}" for name in names))
            with open(path(name), "w", encoding="ascii") as file:
                file.write(text)
            return path(name)

        # Each CA has a name of its own: a bundle may hold the last one beside it.
        ca = configuration("ca.cnf", f"archfit webhook CA {serial}")
        leaf = configuration("leaf.cnf", names[0][:64])
        run("req", "-x509", *_NEW_KEY, "-days", str(days), "-config", ca, "-extensions", "ca",
            "-keyout", path("ca.key"), "-out", path("ca.crt"))  # fmt: skip
        run("req", "-new", *_NEW_KEY, "-config", leaf, "-keyout", path("tls.key"), "-out", path("tls.csr"))
        run("x509", "-req", "-sha256", "-in", path("tls.csr"), "-CA", path("ca.crt"), "-CAkey", path("ca.key"),
            "-set_serial", f"0x1{serial}", "-days", str(days), "-extfile", leaf, "-extensions", "leaf",
            "-out", path("tls.crt"))  # fmt: skip
        return Pair(*(read_file(path(name)) for name in ("ca.crt", "tls.crt", "tls.key")))
