"""A TLS handshake in memory: what a client finds when a server serves its certificate. No program, no socket.

Python tells what a certificate says only to a client that has verified it. The clock is not looked at, so that an
expired certificate still tells when it expired.
"""

from __future__ import annotations

import ssl
from typing import Any

NO_CLOCK = ssl.VerifyFlags(0x200000)
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name."""
_TURNS = 8  # TLS 1.3 needs three


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> dict[str, Any]:
    """The server's certificate, as `SSLSocket.getpeercert` has it. Raises SSLError where the client refuses it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname=name)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(_TURNS):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return dict(asking.getpeercert() or {})


def own_validity(server: ssl.SSLContext, certificate: str) -> tuple[int, int]:
    """As `validity` of the certificate that a server has loaded. certificate: its file, which is trusted here."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= NO_CLOCK | ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(certificate)
    return validity(handshake(server, client, "localhost"))


def validity(certificate: dict[str, Any]) -> tuple[int, int]:
    """When a certificate begins and expires, in Unix seconds."""
    begins, expires = (ssl.cert_time_to_seconds(certificate[key]) for key in ("notBefore", "notAfter"))
    return begins, expires
