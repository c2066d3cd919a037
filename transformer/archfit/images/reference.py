"""Image references: the string in `image:`, as containerd and Docker read it.

    reference  = [ host "/" ] path [ ":" tag ] [ "@" digest ]
    host       = ( label *( "." label ) | "[" IPv6 "]" ) [ ":" port ]        label: letters, digits, inner "-"
    path       = component *( "/" component )                                at most 255 characters
    component  = run *( ( "." | "_" | "__" | 1*"-" ) run )                   run: 1*( a-z | 0-9 )
    tag        = ( letter | digit | "_" ) *127( letter | digit | "_" | "." | "-" )
    digest     = "sha256:" 64 hex | "sha512:" 128 hex                        lower case

Is the first segment a host? In this order: no "/" at all: no. `localhost`: yes. `index.docker.io`: yes, and it
means `docker.io`. It has "." or ":": yes. It has an upper-case letter: yes. Else no, and the host is `docker.io`,
where a path of one component gains `library/`. A missing tag is `latest`; next to a digest a tag means nothing.

Source: distribution/reference, reference.go, regexp.go and normalize.go (ParseDockerRef).
"""

from __future__ import annotations

import re

from archfit.errors import InvalidReference
from archfit.record import Record
from archfit.typing_names import NoReturn

HUB = "docker.io"
HUB_INDEX = "index.docker.io"
# Docker Hub's API has another host name (containerd, core/remotes/docker/resolver.go, DefaultHost).
HUB_API = "registry-1.docker.io"
HUB_NAMES = frozenset({HUB, HUB_INDEX, HUB_API})
IPV6 = r"\[[a-fA-F0-9:]+\]"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
# The grammar in what Python and RE2 both read, so that CEL can check it too.
HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|{IPV6})(?::[0-9]+)?"
PATH = rf"{_COMPONENT}(?:/{_COMPONENT})*"
TAG = r"\w[\w.-]{0,127}"
DIGEST = r"sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}"
IDENTIFIER = r"[a-f0-9]{64}"
_HOST = re.compile(HOST, re.ASCII).fullmatch
_PATH = re.compile(PATH, re.ASCII).fullmatch
_TAG = re.compile(TAG, re.ASCII).fullmatch
_IDENTIFIER_LENGTH = 64
_TEMPLATE = re.compile(r"\{\{|\}\}|\$\(|\$\{|<[a-zA-Z_ -]+>", re.ASCII).search
PLACEHOLDERS = ("{", "$(", "<<", "://")
MAX_PATH = 255
_LENGTHS = {"sha256": 64, "sha512": 128}


class Reference(Record):
    """A reference with Docker's defaults filled in.

    registry: host with its port, if it has one, as in `docker.io` or `localhost:5000`.
    repository: path below the host, as in `library/nginx`.
    tag: "" if there is a digest.
    digest: `algorithm:hex`, "" if there is none.
    original: the text it was parsed from.
    """

    registry: str
    repository: str
    tag: str
    digest: str
    original: str

    @property
    def name(self) -> str:
        """`host/repository`, as in `docker.io/library/nginx`."""
        return f"{self.registry}/{self.repository}"

    @property
    def normalised(self) -> str:
        """`docker.io/library/nginx:1.27` or `docker.io/library/nginx@sha256:...`."""
        return f"{self.name}@{self.digest}" if self.digest else f"{self.name}:{self.tag}"

    def __str__(self) -> str:
        return self.normalised


def is_host(text: str) -> bool:
    """`host` of the grammar above, with a port that exists, if it has one."""
    port = text.rpartition("]")[2].partition(":")[2]
    return _HOST(text) is not None and len(port) <= 5 and 0 < int(port or 443) <= 65535


def host_and_port(text: str) -> tuple[str, str]:
    """`localhost:5000` as ("localhost", "5000"), `[::1]` as ("::1", "")."""
    name, _, port = (text, "", "") if text.endswith("]") or ":" not in text else text.rpartition(":")
    return name.strip("[]"), port


