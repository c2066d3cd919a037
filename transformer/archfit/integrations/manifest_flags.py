"""Flags of `archfit setup policy|webhook|fleet` about the manifests that it writes, checked before anything is written.

LABEL        a name of at most 63 characters, as of a Namespace (RFC 1123 label)
SUBDOMAIN    a name of at most 253, as of a Secret (RFC 1123 subdomain)
"""

from __future__ import annotations

import re

from archfit.errors import InvalidReference, UsageError
from archfit.files import read_file
from archfit.images import reference
from archfit.options.config_file import from_file

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def object_name(flag: str, text: str, form: re.Pattern[str]) -> str:
    """A name in Kubernetes. form: LABEL or SUBDOMAIN. Raises UsageError."""
    if not form.fullmatch(text):
        raise UsageError(
            f"{flag}: {text!r} is not a name in Kubernetes: write lower-case letters, digits and -"
        )
    return text


def image(text: str) -> str:
    """The value of --image. Raises UsageError."""
    try:
        reference.parse(text)
    except InvalidReference as error:
        raise UsageError(f"--image: {error}") from None
    return text


def content(flag: str, path: str) -> bytes:
    """The content of the file that a flag names. Raises UsageError."""
    if not path:
        raise UsageError(f"{flag}: is empty: write a path, or leave the flag out")
    try:
        return read_file(path)
    except OSError as error:
        raise UsageError(f"{flag}: cannot read {path!r} ({error.strerror}): name a readable file") from None


def configuration(path: str) -> str:
    """The text of the archfit.yaml that --configuration names. Raises UsageError."""
    text = content("--configuration", path)
    from_file(text, path, "--configuration")
    return text.decode("utf-8-sig")
