"""TLS contexts: which CAs count, and which client certificate is sent.

usual CAs     SSL_CERT_FILE or SSL_CERT_DIR, else certifi's bundle; and --ca-file
one server    those and its `ca`; its `client` certificates; no verification where it is insecure

A context with the usual CAs takes 0.7 MB, and a server has a Lookup in each of its threads: they share it while its
files are the same.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

from archfit.registry.registry_errors import RegistryError
from archfit.registry.transport.network_stream import reason
from archfit.registry.transport.trust import Tls

_MOST_SHARED = 8
_shared: dict[object, ssl.SSLContext] = {}


def context(tls: Tls, ca_file: str, environ: Mapping[str, str]) -> ssl.SSLContext:
    """The context for servers of this trust. ca_file: "" for none.

    Raises RegistryError for files that cannot be read.
    """
    file, folder = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if folder or tls.client:
        return _made(tls, ca_file, file, folder)
    key = tls, tuple(map(_identity, (file, ca_file, *tls.ca)))
    found = _shared.get(key)
    if found is None:
        found = _made(tls, ca_file, file, folder)
        if len(_shared) >= _MOST_SHARED:
            _shared.clear()
        _shared[key] = found
    return found


def _identity(path: str) -> object:
    """Another one where the file is another."""
    try:
        about = os.stat(path)
    except OSError:
        return path
    return path, about.st_mtime_ns, about.st_size, about.st_ino


def _made(tls: Tls, ca_file: str, file: str, folder: str) -> ssl.SSLContext:
    if tls.verify:
        made = _usual(file, folder)
        for path in (*([ca_file] if ca_file else ()), *tls.ca):
            _add(made, path)
    else:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    # OpenSSL sends the last certificate of a kind that was loaded.
    for certificate, key in reversed(tls.client):
        try:
            made.load_cert_chain(certificate, key or None, password=_no_password)
        except (OSError, ValueError) as error:
            raise RegistryError(
                f"the client certificate {certificate} cannot be used: {reason(error)}"
            ) from None
    made.set_alpn_protocols(["http/1.1"])
    return made


def _usual(file: str, folder: str) -> ssl.SSLContext:
    if not file and not folder:
        import certifi  # 2 ms, not needed beside SSL_CERT_FILE

        file = certifi.where()
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:
        raise _unreadable(file or folder, error) from None


def _add(made: ssl.SSLContext, path: str) -> None:
    try:
        made.load_verify_locations(cafile=path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> RegistryError:
    return RegistryError(f"the CA certificates in {path} cannot be read: {reason(error)}")


def _no_password() -> str:
    """Called for the password of a key; without it OpenSSL would ask on the terminal."""
    raise ValueError("its key has a password, which archfit does not support")
