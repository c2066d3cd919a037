"""How long a certificate is valid: the two times in the first certificate of a PEM file.

    Certificate    ::= SEQUENCE { tbsCertificate, .. }
    tbsCertificate ::= SEQUENCE { [0] version OPTIONAL, serialNumber INTEGER, signature SEQUENCE, issuer SEQUENCE,
                                  validity SEQUENCE { notBefore Time, notAfter Time }, .. }
    Time           ::= UTCTime YYMMDDhhmmssZ | GeneralizedTime YYYYMMDDhhmmssZ

Python's ssl module loads such a file but does not tell its dates. Source: RFC 5280, sections 4.1 and 4.1.2.5; X.690.
"""

from __future__ import annotations

import re
import ssl
from calendar import timegm

_SEQUENCE, _INTEGER, _VERSION = 0x30, 0x02, 0xA0
_UTC_TIME, _GENERALIZED_TIME = 0x17, 0x18
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_TIME = re.compile(rb"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})Z").fullmatch


def validity(pem: str) -> tuple[int, int]:
    """The fields notBefore and notAfter of the first certificate, in Unix seconds. Raises ValueError."""
    found = _PEM.search(pem)
    if not found:
        raise ValueError("it holds no certificate")
    try:
        return _dates(ssl.PEM_cert_to_DER_cert(found[0]))
    except (IndexError, ValueError):
        raise ValueError("its certificate cannot be read") from None


def _dates(der: bytes) -> tuple[int, int]:
    body = _content(der, 0, _SEQUENCE)
    signed = _content(body, 0, _SEQUENCE)
    at = 0
    if signed[0] == _VERSION:
        at = _after(signed, at)
    for tag in (_INTEGER, _SEQUENCE, _SEQUENCE):
        _content(signed, at, tag)
        at = _after(signed, at)
    times = _content(signed, at, _SEQUENCE)
    return _time(times, 0), _time(times, _after(times, 0))


def _header(data: bytes, at: int) -> tuple[int, int]:
    """Where the content of the element at `at` begins and ends."""
    length = data[at + 1]
    start = at + 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    if start + length > len(data):
        raise ValueError("an element is cut off")
    return start, start + length


def _content(data: bytes, at: int, tag: int) -> bytes:
    if data[at] != tag:
        raise ValueError("another element was expected")
    start, end = _header(data, at)
    return data[start:end]


def _after(data: bytes, at: int) -> int:
    return _header(data, at)[1]


def _time(data: bytes, at: int) -> int:
    start, end = _header(data, at)
    text = data[start:end]
    if data[at] == _UTC_TIME:
        text = (b"19" if text[:2] >= b"50" else b"20") + text
    elif data[at] != _GENERALIZED_TIME:
        raise ValueError("it is no time")
    parts = _TIME(text)
    if not parts:
        raise ValueError("it is no time")
    return timegm(tuple(map(int, parts.groups())))
