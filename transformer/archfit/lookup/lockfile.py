"""archfit.lock: what registries answered about images, committed beside the manifests.

    {"version": 1, "images": {
    "docker.io/library/nginx:1.27": {"digest": "sha256:..", "kind": "index", "platforms": ["linux/amd64", ..]},
    "quay.io/team/app@sha256:..": {"digest": "sha256:..", "kind": "manifest", "platforms": ["linux/amd64"]}
    }}

    key         a normalised reference; lines are sorted by it, one for each, so that git merges them
    digest      of the index or manifest that the reference pointed to; of a pinned reference, its own
    kind        "index", "manifest" (of one image), or "artifact" (no image, so it restricts nothing)
    platforms   normalised, sorted, unique; empty for an artifact alone

Its contents do not depend on when, where or by whom it was written. Reading is strict, because people and merges edit
it: any layout of the JSON is accepted, any other content is an error that names its line. Errors about a file that is
not a lock file do not repeat its contents, because a configuration may name any file.
"""

from __future__ import annotations

import os

from archfit.base import files
from archfit.base.errors import ArchfitError, InvalidLock, InvalidReference, UsageError
from archfit.base.memo import Memo
from archfit.images.platforms import Found, Platform, Unknown, parse_platform
from archfit.images.reference import Reference, is_digest
from archfit.images.reference import parse as parse_reference
from archfit.options.settings import Options
from archfit.startup import c_json
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

VERSION = 1
DEFAULT_PATH = "archfit.lock"
MAX_BYTES = 16 << 20
_MAX_PLATFORMS = 256
_FIELDS = {"digest", "kind", "platforms"}
_KINDS = ("index", "manifest", "artifact")
_MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


class Lock(Record):
    """A lock file as a run uses it.

    path: as the user named it. images: by normalised reference, each with the origin "lock".
    only: `--locked`, what it lacks may not be looked up.
    """

    path: str
    images: Mapping[str, Found]
    only: bool = False

    def missing_answer(self, reference: Reference) -> Unknown:
        """The answer for an image that it lacks and that may not be looked up."""
        return Unknown(
            f"{self.path} does not hold {reference}, and --locked forbids asking: run `{self._command()} "
            "--add-missing` on these manifests",
            final=True,
        )

    def outdated_warning(self, names: Sequence[str]) -> str:
        """The warning where the cache has other digests for these references."""
        return (
            f"{self.path} may be out of date, because the cache knows another digest of {', '.join(names)}: "
            f"`{self._command()} --check` on these manifests shows what changed"
        )

    def _command(self) -> str:
        from shlex import quote

        return f"archfit lock{'' if self.path == DEFAULT_PATH else f' --lock-file {quote(self.path)}'}"


class _DuplicateKey(Record):
    """Stands for an object that has a key twice."""

    key: str


def as_locked(answer: Found) -> Found:
    """The answer as it is read from the file again: without what the file does not keep."""
    return Found(answer.platforms, answer.digest, answer.index and answer.image, answer.image, "lock")


def render(images: Mapping[str, Found]) -> bytes:
    """The file that holds these answers, by normalised reference."""
    lines = ",\n".join(f"{c_json.dumps(name)}: {_entry_text(images[name])}" for name in sorted(images))
    return f'{{"version": {VERSION}, "images": {{\n{lines}\n}}}}\n'.replace("\n\n", "\n").encode()


def parse(content: bytes, path: str) -> dict[str, Found]:
    """The answers in the file, by normalised reference. path: for messages. Raises InvalidLock."""
    return _LockReader(content, path).images()


def _entry_text(answer: Found) -> str:
    kind = "artifact" if not answer.image else "index" if answer.index else "manifest"
    names = [str(platform) for platform in answer.platforms]
    return c_json.dumps({"digest": answer.digest, "kind": kind, "platforms": names})


