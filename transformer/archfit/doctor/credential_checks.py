"""Credentials: which files and helpers archfit would use. No helper is started, and no value is shown."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping

from archfit.base.printable import count, few
from archfit.doctor.findings import Diagnostic, missing, note, ok, wrong
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import load_file, places
from archfit.registry.registry_errors import RegistryError

SUBJECT = "credentials"
_LISTED = 3


def credentials(operator: Operator, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Every file of the chain, in the order in which archfit reads them."""
    try:
        chain = list(places(operator.authfile, environ))
    except RegistryError as error:
        yield wrong(SUBJECT, str(error), "unset DOCKER_CONFIG")
        return
    there = [path for path, required in chain if required or os.path.exists(path)]
    if not there:
        first = chain[-2][0] if len(chain) > 1 else "no file"
        yield missing(
            SUBJECT,
            f"there are none ({first} and others are looked for); images that need no login work",
            "docker login HOST, or podman login HOST",
        )
    for path in there:
        yield from _file(path, environ)


def _file(path: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    try:
        document = load_file(path)
    except RegistryError as error:
        yield wrong(SUBJECT, str(error), f"ls -l {shlex.quote(path)}; docker login HOST writes it anew")
        return
    auths, helpers, store = document["auths"], document["credHelpers"], document["credsStore"]
    held = sum(bool(entry) for entry in auths.values())
    parts = [count(len(auths), "registry").replace("registrys", "registries")]
    parts += [f"{count(len(helpers), 'helper')}"] if helpers else []
    parts += [f"everything else from docker-credential-{store}"] if store else []
    yield ok(SUBJECT, f"{path}: {', '.join(parts)}")
    if held and os.name != "nt" and os.stat(path).st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield note(SUBJECT, f"{path} can be read by other users", f"chmod 600 {shlex.quote(path)}")
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
        yield wrong(SUBJECT, f"{program}, for {shown}, is not on PATH", remedy)
    else:
        yield ok(SUBJECT, f"{place}, for {shown}")
