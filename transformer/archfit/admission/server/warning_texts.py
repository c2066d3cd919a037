"""Warnings as the API server passes them on to kubectl: at most 256 characters each, and 4,096 in all.

    archfit: IMAGE: REASON

A long text loses the middle of its image first, then the end of its reason. What does not fit is counted in the last
warning. Source: k8s.io/apiserver, pkg/endpoints/filters/warning.go; RFC 7234 section 5.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.printable import visible
from archfit.results import Result

LONGEST = 256
LONGEST_TOGETHER = 4096
_LONGEST_IMAGE = 128
_PREFIX = "archfit: "
BUG = f"{_PREFIX}archfit itself failed, so the pod is admitted as it is; its log has the reason"


def warning_texts(results: Sequence[Result]) -> tuple[str, ...]:
    """The warnings for these results, each once."""
    texts = list(dict.fromkeys(map(warning_text, results)))
    total, kept = 0, 0
    for text in texts:
        total += len(text)
        if total > LONGEST_TOGETHER:
            break
        kept += 1
    if kept == len(texts):
        return tuple(texts)
    while kept and sum(map(len, texts[:kept])) + LONGEST > LONGEST_TOGETHER:
        kept -= 1
    return (*texts[:kept], f"{_PREFIX}{len(texts) - kept} more warnings are not shown")


def warning_text(result: Result) -> str:
    """The warning for one result."""
    image = result.image
    rest = result.message
    if image and rest.startswith(f"{image}: "):
        rest = rest[len(image) + 2 :]
        return shortened(f"{_PREFIX}{_middle(visible(image))}: {visible(rest)}")
    field = f"{result.field}: " if result.field else ""
    return shortened(f"{_PREFIX}{visible(field + rest)}")


def shortened(text: str) -> str:
    """The text, with its end left out where it is too long for a warning."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _middle(text: str) -> str:
    if len(text) <= _LONGEST_IMAGE:
        return text
    half = (_LONGEST_IMAGE - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