class _LockReader:
    """Reads one file; keeps its text, so that errors can name the line."""

    def __init__(self, content: bytes, path: str) -> None:
        self._path = path
        if len(content) > MAX_BYTES:
            raise InvalidLock(path, f"is larger than {MAX_BYTES >> 20} MiB, which no lock file is")
        try:
            self._text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InvalidLock(path, "is not UTF-8; take it from version control again", line) from None

    def images(self) -> dict[str, Found]:
        answers = {}
        for name, entry in self._document().items():
            try:
                answers[name] = _answer(name, entry)
            except _Wrong as wrong:
                raise self._wrong(f"{_short(name)} {wrong}", name) from None
        return answers

    def _document(self) -> dict[str, Any]:
        """The object under `images`, after everything around it has been checked."""
        document = self._decoded()
        if not isinstance(document, dict | _DuplicateKey) or document == {}:
            raise self._wrong("is not a lock file of archfit; name another, or write it with archfit lock")
        if isinstance(document, _DuplicateKey):
            if document.key not in {"version", "images"}:
                raise self._wrong("has the same key twice; keep one")
            raise self._wrong(f"has the key {document.key!r} twice; keep one", document.key)
        version = document.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or "images" not in document:
            raise self._wrong(
                "is not a lock file of archfit, which has a version and images; name another, or write it "
                "with archfit lock"
            )
        if version != VERSION:
            raise self._wrong(
                f"has the format {version}, and this archfit knows {VERSION}; use the archfit that wrote it, "
                "or delete it and write it again with archfit lock",
                "version",
            )
        for key in document:
            if key not in {"version", "images"}:
                raise self._wrong(f"has the key {_short(key)}, which means nothing here; remove it", key)
        images = document["images"]
        if isinstance(images, _DuplicateKey):
            raise self._wrong(f"{_short(images.key)} is there twice; keep one of the lines", images.key)
        if not isinstance(images, dict):
            raise self._wrong("has images that are not an object", "images")
        return images

    def _decoded(self) -> Any:
        if any(marker in self._text for marker in _MARKERS):
            import re  # few files need it

            marker = re.search(r"^(?:<{7}|\|{7}|={7}|>{7})(?=\s|$)", self._text, re.MULTILINE)
            if marker:
                raise InvalidLock(
                    self._path,
                    "has a git conflict marker; keep the lines that both sides added and one of those that differ, or "
                    "take either side whole, then run archfit lock --add-missing",
                    self._text.count("\n", 0, marker.start()) + 1,
                )
        try:
            document = c_json.loads(self._text)
            # Of a key that is there twice, the last value is read, so that each quotation mark has to be of one.
            if self._text.count('"') == _quotation_marks(document) and "\\" not in self._text:
                return document
        except (ValueError, RecursionError):
            pass
        return self._decoded_again()

    def _decoded_again(self) -> Any:
        """The document with what only the package `json` finds: keys that are there twice, and where it is no JSON."""
        import json

        try:
            return json.loads(self._text, object_pairs_hook=_object)
        except json.JSONDecodeError as error:
            if not self._text.strip():
                raise self._wrong("is empty; delete it, then write it again with archfit lock") from None
            problem = f"is not JSON ({error.msg[0].lower()}{error.msg[1:]}, column {error.colno})"
            raise InvalidLock(self._path, f"{problem}; correct it", error.lineno) from None
        except (ValueError, RecursionError):
            raise self._wrong("is not a lock file of archfit; name another") from None

    def _wrong(self, message: str, key: str = "") -> InvalidLock:
        """The error, with the line of the last place where `key` is a key."""
        import re

        places = list(re.finditer(re.escape(c_json.dumps(key)) + r"\s*:", self._text)) if key else []
        line = self._text.count("\n", 0, places[-1].start()) + 1 if places else 0
        return InvalidLock(self._path, message, line)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _DuplicateKey:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    names = [name for name, _ in pairs]
    return _DuplicateKey(next(name for name in names if names.count(name) > 1))


