"""Names of Kubernetes objects in flags: LABEL is one as of a Namespace, SUBDOMAIN one as of a Secret (RFC 1123)."""

from __future__ import annotations

import re

from archfit.base.errors import UsageError

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def object_name(flag: str, text: str, form: re.Pattern[str]) -> str:
    """A name in Kubernetes. form: LABEL or SUBDOMAIN. Raises UsageError."""
    if not form.fullmatch(text):
        raise UsageError(
            f"{flag}: {text!r} is not a name in Kubernetes: write lower-case letters, digits and -"
        )
    return text
