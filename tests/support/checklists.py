"""The conformance and security points of registry lookups, and the tests that name them.

    python tests/support/checklists.py tests/support/checklists.md      renews the table between the page's markers

A test names a point in its function's name (`.._conformance_17`, `.._security_3_4`) or in an id (`conformance-56-..`).
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parents[1]
BEGIN, END = "<!-- checklists -->", "<!-- /checklists -->"
_POINT = re.compile(r"(conformance|security)[-_]([0-9]+(?:[-_][0-9]+)*)")
_REAL = {
    "test_real_servers": "distribution 2.8, go-containerregistry; token server, TLS and Basic real",
    "test_redis_lookups": "the fake, redis-server",
    "test_mirror_files": "the fake",
    "test_trust": "the fake, TLS real",
    "test_security": "the fake, TLS real",
    "test_protocol": "the fake",
    "test_requests": "the fake",
    "test_quirks": "the fake",
    "test_credentials": "helpers as programs",
    "test_pull_secrets": "the fake, redis-server",
}
CONFORMANCE = {
    1: "`ubuntu` is library/ubuntu:latest at registry-1.docker.io",
    2: "spellings of one image are one image",
    3: "`test.com:5000` has a tag, `test:5000/repo` a port",
    4: "which first segments are hosts",
    5: "IPv6 hosts",
    6: "what is no reference is said by name",
    7: "line ends and other scripts are no reference",
    8: "a digest wins over a tag beside it",
    9: "the tables of distribution/reference",
    10: "four media types in one Accept, no schema 1",
    11: "identity encoding, own User-Agent",
    12: "a Docker list is not downgraded to one child",
    13: "Content-Type with parameters",
    14: "missing or generic Content-Type",
    15: "contradictory types are an error",
    16: "schema 1 is said, never an architecture",
    17: "a new tag costs one GET",
    18: "a stale tag costs one HEAD",
    19: "a moved tag is got by digest",
    20: "a known digest costs nothing, not even an import",
    21: "one lookup for the same image, safe between processes",
    22: "no HEAD: GET, and remembered",
    23: "no digest header: computed from the bytes",
    24: "a malformed digest is never kept",
    25: "wrong bytes are an error and are not kept",
    26: "ETag is not needed, 304 is no image",
    27: "attestations are left out",
    28: "one image and its attestation are one architecture",
    29: "entries with a reference type do not count",
    30: "an entry without platform is read, within a budget",
    31: "nested indexes, to a depth, once each",
    32: "unknown media types are skipped",
    33: "Windows versions collapse, and are not Linux",
    34: "spellings of architectures",
    35: "configs, OCI and Docker, verified",
    36: "embedded data saves its request",
    37: "a blob elsewhere is got without Authorization",
    38: "charts, signatures and artifacts are no images",
    39: "a config without architecture is unknown",
    40: "challenges in every spelling",
    41: "an anonymous token from the manifest's own 401",
    42: "both names of a token, its life",
    43: "tokens stay with repository and credential",
    44: "insufficient_scope: one more token",
    45: "identity tokens: POST, else GET",
    46: "400 with a token: dropped, once more",
    47: "nothing before a challenge; Basic",
    48: "credHelpers, paths, Docker Hub's key",
    49: "helpers that find nothing, are missing or hang",
    50: "which credentials file counts",
    51: "pull secrets: own namespace and reference only",
    52: "pull secrets: the kubelet's globs",
    53: "Retry-After, both kinds of 429",
    54: "what is left of the limit",
    55: "results of different kinds",
    56: "hosts.toml: order, capabilities, ns",
    57: "registries.conf: prefix, rewriting, blocked, digest-only",
    58: "CA, client certificate and insecure for one host",
    59: "proxies and NO_PROXY, passwords never shown",
    60: "documents above the limits",
}
SECURITY = {
    1: "servers can be denied, or all but the named",
    2: "special addresses are never dialled",
    3: "loopback and private only where named; no plain HTTP by itself",
    4: "the judged address is the dialled one, in every spelling",
    5: "realms that are refused",
    6: "who is sent credentials",
    7: "token requests follow no redirect elsewhere",
    8: "redirects: five, never down to HTTP, without secrets",
    9: "a 401 of a redirect's target is not answered",
    10: "redirected manifests are verified, `urls` never read",
    11: "digests are checked before use",
    12: "URLs are made of parsed parts alone",
    13: "bodies are bounded and read raw",
    14: "documents are bounded in depth and number",
    15: "the cache is data, private and read with care; no secrets in it",
    16: "a shared cache keeps credentials' answers apart",
    17: "helpers: their names, input, output and time",
    18: "a failing helper or file is an error for its registry",
    19: "secrets are shown nowhere",
    20: "what registries say is cut and cleaned",
    21: "secrets of the stream: opt-in, own host, namespace and reference",
    22: "insecure is for one host, loud, and never implied",
    23: "a failed lookup fails, or does what the operator listed",
    24: "tags only from those that may resolve; bytes verified",
    25: "few dependencies, pinned; one HTTP module",
}


def tests() -> dict[tuple[str, int], dict[str, list[str]]]:
    """Point -> file -> names of functions and ids in it."""
    found: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"def (test_\w+)|id=\"([^\"]+)\"", text)
        for name in (function or id for function, id in names):
            for part, numbers in _POINT.findall(name):
                for number in re.split("[-_]", numbers):
                    listed = found[part, int(number)][path.stem]
                    if name not in listed:
                        listed.append(name)
    return found


def table() -> str:
    """Both lists as Markdown."""
    tested = tests()
    lines = []
    for part, points in (("conformance", CONFORMANCE), ("security", SECURITY)):
        lines += [f"| {part} | what | tests | against |", "| --- | --- | --- | --- |"]
        for number, what in points.items():
            files = tested.get((part, number), {})
            shown = "<br>".join(f"{file}: `{names[0]}`" for file, names in sorted(files.items()))
            servers = "; ".join(dict.fromkeys(_REAL[file] for file in sorted(files) if file in _REAL))
            lines.append(f"| {number} | {what} | {shown or 'none yet'} | {servers or 'no server needed'} |")
        lines.append("")
    return "\n".join(lines)


def updated(page: str) -> str:
    """The page with the table between its markers renewed."""
    before, _, rest = page.partition(BEGIN + "\n")
    _, end, after = rest.partition(END + "\n")
    assert end, "the page has lost its markers"
    return f"{before}{BEGIN}\n\n{table()}{END}\n{after}"


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.write_text(updated(where.read_text(encoding="utf-8")), encoding="utf-8")
