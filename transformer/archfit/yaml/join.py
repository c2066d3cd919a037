r"""Streams into one stream, so that Kubernetes' readers find every object of each: the counterpart of `stream.split`.

A `---` stands before a first stream in JSON, too: kubectl would take all for JSON. Surrogate escapes of JSON
(`\ud83d\ude00`) become the character itself: YAML readers refuse them. One stream alone is returned as it is.
Source: k8s.io/apimachinery, pkg/util/yaml/decoder.go, YAMLOrJSONDecoder and GuessJSONStream.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from archfit.yaml.stream import BOM

_SEPARATOR = re.compile(rb"---(?=[ \t\r\n#]|\Z)").match
_JSON = re.compile(rb"\s*[{\[]").match
_PAIR = re.compile(rb"(\\\\)|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def joined(streams: Sequence[bytes]) -> list[bytes]:
    """One stream, in parts. Streams without a byte add nothing."""
    filled = [part for part in streams if part]
    if len(filled) < 2:
        return filled
    first = filled[0]
    parts = [b"---\n", _readable(first)] if _JSON(first) else [first]
    for following in filled[1:]:
        parts += _added(parts[-1], following.removeprefix(BOM))
    return parts


def _added(before: bytes, stream: bytes) -> list[bytes]:
    newline = b"\r\n" if before[before.rfind(b"\n") - 1 :].startswith(b"\r\n") else b"\n"
    parts = [] if before.endswith(b"\n") else [newline]
    return [*parts, b"" if _SEPARATOR(stream) else b"---" + newline, _readable(stream)]


def _readable(stream: bytes) -> bytes:
    if b"\\u" not in stream or not _JSON(stream):
        return stream
    return _PAIR.sub(_character, stream)


def _character(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return match[1]
    return bytes.fromhex((match[2] + match[3]).decode()).decode("utf-16-be").encode()
