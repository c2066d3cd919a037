"""How registries are reached: proxies, CA certificates, mirrors, credentials. Nothing is sent, no helper is started.

Of a proxy's URL only scheme, host and port are shown: it may hold a password. No value of a credential is shown.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping

from archfit.base.errors import UsageError
from archfit.base.printable import count, few
from archfit.doctor.findings import Diagnostic, missing, note, ok, wrong
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import VARIABLE, load_file, places
from archfit.registry.http.proxies import proxy_at
from archfit.registry.http.tls import context, system_cas
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
    file, folder = (environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")) if named else system_cas()
    where = " and ".join(named) or file or folder
    also = " and --ca-file" if operator.ca_file else ""
    if loaded or folder:  # a folder is read when a certificate of it is needed
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
            try:
                yield ok(
                    "network", f"{spelling} is {proxy_at(value if '://' in value else f'http://{value}')}"
                )
            except RegistryError:
                remedy = f"export {spelling}=http://proxy.example:3128"
                yield wrong("network", f"{spelling} is not an http:// or https:// URL", remedy)
        if len(set(given.values())) > 1:
            yield note(
                "network", f"{name} and {name.upper()} differ, and {name} counts", f"unset {name.upper()}"
            )


_CREDENTIALS = "credentials"
_LISTED = 3


def credentials(operator: Operator, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Every file of the chain, in the order in which archfit reads them."""
    try:
        chain = list(places(operator.authfile, environ))
    except RegistryError as error:
        yield wrong(_CREDENTIALS, str(error), "unset DOCKER_CONFIG")
        return
    there = [path for path, required in chain if required or os.path.exists(path)]
    if not there:
        first = chain[-2][0] if len(chain) > 1 else "no file"
        yield missing(
            _CREDENTIALS,
            f"there are none ({first} and others are looked for); images that need no login work",
            "docker login HOST, or podman login HOST",
        )
    for path in there:
        yield from _file(path, environ)


def _file(path: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    try:
        document = load_file(path, environ)
    except RegistryError as error:
        remedy = f"ls -l {shlex.quote(path)}; docker login HOST writes it anew"
        yield wrong(_CREDENTIALS, str(error), "unset DOCKER_AUTH_CONFIG" if path == VARIABLE else remedy)
        return
    auths, helpers, store = document["auths"], document["credHelpers"], document["credsStore"]
    held = sum(bool(entry) for entry in auths.values())
    parts = [count(len(auths), "registry").replace("registrys", "registries")]
    parts += [f"{count(len(helpers), 'helper')}"] if helpers else []
    parts += [f"everything else from docker-credential-{store}"] if store else []
    yield ok(_CREDENTIALS, f"{path}: {', '.join(parts)}")
    if held and path != VARIABLE and os.stat(path).st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield note(_CREDENTIALS, f"{path} can be read by other users", f"chmod 600 {shlex.quote(path)}")
    used: dict[str, list[str]] = defaultdict(list)
    for host, name in helpers.items():
        used[name].append(host)
    if store:
        used[store].append("every other registry")
    for name, hosts in used.items():
        yield from _helper(name, hosts, path, environ)


def _helper(name: str, hosts: list[str], path: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    program = f"docker-credential-{name}"
    shown = few(hosts, _LISTED)
    place = shutil.which(program, path=environ.get("PATH"))
    if place is None or os.sep in name:
        remedy = f"install it, or remove it from {path} and run docker login"
        yield wrong(_CREDENTIALS, f"{program}, for {shown}, is not on PATH", remedy)
    else:
        yield ok(_CREDENTIALS, f"{place}, for {shown}")
