"""JSON from servers that are not trusted: counted before it is parsed, one document at a time.

Values are counted as commas and opening brackets, those in strings included: 4 MiB of `{}` are 1.4 million objects and
100 MB of memory; a real index has some thousand values. Of a repeated name, two readers may choose different values.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from archfit.registry.registry_errors import InvalidManifest

MAX_DEPTH = 32
MAX_VALUES = 200_000
_MAX_DIGITS = 18
_HUGE = 10**_MAX_DIGITS
_one_at_a_time = threading.Lock()


def _forget_other_threads() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


# A process that forks while a thread holds the lock has no such thread in the child.
os.register_at_fork(after_in_child=_forget_other_threads)


def load(body: bytes, content_type: str = "") -> dict[str, Any]:
    """The object in `body`. content_type: the header as received, for the error. Raises InvalidManifest."""
    if sum(map(body.count, (b",", b"{", b"["))) > MAX_VALUES:
        raise InvalidManifest(f"it has more than {MAX_VALUES} values, more than any image needs")
    with _one_at_a_time:
        document = _built(body, content_type)
        _check_depth(document)
    return document


def _built(body: bytes, content_type: str) -> dict[str, Any]:
    try:
        document = json.loads(
            body.decode("utf-8"), object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
        )
    except RecursionError:
        raise InvalidManifest("its JSON is nested too deeply") from None
    except ValueError:
        if "html" in content_type or body.lstrip()[:1] == b"<":
            raise InvalidManifest(
                "it is a web page, not a manifest: check for a proxy or a login page"
            ) from None
        raise InvalidManifest("it is not valid JSON") from None
    if not isinstance(document, dict):
        raise InvalidManifest("it is JSON, but not an object")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidManifest("it has the same key twice in one object")
    return members


def _integer(text: str) -> int:
    return int(text) if len(text) <= _MAX_DIGITS else _HUGE


def _constant(name: str) -> None:
    raise InvalidManifest(f"it has the number {name}, which JSON does not know")


def _check_depth(document: dict[str, Any]) -> None:
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise InvalidManifest(f"its JSON is nested more than {MAX_DEPTH} levels deep")