def is_path(text: str) -> bool:
    """`path` of the grammar above, of any length."""
    return _PATH(text) is not None


def is_digest(text: str) -> bool:
    """`sha256:` with 64, or `sha512:` with 128, lower-case hex digits: nothing else may enter a URL or a cache."""
    return re.fullmatch(DIGEST, text, re.ASCII) is not None


def is_placeholder(text: str) -> bool:
    """Something fills it in later, as in `{{ .Values.image }}`, `$(params.x)`, `<<image>>` or `ko://..`."""
    return any(mark in text for mark in PLACEHOLDERS)


def parse(text: str) -> Reference:
    """The reference that containerd would pull for `image: text`. Raises InvalidReference."""
    if len(text) == _IDENTIFIER_LENGTH and re.fullmatch(IDENTIFIER, text, re.ASCII):
        _refuse(
            text, "is 64 hexadecimal digits, which Docker reads as an image ID; write the repository's name"
        )
    host, rest = host_and_rest(text)
    rest, at, digest = rest.partition("@")
    written, colon, tag = rest.partition(":")
    path = f"library/{written}" if host == HUB and "/" not in written else written
    if (
        _PATH(path) is None
        or len(path) > MAX_PATH
        or _HOST(host) is None
        or (colon and _TAG(tag) is None)
        or (at and not is_digest(digest))
    ):
        _explain(text, host, written, path, tag if colon else None, digest if at else None)
    return Reference(host, path, "" if digest else tag or "latest", digest, text)


def host_and_rest(text: str) -> tuple[str, str]:
    """(the host, with Docker's default; what stands after it)."""
    first, slash, rest = text.partition("/")
    if not slash:
        return HUB, text
    if first in {HUB, HUB_INDEX}:
        return HUB, rest
    if first == "localhost" or "." in first or ":" in first or first.lower() != first:
        return first, rest
    return HUB, text


def _explain(text: str, host: str, written: str, path: str, tag: str | None, digest: str | None) -> NoReturn:
    """Name what is wrong, the likeliest mistakes first."""
    if not text:
        raise InvalidReference("the image is empty")
    if _TEMPLATE(text):
        _refuse(text, "still holds a placeholder that nothing has filled in")
    if text.startswith("ko://"):
        _refuse(text, "names a Go package; let ko build it first: ko resolve -f FILE | archfit")
    if "://" in text:
        _refuse(text, f"is a URL; leave out {text.partition('://')[0] + '://'!r}")
    if any(character.isspace() for character in text):
        _refuse(text, "holds a blank or a line end")
    if not text.isascii():
        _refuse(text, "holds characters outside ASCII")
    if text.startswith("[") and "/" not in text:
        _refuse(text, "has a host and no repository")
    if _HOST(host) is None:
        _refuse(
            text,
            f"has a host, {host!r}, that is not a DNS name, an IPv4 address or an IPv6 address in brackets",
        )
    if not written:
        _refuse(text, "has no repository")
    if written.lower() != written:
        _refuse(text, f"has upper-case letters in its repository, {written!r}; they must be lower case")
    if _PATH(written) is None:
        _refuse(text, f"has a malformed repository, {written!r}")
    if len(path) > MAX_PATH:
        _refuse(text, f"has a repository of {len(path)} characters; at most {MAX_PATH} are allowed")
    if tag is not None and _TAG(tag) is None:
        _refuse(text, f"has a malformed tag, {tag!r}")
    algorithm, _, value = (digest or "").partition(":")
    if algorithm not in _LENGTHS:
        _refuse(text, f"has a digest of unknown kind, {algorithm!r}; sha256 and sha512 are known")
    if len(value) != _LENGTHS[algorithm]:
        _refuse(text, f"has a {algorithm} digest of {len(value)} digits; it must have {_LENGTHS[algorithm]}")
    _refuse(text, f"has a {algorithm} digest that is not lower-case hexadecimal")


def _refuse(text: str, why: str) -> NoReturn:
    shown = text if len(text) <= 300 else text[:300] + "..."
    raise InvalidReference(f"{shown!r} {why}")
