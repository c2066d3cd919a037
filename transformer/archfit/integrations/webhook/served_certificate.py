"""Would the API server take this certificate? A TLS handshake in memory says so: no program, no socket.

    Pair, name ── examine ─> Served(expires)     the key fits, the CAs prove the certificate, and for this name
                         └─> Wrong               what does not fit, in one sentence
    CAs ── newest_ca ─> the first of them, which proves the newest certificate ── ca_expires ─> when it does

The handshake does not look at the clock, so that an expired certificate still tells when it expired.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from archfit.integrations.check_lines import Wrong
from archfit.integrations.webhook.certificates import Pair
from archfit.record import Record

_NO_CLOCK = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name
_END = b"-----END CERTIFICATE-----\n"
_TURNS = 8  # TLS 1.3 needs three


class Served(Record):
    """expires: when the first of the certificate and its CA does. begins: when the certificate becomes valid."""

    begins: datetime
    expires: datetime

    def share_left(self, now: datetime) -> float:
        """1.0 for a new certificate, 0.0 or less for an expired one."""
        return (self.expires - now) / (self.expires - self.begins)


def examine(pair: Pair, name: str) -> Served:
    """What the API server finds when it connects to `name` with these CAs. Raises Wrong."""
    server = _server(pair)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.verify_flags |= ssl.VerifyFlags(_NO_CLOCK)
    _trust(client, pair.ca)
    try:
        found = _handshake(server, client, name)
    except ssl.SSLCertVerificationError as error:
        raise Wrong(f"caBundle does not prove the certificate for {name} ({error.verify_message})") from None
    except ssl.SSLError as error:
        raise Wrong(f"the certificate cannot be served ({error.reason})") from None
    ends = [_time(found["notAfter"])]
    ends += [_time(str(ca["notAfter"])) for ca in client.get_ca_certs() if ca["subject"] == found["issuer"]]
    return Served(_time(found["notBefore"]), min(ends))


def newest_ca(bundle: bytes) -> bytes:
    """The first certificate of a bundle."""
    head, end, _older = bundle.partition(_END)
    return head + end


def ca_expires(bundle: bytes) -> datetime:
    """When the first CA of a bundle expires. Raises Wrong where it holds none."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(client, newest_ca(bundle))
    for ca in client.get_ca_certs():
        return _time(str(ca["notAfter"]))
    raise Wrong("caBundle holds no certificates")


def _trust(client: ssl.SSLContext, bundle: bytes) -> None:
    try:
        client.load_verify_locations(cadata=bundle.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise Wrong("caBundle holds no certificates") from None


def _server(pair: Pair) -> ssl.SSLContext:
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


def _handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> Mapping[str, Any]:
    """The certificate as the client sees it. Raises SSLError."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname=name)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(_TURNS):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return asking.getpeercert() or {}


def _time(text: str) -> datetime:
    """As `getpeercert` writes it."""
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC)
