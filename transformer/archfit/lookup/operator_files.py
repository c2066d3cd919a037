"""The files that the operator names: whether they are there, before anything is asked and before the cache answers.

Files of certificates have to hold one. Other contents are read where they are used.
"""

from __future__ import annotations

import os
import stat

from archfit.base.errors import UsageError
from archfit.base.files import read_file
from archfit.options.settings import Operator

_FILES = ("authfile", "ca_file", "registries_conf", "cache_password_file", "cache_ca_file")
_CERTIFICATES = ("ca_file", "cache_ca_file")
_PEM = (
    b"-----BEGIN CERTIFICATE-----",
    b"-----BEGIN TRUSTED CERTIFICATE-----",
    b"-----BEGIN X509 CERTIFICATE-----",
)


def check(operator: Operator, lock_file: str = "") -> None:
    """Raises UsageError for a file or folder that is missing or of the wrong kind. lock_file: "" is not checked."""
    for field in _FILES:
        path = getattr(operator, field)
        if path and stat.S_ISDIR(_mode(path, field)):
            raise UsageError(f"--{field.replace('_', '-')}: {path!r} is a directory: name a file")
        if path and field in _CERTIFICATES and not _holds_certificate(path):
            raise UsageError(
                f"--{field.replace('_', '-')}: {path!r} holds no certificate in PEM: name a file with a line "
                "-----BEGIN CERTIFICATE-----"
            )
    if operator.hosts_dir and not stat.S_ISDIR(_mode(operator.hosts_dir, "hosts_dir")):
        raise UsageError(f"--hosts-dir: {operator.hosts_dir!r} is not a directory: name one")
    if lock_file and not os.path.exists(lock_file):
        raise UsageError(
            f"--lock-file: there is no {lock_file!r}: write it with `archfit lock`, or name another"
        )


def _holds_certificate(path: str) -> bool:
    """Whether a file has a certificate; a file that cannot be read is left to its reader, who says why."""
    try:
        content = read_file(path)
    except OSError:
        return True
    return any(line in content for line in _PEM)


def _mode(path: str, field: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not a path"
        name = field.replace("_", "-")
        raise UsageError(
            f"--{name}: cannot read {path!r} ({why}): correct the path, or leave --{name} out"
        ) from None
