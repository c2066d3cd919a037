"""Retry policy: which requests are sent again, and after which wait.

    408, 500, 502, 503, 504     up to 5 tries in all
    429                         the same, but not for Docker Hub's pull limit, which lasts hours
    connection errors           up to 3 tries; a wrong certificate, an unknown name or a refused address: 1

Waits are Retry-After, in seconds or as an HTTP date (RFC 9110 10.2.3), else 0.25 s, doubled for each try up to 4 s. A
wait that would end after the deadline is not begun.
"""

from __future__ import annotations

from collections.abc import Mapping

TRIES = 5
CONNECTION_TRIES = 3
RETRIED = frozenset({408, 429, 500, 502, 503, 504})
BUSY = frozenset({429, 503})
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 4.0


def retry_after(header: str, now: float) -> float | None:
    """Seconds to wait that a Retry-After header asks for, None if it cannot be read. now: Unix seconds."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # 3.5 ms, for what few servers send

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def wait_seconds(tried: int, asked: float | None) -> float:
    """How long to wait after `tried` tries, where the server asked for `asked` seconds."""
    return asked if asked is not None else min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (tried - 1))


def is_pull_limit(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this 429 is Docker Hub's pull limit, which lasts hours, and not its guard against floods."""
    text = body[:4096].lower()
    if b"pull rate limit" in text or b"increase-rate-limit" in text:
        return True
    remaining = headers.get("ratelimit-remaining", "").partition(";")[0].strip()
    return remaining == "0"
