"""What a folder of `archfit setup webhook` says about the webhook and its certificate."""

from __future__ import annotations

import base64
import contextlib
import os
from typing import Any

from ruamel.yaml.error import YAMLError

from archfit.base.errors import ArchfitError
from archfit.cli.setup.owned_files import content_of_users_file
from archfit.cli.setup.yaml_files import parsed
from archfit.startup.record import Record
from archfit.webhook.setup.certificates import KeyPair
from archfit.webhook.setup.setup_files import INJECT, SECRET, WEBHOOK, certificate_of, dns_names


class WebhookFolder(Record):
    """namespace, service: whom the API server calls. inject: NAMESPACE/NAME of cert-manager's Certificate, or "".

    bundle: the CAs of caBundle (PEM), b"" where it is missing or no base64. pair: with them; None where there is none.
    has_secret: whether the file of the pair is there. It may be missing, as it does not belong into version control.
    """

    namespace: str
    service: str
    inject: str
    bundle: bytes
    pair: KeyPair | None
    has_secret: bool

    @property
    def dns_names(self) -> tuple[str, ...]:
        """What the certificate has to prove."""
        return dns_names(self.service, self.namespace)


def read(folder: str) -> WebhookFolder:
    """From the files of a folder. Raises ArchfitError."""
    path = os.path.join(folder, WEBHOOK)
    webhook = _object(path)
    if webhook is None:
        raise ArchfitError(f"there is no {path}: write it with archfit setup webhook --into {folder}")
    try:
        service = webhook["webhooks"][0]["clientConfig"]["service"]
        namespace, name = str(service["namespace"]), str(service["name"])
        inject = str((webhook["metadata"].get("annotations") or {}).get(INJECT, ""))
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ArchfitError(
            f"{path} is not a MutatingWebhookConfiguration that calls a Service: write it again with "
            f"archfit setup webhook --force --into {folder}"
        ) from None
    path = os.path.join(folder, SECRET)
    secret, bundle = _object(path), b""
    pair: KeyPair | None = None
    with contextlib.suppress(KeyError, TypeError, IndexError, ValueError):
        bundle = base64.b64decode(webhook["webhooks"][0]["clientConfig"]["caBundle"], validate=True)
        pair = certificate_of(secret, webhook)
    return WebhookFolder(namespace, name, inject, bundle, pair, os.path.exists(path))


def read_if_any(folder: str) -> WebhookFolder | None:
    """The same; None where the files are missing or not as archfit writes them."""
    try:
        return read(folder)
    except ArchfitError:
        return None


def _object(path: str) -> Any:
    """The object in a file, None where there is no file. Raises ArchfitError."""
    content = content_of_users_file(path)
    if content is None:
        return None
    try:
        return parsed(content.decode())
    except (YAMLError, UnicodeDecodeError) as error:
        problem = str(getattr(error, "problem", None) or "it is not UTF-8")
        raise ArchfitError(
            f"{path} is not YAML ({problem}): correct it, or write it again with --force"
        ) from None
