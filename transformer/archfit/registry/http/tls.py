"""TLS: which CAs count, which client certificate is sent, and what is said where it fails.

usual CAs     SSL_CERT_FILE or SSL_CERT_DIR, else the system's; and --ca-file
one server    those, or none of them, and its `ca`; its `client` certificates; no verification where it is insecure

A context with the usual CAs takes 0.7 MB, and `archfit serve` has a Lookup in each of its threads: they share it while
its files are the same.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Mapping

from archfit.registry.http.request import NoTls, Unreachable, reason
from archfit.registry.http.trust import Tls
from archfit.registry.registry_errors import RegistryError

_MOST_SHARED = 8
_shared: dict[object, ssl.SSLContext] = {}
# OpenSSL's words for an answer that is no TLS record.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
# To Python 3.11.2 an end without TLS's own is the second one.
_ENDED = ssl.SSLEOFError, ssl.SSLZeroReturnError
# X509_V_ERR_* of OpenSSL's x509_vfy.h.
_NOT_YET_VALID, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64


def context(tls: Tls, ca_file: str, environ: Mapping[str, str]) -> ssl.SSLContext:
    """The context for servers of this trust. ca_file: "" for none.

    Raises RegistryError for files that cannot be read.
    """
    file, folder = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if folder or tls.client:
        return _context(tls, ca_file, file, folder)
    key = tls, tuple(map(_identity, (file, ca_file, *tls.ca)))
    shared = _shared.get(key)
    if shared is None:
        shared = _context(tls, ca_file, file, folder)
        if len(_shared) >= _MOST_SHARED:
            _shared.clear()
        _shared[key] = shared
    return shared


def _identity(path: str) -> object:
    """Another one where the file is another."""
    try:
        about = os.stat(path)
    except OSError:
        return path
    return path, about.st_mtime_ns, about.st_size, about.st_ino


def _context(tls: Tls, ca_file: str, file: str, folder: str) -> ssl.SSLContext:
    if tls.verify:
        if not tls.usual:
            file, folder, ca_file = tls.ca[0], "", ""
        elif not file and not folder:
            file, folder = system_cas()
        path = file or folder
        try:
            context = ssl.create_default_context(cafile=file or None, capath=folder or None)
            for path in filter(None, (ca_file, *tls.ca)):
                context.load_verify_locations(cafile=path)
        except OSError as error:
            raise RegistryError(f"the CA certificates in {path} cannot be read: {reason(error)}") from None
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    # OpenSSL sends the last certificate of a kind that was loaded.
    for certificate, key in reversed(tls.client):
        try:
            context.load_cert_chain(certificate, key or None, password=_no_password)
        except (OSError, ValueError) as error:
            raise RegistryError(
                f"the client certificate {certificate} cannot be used: {reason(error)}"
            ) from None
    context.set_alpn_protocols(["http/1.1"])
    return context


def system_cas() -> tuple[str, str]:
    """The file or the folder of the CAs that this machine trusts, "" for the other; certifi's file where it has none.

    Of a folder OpenSSL reads what a handshake needs, by hashed names; a file takes 30 ms.
    """
    places = ssl.get_default_verify_paths()
    with contextlib.suppress(OSError):
        if places.capath and any(name.endswith(".0") for name in os.listdir(places.capath)):
            return "", places.capath
    if places.cafile:
        return places.cafile, ""
    import certifi  # 3 ms, and no Linux with ca-certificates needs it

    return certifi.where(), ""


def _no_password() -> str:
    """Called for the password of a key; without it OpenSSL would ask on the terminal."""
    raise ValueError("its key has a password, which archfit does not support")


def refusal(host: str, port: int, error: BaseException | None) -> Unreachable | None:
    """What the user is told where TLS itself failed; None for a connection that broke or took too long."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unreachable(untrusted(host, error), retryable=False, mistake=True)
    if not isinstance(error, ssl.SSLError) or isinstance(error, _ENDED):
        return None
    if error.reason in _NO_TLS:
        return NoTls(host if port == 443 else f"{host}:{port}")
    return Unreachable(f"{host} does not speak TLS as expected ({error.reason})", retryable=False)


def untrusted(host: str, error: ssl.SSLCertVerificationError) -> str:
    """Why a server's certificate is refused, and what to do about it."""
    problem = f"the TLS certificate of {host} is not trusted ({error.verify_message.rstrip('.')})"
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return f"{problem}: renew it, or set the clock of this machine right"
    if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        return f"{problem}: use a name that the certificate has, or let one be made for {host}"
    return f"{problem}: name the CA with --ca-file or in SSL_CERT_FILE"
