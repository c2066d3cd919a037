"""`archfit setup webhook --check [--into DIR]`: do the manifests in DIR fit together, and for how long?

The Secret of the certificate may be missing: then only the CA of caBundle is looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

from archfit.base.errors import ArchfitError
from archfit.cli.setup.check_lines import Line, Wrong, write_lines
from archfit.cli.setup.yaml_files import parsed
from archfit.webhook.setup import webhook_folder
from archfit.webhook.setup.certificates import ca_expires, examine, time_left
from archfit.webhook.setup.setup_files import SECRET, WEBHOOK
from archfit.webhook.setup.webhook_folder import WebhookFolder


def check(folder: str, stdout: BinaryIO, now: datetime) -> int:
    """Writes a line for each thing found; 1 if one is wrong."""
    return write_lines(_lines(folder, now), stdout)


def _lines(folder: str, now: datetime) -> Iterator[Line]:
    try:
        there = webhook_folder.read(folder)
    except ArchfitError as error:
        yield False, str(error)
        return
    yield True, f"{os.path.join(folder, WEBHOOK)} calls the Service {there.namespace}/{there.service}"
    yield _service(folder, there)
    if there.inject:
        yield _cert_manager(folder, there)
    else:
        yield from _own(folder, there, now)


def _service(folder: str, there: WebhookFolder) -> Line:
    path = os.path.join(folder, "40-service.yaml")
    service = _named(path)
    if service == f"{there.namespace}/{there.service}":
        return True, f"{path} defines it"
    return False, f"{path} defines {service or 'nothing'}, and the webhook calls another: correct one of them"


def _cert_manager(folder: str, there: WebhookFolder) -> Line:
    path = os.path.join(folder, "23-certificate.yaml")
    name = _named(path)
    if name != there.inject:
        return (
            False,
            f"cert-manager takes caBundle from {there.inject}, and {path} defines {name or 'nothing'}",
        )
    with open(path, encoding="utf-8") as file:
        names = list((parsed(file.read()).get("spec") or {}).get("dnsNames") or [])
    if there.dns_names[0] not in names:
        return False, f"{path}: dnsNames lacks {there.dns_names[0]}: add it"
    return True, f"cert-manager makes the certificate for {there.dns_names[0]} and writes caBundle"


def _own(folder: str, there: WebhookFolder, now: datetime) -> Iterator[Line]:
    renew = f"run archfit setup webhook --renew --into {folder}, then kubectl apply --server-side -f {folder}"
    try:
        if not there.has_secret and there.bundle:
            yield True, f"{SECRET} is not here: the certificate is judged by its CA in caBundle"
            expires = ca_expires(there.bundle)
        elif there.pair is None:
            yield False, f"{SECRET} and caBundle hold no certificate: {renew}"
            return
        else:
            expires = examine(there.pair, there.dns_names[0]).expires
            yield True, f"key, certificate and caBundle belong together, for {there.dns_names[0]}"
    except Wrong as error:
        yield False, f"{error}: {renew}"
        return
    yield time_left(expires, now, renew)
    if there.has_secret:
        yield _private(os.path.join(folder, SECRET))


def _private(path: str) -> Line:
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        return False, f"{path} holds the private key, and others may read it: chmod 600 {path}"
    return True, f"{path} is readable by you alone"


def _named(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            metadata = parsed(file.read())["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"
    except Exception:  # noqa: BLE001 - whatever the file holds, it is no such object
        return ""
