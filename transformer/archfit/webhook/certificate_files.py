"""The server's certificate and key, read again when they change, and never served as a pair that does not match.

The moment between the writes of the two files, or between the two reads while the kubelet moves its link `..data`,
shows as a pair that does not match: the old pair goes on, and the next look finds the right one.

A context that is in use is never changed: loading a new pair into it would serve the new certificate with the old key
for as long as the second file is missing. Handshakes begin with the first context and get the current one from its
server-name callback, which also runs for clients that send no name.

With a client CA, a handshake needs a certificate of it. Then no session is resumed: a ticket would outlive the CA.
Source: Python, ssl.SSLContext.sni_callback.
"""

from __future__ import annotations

import contextlib
import os
import ssl

from archfit.base.errors import UsageError
from archfit.startup.record import Record

_NO_CLOCK = ssl.VerifyFlags(0x200000)
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name."""
_TURNS = 8  # TLS 1.3 needs three
_LONGEST = 1024 * 1024


class LoadedCertificate(Record):
    """A certificate that is in use. expires: in Unix seconds."""

    context: ssl.SSLContext
    expires: float


class Certificates:
    """cert, key: paths of PEM files. client_ca: of the clients that may connect, "" for all.

    Raises UsageError for files that cannot be used.

    context: what the listener takes; it serves the current pair. current: that pair.
    """

    def __init__(self, cert: str, key: str, client_ca: str = "") -> None:
        self._cert, self._key, self._client_ca = cert, key, client_ca
        self._seen: object = None
        self.current = self._read()
        self.context = self.current.context
        self.context.sni_callback = self._choose

    def changed(self) -> bool:
        """Whether the files are others than at the last `reload`."""
        return self._state() != self._seen

    def reload(self) -> None:
        """Read the pair again; new handshakes get it. Raises UsageError, and the old pair goes on."""
        self.current = self._read()

    def _choose(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _: ssl.SSLContext
    ) -> None:
        connection.context = self.current.context

    def _read(self) -> LoadedCertificate:
        self._seen = self._state()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # OpenSSL does not say which of them it cannot use.
            with open(self._cert, "rb") as file, open(self._key, "rb"):
                pem = file.read(_LONGEST)
            # It would ask on the terminal for the password of a key.
            context.load_cert_chain(self._cert, self._key, password=lambda: "")
            expires = expiry(context, self._cert)
        except ssl.SSLError as error:
            raise UsageError(self._wrong(error, pem)) from None
        except OSError as error:
            raise UsageError(
                f"the server's certificate: cannot read {error.filename!r} ({error.strerror}): name the folder of a "
                "mounted Secret of type kubernetes.io/tls with --tls-dir"
            ) from None
        if self._client_ca:
            admit_only(context, self._client_ca)
        return LoadedCertificate(context, expires)

    def _wrong(self, error: ssl.SSLError, pem: bytes) -> str:
        if b"-----BEGIN CERTIFICATE-----" not in pem:
            return (
                f"--tls-dir: {self._cert!r} cannot be used (it holds no certificate): write one in PEM there"
            )
        if error.reason == "KEY_VALUES_MISMATCH":
            return (
                f"--tls-dir: the key in {self._key!r} does not belong to the certificate in {self._cert!r}: issue both "
                "again, and write them together"
            )
        return (
            f"--tls-dir: {self._cert!r} and {self._key!r} cannot be used ({error.reason or 'not a PEM file'}): write a "
            "certificate chain and its key there, both in PEM, without a password"
        )

    def _state(self) -> tuple[object, ...]:
        return tuple(identity(path) for path in (self._cert, self._key, self._client_ca) if path)


def admit_only(context: ssl.SSLContext, client_ca: str) -> None:
    """Handshakes need a certificate of these authorities. client_ca: a path. Raises UsageError."""
    try:
        context.load_verify_locations(client_ca)
    except ssl.SSLError:
        pass  # nothing was loaded, or a part
    except OSError as error:
        raise UsageError(
            f"--client-ca: cannot read {client_ca!r} ({error.strerror}): name the CA of the API server's client "
            "certificate, in PEM"
        ) from None
    loaded = context.cert_store_stats()
    if not loaded["x509_ca"] or loaded["x509_ca"] != loaded["x509"]:
        what = "a certificate that is no CA" if loaded["x509"] else "no certificate in PEM"
        raise UsageError(
            f"--client-ca: {client_ca!r} holds {what}: name the CA of the API server's client certificate, in PEM"
        )
    context.verify_mode = ssl.CERT_REQUIRED
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0


def expiry(server: ssl.SSLContext, certificate: str) -> float:
    """When the certificate that a server has loaded expires, also if it has, in Unix seconds. certificate: its file.

    Python tells that only to a client that has verified it: so one meets the server, in memory. Raises SSLError.
    """
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= _NO_CLOCK | ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(_TURNS):
        for side in sides:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return ssl.cert_time_to_seconds(str((sides[0].getpeercert() or {})["notAfter"]))


def identity(path: str) -> tuple[object, ...]:
    """What changes when a file does."""
    try:
        about = os.stat(path)
    except OSError:
        return (path,)
    return path, about.st_mtime_ns, about.st_size, about.st_ino
