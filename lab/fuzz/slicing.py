"""Whether a list says the same however it is read: its items one by one, or together."""

from __future__ import annotations

import re
from typing import Any

from archfit.base.errors import ArchfitError
from archfit.options.settings import Options
from archfit.yaml.compose import parse
from archfit.yaml.container import slices
from archfit.yaml.stream import split
from fuzz.engine import Refused, run

_ITEMS = re.compile(rb"(?m)^[\"']?items")
# A functionConfig may want a change, and text with an odd line break cannot be edited.
_UNEDITABLE = "cannot be edited"


def sliced_otherwise(text: bytes, options: Options) -> tuple[str, str]:
    """(what is wrong, both answers) where the same text with a comment that forbids slicing fails or is decided
    otherwise; ("", "") where it is not.
    """
    if not _ITEMS.search(text) or b"\x85" in text:
        return "", ""
    try:
        pieces = split(text)
    except ArchfitError:
        return "", ""
    if not any(slices(text, piece.start, piece.end) for piece in pieces):
        return "", ""
    options = options.replace(stamp=False, affinity="never", tolerate=(), prefer=())
    one = _said(text, options)
    other = _said(_unsliceable(text, pieces), options)
    if other in (one, _UNEDITABLE) or not any(_is_list(text, piece) for piece in pieces):
        return "", ""
    what = "sliced: fails alone" if "refused" in (one, other) else "sliced: says something else"
    return what, f"{one} and {other}"


def _is_list(text: bytes, piece: Any) -> bool:
    """Whether `kind` is what it seems to be: its plain text may go on in the next line, and the whole be too deep."""
    try:
        value = parse(text[piece.start : piece.end].decode()).value
    except ArchfitError:
        return False
    return isinstance(value, dict) and value.get("kind") in {"List", "ResourceList"}


def _unsliceable(text: bytes, pieces: Any) -> bytes:
    made, at = b"", 0
    for piece in pieces:
        made += text[at : piece.start] + "# \u0085\n".encode()
        at = piece.start
    return made + text[at:]


def _said(text: bytes, options: Any) -> list[Any] | str:
    outcome = run(text, options, results=False)
    if isinstance(outcome, Refused):
        return _UNEDITABLE if any("NEL" in message for message, _ in outcome.messages) else "refused"
    return [(pod.ref.kind, [use.text for use in pod.images]) for pod, _ in outcome.transformed.decisions]
