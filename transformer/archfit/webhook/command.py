"""`archfit serve`: the admission webhook. See `webhook.server_process`.

Its defaults differ from those of a run in three options: an image that is unknown or does not exist, and a Pod that no
node can run, leave the Pod as it is (`leave`). Flags, variables and the configuration file all win over them.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TextIO

from archfit.base import packages
from archfit.base.errors import ArchfitError, Problem, UsageError
from archfit.base.printable import beneath
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.options.option_types import duration
from archfit.options.settings import Given, Layer
from archfit.webhook.listen_address import listen_address
from archfit.webhook.memory_budget import memory_limit

_COMMAND = BY_NAME["serve"]
_DEFAULTS = Layer(
    "defaults of archfit serve (onAbsent, onUnknown, onConflict)",
    {key: Given("leave", "archfit serve") for key in ("onAbsent", "onUnknown", "onConflict")},
)
_SECRET = re.compile(r"[a-z0-9.-]{1,63}/[a-z0-9.-]{1,253}", re.ASCII).fullmatch


def serve(argv: Sequence[str], stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=_DEFAULTS)
    flags = invocation.flags
    if invocation.words:
        raise UsageError(f"{invocation.words[0]!r} is not expected: archfit serve takes flags alone")
    cert, key = _tls(flags)
    quiet = invocation.settings.operator.quiet and flags.log_level in ("debug", "info")
    drain_delay = _seconds(flags.drain_delay)
    try:
        from archfit.webhook import server_process  # the extra may be missing, and says so
    except ImportError as error:
        raise ArchfitError(
            packages.missing("archfit serve", "serve", (error.name or "").partition(".")[0])
        ) from None
    own = server_process.ServeOptions(
        listen_address(flags.listen, "--listen"),
        listen_address(flags.probe_listen, "--probe-listen"),
        cert,
        key,
        drain_delay,
        "warning" if quiet else flags.log_level,
        frozenset(map(_secret, flags.pull_secret)),
        flags.client_ca,
        memory_limit(flags.memory_limit),
    )
    if flags.insecure_http and not own.listen.is_loopback:
        raise UsageError("--insecure-http: is for loopback only: add --listen 127.0.0.1:8443")
    return server_process.serve(invocation.settings, own, beneath(stderr), environ)


def _tls(flags: Namespace) -> tuple[str, str]:
    """The paths of certificate and key, both "" with --insecure-http. Raises UsageError."""
    if not flags.insecure_http:
        if not flags.tls_dir:
            raise UsageError("archfit serve needs a certificate: add --tls-dir DIR")
        return f"{flags.tls_dir}/tls.crt", f"{flags.tls_dir}/tls.key"
    if flags.tls_dir or flags.client_ca:
        raise UsageError(
            "--insecure-http: plain HTTP knows no certificates: leave out --tls-dir and --client-ca"
        )
    return "", ""


def _seconds(text: str) -> float:
    try:
        return duration(text)
    except Problem as problem:
        raise UsageError(f"--drain-delay: {problem.message}") from None


def _secret(text: str) -> str:
    if not _SECRET(text):
        raise UsageError(f"--pull-secret: {text!r} is not the name of a Secret: write it as NAMESPACE/NAME")
    return text
