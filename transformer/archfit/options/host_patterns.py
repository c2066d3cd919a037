"""Servers that the operator allows or denies, and how often others are asked.

    pattern = host [ ":" port ] | "*." host [ ":" port ] | "*"        `*` where servers are denied
    rate    = ( "*" | host [ ":" port ] ) "=" number                  `*` is each server without a row of its own
    number  = 0.01 to 10000                                           requests a second, such as 5 or 0.5

No message repeats a part of the text in which a user name or password may stand.
"""

from __future__ import annotations

from archfit.images.reference import host_and_port, is_host
from archfit.options.mirrors import registry_host
from archfit.options.option_entries import HostPattern, RequestRate
from archfit.options.problem import Problem

SLOWEST, FASTEST = 0.01, 10_000.0
_NUMBER = r"[0-9]{1,5}(?:\.[0-9]{1,3})?"


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


def request_rate(host: str, number: str) -> RequestRate:
    """One rate; its host is one of a normalised reference. Raises Problem."""
    import re

    host = registry_host(host).removesuffix(":443")
    value = float(number) if re.fullmatch(_NUMBER, number, re.ASCII) else 0.0
    if not SLOWEST <= value <= FASTEST:
        raise Problem(f"{number!r} is not a number of requests a second: write one from 0.01 to 10000, as 5")
    return RequestRate(host, value)


def request_rate_pair(text: str) -> RequestRate:
    """`HOST=N`. Raises Problem."""
    host, equals, number = text.partition("=")
    if not equals:
        raise Problem("a rate needs a registry's host and a number: write it as 'docker.io=5'")
    return request_rate(host.strip(), number.strip())
