"""Why the cluster could not be read or written, with the remedy."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from archfit.base.documentation import place
from archfit.base.errors import ArchfitError

Reason: TypeAlias = Literal[
    "unauthorized", "forbidden", "not-found", "expired", "timeout", "unreachable", "other"
]

_BY_STATUS: dict[int, Reason] = {401: "unauthorized", 403: "forbidden", 404: "not-found", 410: "expired"}
_BY_WORDS: tuple[tuple[str, Reason], ...] = (
    (r"\(Unauthorized\)|must be logged in to the server|provide credentials", "unauthorized"),
    (r"\(Forbidden\)", "forbidden"),
    (r"\(NotFound\)|could not find the requested resource|doesn't have a resource type", "not-found"),
    (r"\(Expired\)|\(Gone\)|\(ResourceExpired\)", "expired"),
    (r"i/o timeout|context deadline exceeded|\(Timeout\)|request timed out", "timeout"),
    (r"was refused|no such host|Unable to connect|connection reset|no route to host", "unreachable"),
)
_REMEDIES: dict[Reason, str] = {
    "unauthorized": "log in to the cluster again, or name another one with --context",
    "forbidden": "give this user or service account what the message names "
    f"({place('audit')} and {place('policy')} list it)",
    "expired": "the cluster changes faster than it is read: try again",
    "timeout": "try again, or name another cluster with --context",
    "unreachable": "name a cluster that answers with --context or --kubeconfig",
}


class ClusterError(ArchfitError):
    """The cluster could not be read or written. reason: see the module."""

    def __init__(self, message: str, reason: Reason = "other") -> None:
        remedy = _REMEDIES.get(reason, "")
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.reason = reason


def reason_of_status(status: int) -> Reason:
    """What an HTTP status means."""
    return _BY_STATUS.get(status, "other")


def reason_of_words(text: str) -> Reason:
    """What kubectl's message means."""
    return next((reason for pattern, reason in _BY_WORDS if re.search(pattern, text)), "other")
