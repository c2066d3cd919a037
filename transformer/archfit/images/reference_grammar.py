"""The grammar of image references, and what is wrong with a string that does not follow it.

    reference  = [ host "/" ] path [ ":" tag ] [ "@" digest ]
    host       = ( label *( "." label ) | "[" IPv6 "]" ) [ ":" port ] | component
                 label: letters, digits, inner "-". A component with a dot (`my_registry.example`) is a path to the
                 grammar, and the host to those who pull
    path       = component *( "/" component )                                at most 255 characters
    component  = run *( ( "." | "_" | "__" | 1*"-" ) run )                   run: 1*( a-z | 0-9 )
    tag        = ( letter | digit | "_" ) *127( letter | digit | "_" | "." | "-" )
    digest     = "sha256:" 64 hex | "sha512:" 128 hex                        lower case

Source: distribution/reference, reference.go and regexp.go; containerd, pkg/reference/reference.go (`Spec.Hostname`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from archfit.base.errors import InvalidReference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_PATH = 255
LONGEST = 4096
"""Characters of a text that is worth a look: host, path, tag and digest together stay far below."""
IPV6 = r"\[[a-fA-F0-9:]+\]"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_RUN = r"[a-z0-9]+(?:(?:__?|-+)[a-z0-9]+)*"
_COMPONENT = rf"{_RUN}(?:\.{_RUN})*"
# The grammar in what Python and RE2 both read, so that CEL can check it too.
HOST = rf"(?:(?:{_LABEL}(?:\.{_LABEL})*|{IPV6})(?::[0-9]+)?|{_RUN}(?:\.{_RUN})+)"
PATH = rf"{_COMPONENT}(?:/{_COMPONENT})*"
TAG = r"\w[\w.-]{0,127}"
DIGEST = r"sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}"
IDENTIFIER = r"[a-f0-9]{64}"
follows_host = re.compile(HOST, re.ASCII).fullmatch
follows_path = re.compile(PATH, re.ASCII).fullmatch
_TAG = re.compile(TAG, re.ASCII).fullmatch
follows_digest = re.compile(DIGEST, re.ASCII).fullmatch
_IDENTIFIER = re.compile(IDENTIFIER, re.ASCII).fullmatch
_TEMPLATE = re.compile(r"\{\{|\}\}|\$\(|\$\{|<[a-zA-Z_ -]+>", re.ASCII).search
# Pages that people copy instead of the reference, without their scheme and query: the reference to write.
_PAGES = (
    (r"hub\.docker\.com/_/([^/:]+)", r"docker.io/library/\1"),
    (r"hub\.docker\.com/(?:r|repository/docker)/([^/]+/[^/:]+)", r"docker.io/\1"),
    (r"hub\.docker\.com/layers/([^/]+/[^/]+)/([^/]+)", r"docker.io/\1:\2"),
    (r"quay\.io/repository/([^/]+/[^/:]+)", r"quay.io/\1"),
    (r"github\.com/([^/]+)/[^/]+/pkgs/container/([^/]+)", r"ghcr.io/\1/\2"),
    (r"github\.com/(?:orgs|users)/([^/]+)/packages/container/(?:package/)?([^/]+)", r"ghcr.io/\1/\2"),
    (r"gallery\.ecr\.aws/([^/]+/[^?]+)", r"public.ecr.aws/\1"),
    (
        r"mcr\.microsoft\.com/(?:[^/]+/)?(?:product|artifact/mar)/(.+?)(?:/(?:about|tags?).*)?$",
        r"mcr.microsoft.com/\1",
    ),
    (r"console\.cloud\.google\.com/(?:gcr|artifacts)/images/([^/]+)/global/([^/]+)", r"gcr.io/\1/\2"),
    (
        r"console\.cloud\.google\.com/artifacts/docker/([^/]+)/([^/]+)/([^/]+/[^/]+)",
        r"\2-docker.pkg.dev/\1/\3",
    ),
)
_SITES = ("hub.docker.com", "github.com", "gallery.ecr.aws", "console.cloud.google.com")
_LENGTHS = {"sha256": 64, "sha512": 128}


def check(
    text: str,
    host: str,
    written: str,
    path: str,
    tag: str | None,
    digest: str | None,
    parse: Callable[[str], object],
) -> None:
    """Raises InvalidReference unless the parts of `text` follow the grammar; it names the likeliest mistake.

    host, path: with Docker's defaults. written: the path without them. tag, digest: None where there is none.
    parse: `reference.parse`, to say whether a URL without its scheme is a reference.
    """
    if _IDENTIFIER(text):
        _refuse(
            text, "is 64 hexadecimal digits, which Docker reads as an image ID; write the repository's name"
        )
    if not text:
        raise InvalidReference("the image is empty")
    if _TEMPLATE(text):
        _refuse(text, "still holds a placeholder that nothing has filled in")
    if len(text) > LONGEST:
        _refuse(text, f"has {len(text):,} characters: no reference has more than {LONGEST:,}")
    if text.startswith("ko://"):
        _refuse(text, "names a Go package; let ko build it first: ko resolve -f FILE | archfit")
    if "://" in text:
        _refuse(text, url_problem(text, parse))
    if any(character.isspace() for character in text):
        _refuse(text, "holds a blank or a line end")
    if not text.isascii():
        _refuse(text, "holds characters outside ASCII")
    if text.startswith("[") and "/" not in text:
        _refuse(text, "has a host and no repository")
    if follows_host(host) is None:
        _refuse(
            text,
            f"has a host, {host!r}, that is not a DNS name, an IPv4 address or an IPv6 address in brackets",
        )
    if not written:
        _refuse(text, "has no repository")
    if written.lower() != written:
        _refuse(text, f"has upper-case letters in its repository, {written!r}; they must be lower case")
    if follows_path(written) is None:
        _refuse(text, f"has a malformed repository, {written!r}")
    if len(path) > MAX_PATH:
        _refuse(text, f"has a repository of {len(path)} characters; at most {MAX_PATH} are allowed")
    if tag is not None and _TAG(tag) is None:
        _refuse(text, f"has a malformed tag, {tag!r}")
    if digest is not None and follows_digest(digest) is None:
        _refuse(text, _digest_problem(digest))


def _digest_problem(digest: str) -> str:
    algorithm, _, value = digest.partition(":")
    if algorithm not in _LENGTHS:
        return f"has a digest of unknown kind, {algorithm!r}; sha256 and sha512 are known"
    if len(value) != _LENGTHS[algorithm]:
        return f"has a {algorithm} digest of {len(value)} digits; it must have {_LENGTHS[algorithm]}"
    return f"has a {algorithm} digest that is not lower-case hexadecimal"


def url_problem(text: str, parse: Callable[[str], object]) -> str:
    """What is wrong with a reference that holds `://`: a web page about an image, or a scheme before one."""
    rest = text.partition("://")[2].partition("?")[0].partition("#")[0].rstrip("/")
    for pattern, reference in _PAGES:
        page = re.match(pattern, rest, re.IGNORECASE)
        if page:
            return f"is a web page: write {page.expand(reference).lower()!r}"
    if rest.partition("/")[0] in _SITES:
        return "is a web page that names no image: write host/repository:tag"
    try:
        parse(rest)
    except InvalidReference:
        return f"is a URL; leave out {text.partition('://')[0] + '://'!r}"
    if "/" not in rest and "." in rest.partition(":")[0]:
        return "is a URL without a repository: write host/repository:tag"
    return f"is a URL: write {rest!r}"


def _refuse(text: str, why: str) -> NoReturn:
    shown = text if len(text) <= 300 else text[:300] + "..."
    raise InvalidReference(f"{shown!r} {why}")