class _Wrong(Exception):
    """What is wrong with an entry, to stand after its reference."""


def _answer(name: str, entry: Any) -> Found:
    try:
        reference = parse_reference(name)
    except InvalidReference as error:
        raise _Wrong(f"is not an image reference: {error}") from None
    if reference.normalised != name:
        raise _Wrong(f"is not written in full; write {reference.normalised}")
    if isinstance(entry, _DuplicateKey):
        raise _Wrong(f"has the key {_short(entry.key)} twice; keep one")
    if not isinstance(entry, dict):
        raise _Wrong("has an entry that is not an object")
    for key in entry:
        if key not in _FIELDS:
            raise _Wrong(f"has the key {_short(key)}, which means nothing here; remove it")
    for key in sorted(_FIELDS):
        if key not in entry:
            raise _Wrong(f"has no {key}; run archfit lock to write the line again")
    digest, kind = entry["digest"], entry["kind"]
    if not isinstance(digest, str) or not is_digest(digest):
        raise _Wrong("has a digest that is not sha256: with 64, or sha512: with 128, lower-case hex digits")
    if reference.digest not in {"", digest}:
        raise _Wrong(f"is pinned to another digest than the {digest} beside it; remove the line")
    if kind not in _KINDS:
        raise _Wrong(f"has a kind that is none of {', '.join(_KINDS)}")
    platforms = _platforms(entry["platforms"])
    if bool(platforms) == (kind == "artifact"):
        raise _Wrong(
            "is an artifact and has platforms" if platforms else f"has no platform, and its kind is {kind}"
        )
    return Found(platforms, digest, kind == "index", kind != "artifact", "lock")


def _platforms(names: Any) -> tuple[Platform, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _Wrong("has platforms that are not a list of texts")
    if len(names) > _MAX_PLATFORMS:
        raise _Wrong(f"has {len(names)} platforms; at most {_MAX_PLATFORMS} are allowed")
    platforms = set()
    for name in names:
        platform = _known[name]
        if platform is None or name in ("linux", "windows"):
            raise _Wrong(f"has {_short(name)}, which is not a platform as in linux/arm64")
        if str(platform) != name:
            raise _Wrong(f"has the platform {_short(name)}; write it as {platform}")
        platforms.add(platform)
    return tuple(sorted(platforms, key=str))


def _known_platform(name: str) -> Platform | None:
    try:
        return parse_platform(name)
    except InvalidReference:
        return None


_known = Memo(_known_platform, 256)


def _quotation_marks(value: Any) -> int:
    """How many a document has that is written without escapes, if each of its keys is there once."""
    if isinstance(value, str):
        return 2
    if isinstance(value, dict):
        return 2 * len(value) + sum(map(_quotation_marks, value.values()))
    return sum(map(_quotation_marks, value)) if isinstance(value, list) else 0


def _short(text: str) -> str:
    return repr(text if len(text) <= 300 else text[:300] + "...")


def lock_of(options: Options) -> Lock | None:
    """The lock file that the options name, if they do. Raises UsageError and InvalidLock."""
    path = options.lock_file
    if not path:
        return None
    content = content_of(path)
    if content is None:
        raise UsageError(f"--lock-file: there is no {path!r}: write it with `archfit lock`, or name another")
    return Lock(path, parse(content, path), options.locked)


def content_of(path: str) -> bytes | None:
    """The file's bytes, at most one more than a lock file may have; None where there is none. Raises UsageError."""
    try:
        return files.read_regular(path, MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"--lock-file: cannot read {path!r} ({error.strerror}): name a lock file") from None


def replace(path: str, content: bytes) -> None:
    """Replace the file at `path`, through symbolic links and with its mode. Raises ArchfitError."""
    target = os.path.realpath(path)
    try:
        files.replace(target, content, sync=True)
    except OSError as error:
        raise ArchfitError(
            f"--lock-file: cannot write {path!r} ({error.strerror}): name a file that can be written"
        ) from None
