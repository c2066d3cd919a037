"""A certificate for the webhook, made by the program openssl: a CA for this one certificate, and the certificate.

    ca.key ── signs ─> ca.crt           goes into caBundle; the key is discarded, so the CA never signs anything else
       └───── signs ─> tls.crt          with tls.key, for the pods

P-256 keys; extensions as the strict checks of OpenSSL 3 and Go's crypto/x509 want them (RFC 5280, 4.2). The keys exist
in a temporary folder of mode 0700 while openssl runs; nothing prints them. OpenSSL 1.1.1 or later and LibreSSL take
these commands. Would the API server take a certificate? A TLS handshake in memory says so (`webhook.handshake`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from archfit.base.errors import ArchfitError
from archfit.base.files import read_file
from archfit.base.printable import count
from archfit.cli.setup.check_lines import Line, Wrong
from archfit.cli.setup.external_program import run_program
from archfit.startup.record import Record
from archfit.webhook.handshake import NO_CLOCK, handshake, validity

_SOON_DAYS = 30


def time_left(expires: datetime, now: datetime, renew: str) -> Line:
    """Wrong from 30 days before the end on. renew: the remedy."""
    day, days = f"{expires:%Y-%m-%d}", (expires - now).days
    if expires <= now:
        return False, f"the certificate expired on {day}, and pods are created unchanged: {renew}"
    if days < _SOON_DAYS:
        return False, f"the certificate expires on {day}, in {count(days, 'day')}: {renew}"
    return True, f"the certificate is valid until {day}, for {count(days, 'day')}"


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


class KeyPair(Record):
    """A certificate and its key, and the CAs that prove it. All PEM."""

    ca: bytes
    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "KeyPair(..)"


def issue(names: Sequence[str], days: int, environ: Mapping[str, str]) -> KeyPair:
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
                why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
                raise ArchfitError(
                    f"{openssl} {words[0]} failed: {why}. Update OpenSSL, or use --cert-manager"
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
        return KeyPair(*(read_file(path(name)) for name in ("ca.crt", "tls.crt", "tls.key")))


_END = b"-----END CERTIFICATE-----\n"


class Served(Record):
    """expires: when the first of the certificate and its CA does. begins: when the certificate becomes valid."""

    begins: datetime
    expires: datetime

    def share_left(self, now: datetime) -> float:
        """1.0 for a new certificate, 0.0 or less for an expired one."""
        return (self.expires - now) / (self.expires - self.begins)


def examine(pair: KeyPair, name: str) -> Served:
    """What the API server finds when it connects to `name` with these CAs. Raises Wrong."""
    server = _server(pair)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.verify_flags |= NO_CLOCK
    _trust(client, pair.ca)
    try:
        leaf = handshake(server, client, name)
    except ssl.SSLCertVerificationError as error:
        raise Wrong(f"caBundle does not prove the certificate for {name} ({error.verify_message})") from None
    except ssl.SSLError as error:
        raise Wrong(f"the certificate cannot be served ({error.reason})") from None
    begins, expires = validity(leaf)
    issuers = [ca for ca in client.get_ca_certs() if ca["subject"] == leaf["issuer"]]
    ends = [expires, *(validity(ca)[1] for ca in issuers)]
    return Served(datetime.fromtimestamp(begins, UTC), datetime.fromtimestamp(min(ends), UTC))


def newest_ca(bundle: bytes) -> bytes:
    """The first certificate of a bundle."""
    head, end, _older = bundle.partition(_END)
    return head + end


def ca_expires(bundle: bytes) -> datetime:
    """When the first CA of a bundle expires. Raises Wrong where it holds none."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(client, newest_ca(bundle))
    authorities = client.get_ca_certs()
    if not authorities:
        raise Wrong("caBundle holds no certificates")
    return datetime.fromtimestamp(validity(authorities[0])[1], UTC)


def _trust(client: ssl.SSLContext, bundle: bytes) -> None:
    try:
        client.load_verify_locations(cadata=bundle.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise Wrong("caBundle holds no certificates") from None


def _server(pair: KeyPair) -> ssl.SSLContext:
    """Python loads a pair from files only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory(prefix="archfit-") as folder:
        certificate, key = (os.path.join(folder, name) for name in ("tls.crt", "tls.key"))
        for path, content in ((certificate, pair.certificate), (key, pair.key)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        try:
            # A key with a passphrase would ask for it on the terminal.
            context.load_cert_chain(certificate, key, lambda: "")
        except ssl.SSLError as error:
            what = (
                "the key does not belong to the certificate"
                if error.reason == "KEY_VALUES_MISMATCH"
                else "tls.crt and tls.key are no pair of PEM files"
            )
            raise Wrong(what) from None
    return context
