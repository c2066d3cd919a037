"""How registries are reached: proxies, CA certificates, mirrors. Nothing is sent.

Of a proxy's URL only scheme, host and port are shown: it may hold a password.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from archfit.base.errors import UsageError
from archfit.base.printable import count
from archfit.doctor.findings import Diagnostic, note, ok, wrong
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
        yield wrong("network", str(error))
        return
    words = [count(len(routes.named), "mirror or server")] if routes.named else []
    for flag, hosts in (("--allow-host", operator.allow_hosts), ("--deny-host", operator.deny_hosts)):
        words += [f"{count(len(hosts), 'pattern')} in {flag}"] if hosts else []
    words += ["--offline: no registry is asked"] if operator.offline else []
    text = f"configured: {', '.join(words)}" if words else "no mirrors, and no patterns of hosts"
    yield ok("network", text)


def trust(operator: Operator, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The CA certificates that count."""
    named = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if environ.get(name)]
    for name in named:
        path = environ[name]
        if not os.path.exists(path):
            yield wrong("certificates", f"{name} names {path!r}, which is not there", f"unset {name}")
            return
    try:
        tls = context(USUAL, operator.ca_file, environ)
    except RegistryError as error:
        correct = "correct --ca-file; openssl x509 -in FILE -noout -text reads it"
        yield wrong("certificates", str(error), f"unset {named[0]}" if named else correct)
        return
    loaded = len(tls.get_ca_certs())
    where = " and ".join(named) or "certifi"
    also = " and --ca-file" if operator.ca_file else ""
    if loaded or environ.get("SSL_CERT_DIR"):  # a folder is read when a certificate of it is needed
        amount = count(loaded, "CA certificate") if loaded else "CA certificates"
        yield ok("certificates", f"{amount} of {where}{also}")
    else:
        yield wrong(
            "certificates", f"{where} holds no CA certificate, so no registry is trusted", f"unset {where}"
        )


def _proxies(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    for name in _PROXIES:
        given = {
            spelling: environ[spelling].strip()
            for spelling in (name, name.upper())
            if environ.get(spelling, "").strip()
        }
        for spelling, value in given.items():
            remedy = f"export {spelling}=http://proxy.example:3128"
            if shown := _shown(value):
                yield ok("network", f"{spelling} is {shown}")
            else:
                yield wrong("network", f"{spelling} is not an http:// or https:// URL", remedy)
        if len(set(given.values())) > 1:
            yield note(
                "network", f"{name} and {name.upper()} differ, and {name} counts", f"unset {name.upper()}"
            )
    proxies = any(environ.get(spelling) for name in _PROXIES for spelling in (name, name.upper()))
    if not proxies and (environ.get("no_proxy") or environ.get("NO_PROXY")):
        yield note("network", "NO_PROXY is set, and no proxy is: it has no effect", "unset NO_PROXY no_proxy")


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
