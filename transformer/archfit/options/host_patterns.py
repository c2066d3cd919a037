"""Servers that the operator allows or denies.

    pattern = host [ ":" port ] | "*." host [ ":" port ] | "*"        `*` where servers are denied

No message repeats a part of the text in which a user name or password may stand.
"""

from __future__ import annotations

from archfit.images.reference import host_and_port, is_host
from archfit.options.problem import Problem
from archfit.options.settings import HostPattern


def host_pattern(text: str, *, every: bool = False) -> HostPattern:
    """One pattern of the grammar above; `*` only with `every`. Raises Problem."""
    if "@" in text or "/" in text:  # perhaps a URL, and with it a password
        raise Problem("is not a host: write it as 'harbor.corp.example:8443', without scheme and path")
    if every and text == "*":
        return HostPattern("*")
    if is_host(text.removeprefix("*.")):
        name, port = host_and_port(text.lower())
        return HostPattern(name, int(port) if port else None)
    raise Problem(
        f"{text!r} is not a host: write it as 'harbor.corp.example', 'localhost:5000' or '*.corp.example'"
    )
