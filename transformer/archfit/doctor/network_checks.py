"""How registries are reached: proxies, CA certificates, mirrors. Nothing is sent.

Of a proxy's URL only scheme, host and port are shown: it may hold a password.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from archfit.base.errors import UsageError
from archfit.base.printable import count
from archfit.doctor.findings import NOTE, OK, WRONG, Diagnostic
from archfit.options.settings import Operator
from archfit.registry.http.tls import context
from archfit.registry.http.trust import USUAL
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.routes import Routes

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")


def network(operator: Operator, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Proxies and routes."""
    yield from _proxies(environ)
    try:
        routes = Routes(operator)
    except (UsageError, RegistryError) as error:
        yield Diagnostic("network", WRONG, str(error))
        return
    words = [count(len(routes.named), "mirror or server")] if routes.named else []
    words += (
        [f"{count(len(operator.allow_hosts), 'pattern')} in --allow-host"] if operator.allow_hosts else []
    )
    words += [f"{count(len(operator.deny_hosts), 'pattern')} in --deny-host"] if operator.deny_hosts else []
    words += ["--offline: no registry is asked"] if operator.offline else []
    yield Diagnostic(
        "network",
        OK,
        f"configured: {', '.join(words)}" if words else "no mirrors, and no patterns of hosts",
    )


def trust(operator: Operator, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The CA certificates that count."""
    named = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if environ.get(name)]
    for name in named:
        path = environ[name]
        if not os.path.exists(path):
            yield Diagnostic(
                "certificates", WRONG, f"{name} names {path!r}, which is not there", f"unset {name}"
            )
            return
    try:
        tls = context(USUAL, operator.ca_file, environ)
    except RegistryError as error:
        remedy = (
            f"unset {named[0]}" if named else "correct --ca-file; openssl x509 -in FILE -noout -text reads it"
        )
        yield Diagnostic("certificates", WRONG, str(error), remedy)
        return
    loaded = len(tls.get_ca_certs())
    where = " and ".join(named) or "certifi"
    also = " and --ca-file" if operator.ca_file else ""
    if loaded or environ.get("SSL_CERT_DIR"):  # a folder is read when a certificate of it is needed
        amount = count(loaded, "CA certificate") if loaded else "CA certificates"
        yield Diagnostic("certificates", OK, f"{amount} of {where}{also}")
    else:
        yield Diagnostic(
            "certificates",
            WRONG,
            f"{where} holds no CA certificate, so no registry is trusted",
            f"unset {where}",
        )


def _proxies(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    for name in _PROXIES:
        given = {
            spelling: environ[spelling].strip()
            for spelling in (name, name.upper())
            if environ.get(spelling, "").strip()
        }
        for spelling, value in given.items():
            shown = _shown(value)
            if shown:
                yield Diagnostic("network", OK, f"{spelling} is {shown}")
            else:
                yield Diagnostic(
                    "network",
                    WRONG,
                    f"{spelling} is not an http:// or https:// URL",
                    f"export {spelling}=http://proxy.example:3128",
                )
        if len(set(given.values())) > 1:
            yield Diagnostic(
                "network",
                NOTE,
                f"{name} and {name.upper()} differ, and {name} counts",
                f"unset {name.upper()}",
            )
    if any(environ.get(spelling) for spelling in ("no_proxy", "NO_PROXY")) and not any(
        environ.get(spelling) for name in _PROXIES for spelling in (name, name.upper())
    ):
        yield Diagnostic(
            "network", NOTE, "NO_PROXY is set, and no proxy is: it has no effect", "unset NO_PROXY no_proxy"
        )


def _shown(value: str) -> str:
    """`http://host:port` of a proxy, "" for a value that is no proxy for archfit."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")
