"""Image references: the string in `image:`, as containerd and Docker read it. The grammar is `reference_grammar`.

The host is the first segment if that is `localhost` or has ".", ":" or an upper-case letter, and a "/" follows; else it
is `docker.io`, where a path of one component gains `library/`. `index.docker.io` means `docker.io`. A missing tag is
`latest`; next to a digest a tag means nothing. Source: distribution/reference, normalize.go (ParseDockerRef).

The regular expressions of the grammar take 2.5 ms to load, a tenth of a warm run. So usual references are recognised by
methods of strings, and what these do not accept is left to the grammar.
"""

from __future__ import annotations

from archfit.startup.record import Record

HUB = "docker.io"
HUB_INDEX = "index.docker.io"
# Docker Hub's API has another host name (containerd, core/remotes/docker/resolver.go, DefaultHost).
HUB_API = "registry-1.docker.io"
HUB_NAMES = frozenset({HUB, HUB_INDEX, HUB_API})
PLACEHOLDERS = ("{", "$(", "<<")
KO = "ko://"
_LONGEST_PATH = 255
_HEX = "0123456789abcdef"
_DIGITS = {"sha256": 64, "sha512": 128}
_IDENTIFIER_LENGTH = 64
_LONGEST_TAG = 128
_TAG_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


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
    """`host` of the grammar, with a port that exists, if it has one."""
    if not _is_usual_host(text):
        from archfit.images.reference_grammar import follows_host

        if not follows_host(text):
            return False
    port = text.rpartition("]")[2].partition(":")[2]
    return len(port) <= 5 and 0 < int(port or 443) <= 65535


def host_and_port(text: str) -> tuple[str, str]:
    """`localhost:5000` as ("localhost", "5000"), `[::1]` as ("::1", "")."""
    name, _, port = (text, "", "") if text.endswith("]") or ":" not in text else text.rpartition(":")
    return name.strip("[]"), port


def is_path(text: str) -> bool:
    """`path` of the grammar, of any length."""
    if _is_usual_path(text):
        return True
    from archfit.images.reference_grammar import follows_path

    return follows_path(text) is not None


def is_digest(text: str) -> bool:
    """`sha256:` with 64, or `sha512:` with 128, lower-case hex digits: nothing else may enter a URL or a cache."""
    algorithm, _, value = text.partition(":")
    return len(value) == _DIGITS.get(algorithm) and not value.strip(_HEX)


def is_placeholder(text: str) -> bool:
    """Something fills it in later, as in `{{ .Values.image }}`, `$(params.x)`, `<<image>>` or `ko://..`."""
    return text.startswith(KO) or any(mark in text for mark in PLACEHOLDERS)


def parse(text: str) -> Reference:
    """The reference that containerd would pull for `image: text`. Raises InvalidReference."""
    host, rest = host_and_rest(text)
    rest, at, digest = rest.partition("@")
    written, colon, tag = rest.partition(":")
    path = f"library/{written}" if host == HUB and "/" not in written else written
    if (
        len(text) == _IDENTIFIER_LENGTH
        or len(path) > _LONGEST_PATH
        or not (host == HUB or _is_usual_host(host))
        or not _is_usual_path(path)
        or (colon and not is_tag(tag))
        or (at and not is_digest(digest))
    ):
        from archfit.images.reference_grammar import check

        check(text, host, written, path, tag if colon else None, digest if at else None, parse)
    return Reference(host, path, "" if digest else tag or "latest", digest, text)


def tagged(text: str) -> Reference | None:
    """What the tag of a text names, whatever digest stands beside it; None where a digest stands alone."""
    before, at, _ = text.partition("@")
    return parse(before) if not at or ":" in before.rpartition("/")[2] else None


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


def _is_usual_host(text: str) -> bool:
    name, colon, port = text.partition(":")
    return (
        text.isascii()
        and all(map(str.isalnum, name.replace(".", "-").split("-")))
        and (not colon or port.isdigit())
    )


def _is_usual_path(text: str) -> bool:
    runs = text.replace("/", "-").replace(".", "-").replace("_", "-").split("-")
    return text.isascii() and text.lower() == text and all(map(str.isalnum, runs))


def is_tag(text: str) -> bool:
    """Whether the text is a tag (distribution-spec, Pulling manifests)."""
    return 0 < len(text) <= _LONGEST_TAG and text[0] not in ".-" and not text.strip(_TAG_CHARACTERS)
