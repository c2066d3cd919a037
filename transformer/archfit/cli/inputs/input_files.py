"""The words of a command line as inputs: files, folders with files, - for standard input.

in a folder                                         what becomes of it
a folder whose name begins with a dot               not read, as .git
a file whose name begins with a dot                 not read; the caller says so where it holds a Kubernetes object, as
                                                    kubectl apply -f DIR would read it
a file without a Kubernetes object                  left out; the caller says so
a file that is not UTF-8, or not YAML               read, so that it is the error that it is alone
Chart.yaml, kustomization.yaml                      an error that names the command to run first
a link that stays in the folder                     followed, each folder once
a link that leads out of it                         an error: nobody has named what it leads to
nothing to read, or more than the limits            an error
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any, BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput, UsageError
from archfit.base.files import SUFFIXES, read_file
from archfit.base.printable import count, few
from archfit.base.spelling import nearest
from archfit.startup.record import Record
from archfit.workloads.pod_specs import typed_item
from archfit.workloads.unsupported.non_objects import is_chart_source
from archfit.yaml.compose import parse
from archfit.yaml.skip import identity
from archfit.yaml.stream import read_stream

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
CHART = "Chart.yaml"
ARCHIVES = (".tgz", ".tar.gz")
MOST_FILES = 50_000
MOST_ENTRIES = 1_000_000
MOST_BYTES = 512 << 20
DEEPEST = 64
_MOST_NAMES = 5
TRANSFORMER = "archfit"


class Input(Record):
    """What is transformed or checked. name: for messages, "" for standard input.

    path: of the file, "" where there is none. below: the path under the folder that was named; for a file, its name.
    """

    name: str
    data: bytes
    path: str = ""
    below: str = ""


class Inputs(Record):
    """The inputs in order.

    left_out: names of files in folders that hold no Kubernetes object. hidden: of those that hold one and are not read,
    as their names begin with a dot.
    """

    files: tuple[Input, ...]
    left_out: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """A sentence about what is left out, "" if nothing is."""
        if not self.left_out:
            return ""
        verb = "holds" if len(self.left_out) == 1 else "hold"
        files = count(len(self.left_out), "file")
        return f"{files} left out, which {verb} no Kubernetes object: {few(self.left_out, _MOST_NAMES)}"

    @property
    def warning(self) -> str:
        """A sentence about what other tools would read, "" if there is nothing."""
        if not self.hidden:
            return ""
        files, names = count(len(self.hidden), "file"), few(self.hidden, _MOST_NAMES)
        verb, them = ("its name begins", "it") if len(self.hidden) == 1 else ("their names begin", "them")
        return (
            f"{files} not read, as {verb} with a dot; kubectl apply -f FOLDER reads {them}: {names}; "
            f"name {them} on the command line, or rename {them}"
        )


class _Listed(Record):
    """A file to read. below: as of Input. walked: it stands in a folder that was named. hidden: it is only named."""

    path: str
    below: str
    walked: bool
    hidden: bool = False


def read_inputs(words: Sequence[str], stdin: BinaryIO, program: str, skipped: str = "") -> Inputs:
    """What the words name; standard input where there is none. Raises UsageError.

    program: as in `archfit check`, for messages. skipped: a folder that is not read, as it is written to.
    """
    standard_streams.check_named_once(words)
    if (not words or "-" in words) and stdin.isatty():
        raise UsageError(
            f"standard input is a terminal: pipe manifests in, or name files; see {program} --help"
        )
    files, left_out, seen, size = list[Input](), list[str](), set[str](), 0
    hidden: dict[str, str] = {}
    for word in words or ["-"]:
        if word == "-":
            files.append(Input("", standard_streams.read_input(stdin)))
            continue
        kept = len(files)
        for file in found_files(word, program, skipped):
            real, name = os.path.realpath(file.path), from_here(file.path)
            if file.hidden:
                if _holds_object(file.path):
                    hidden[real] = name
                continue
            if real in seen:
                kept -= 1
                continue
            seen.add(real)
            data = _content(file.path, program)
            size += len(data) if file.walked else 0
            if size > MOST_BYTES:
                raise UsageError(
                    f"{word!r} holds more than {MOST_BYTES >> 20} MiB of manifests: name a part of it"
                )
            if file.walked and not holds_object(data):
                left_out.append(name)
            else:
                files.append(Input(name, data, file.path, file.below))
        if kept == len(files):
            beside = Inputs((), (), tuple(hidden.values())).warning
            raise UsageError(
                f"{word!r} holds no file with a Kubernetes object (archfit reads *.yaml, *.yml and *.json): "
                f"{beside or 'name the folder of the rendered manifests'}"
            )
    named = tuple(name for real, name in hidden.items() if real not in seen)
    return Inputs(tuple(files), tuple(left_out), named)


def found_files(word: str, program: str, skipped: str = "") -> list[_Listed]:
    """The file that a word names, or those of a folder. Raises UsageError."""
    name = os.path.basename(word)
    if os.path.isdir(word):
        if skipped and os.path.realpath(word) == os.path.realpath(skipped):
            remedy = f"name another folder, or run archfit --in-place {shlex.quote(word)}"
            raise UsageError(f"--output: {skipped!r} is the input: {remedy}")
        walk = _Walk(word, skipped)
        walk.read(word)
        if walk.unrendered:
            raise UsageError(_unrendered(walk.unrendered, program))
        return walk.files
    if os.path.isfile(word):
        if name == CHART or name in KUSTOMIZATIONS:
            raise UsageError(_unrendered([(os.path.dirname(word) or ".", name)], program))
        if name.endswith(ARCHIVES):
            raise UsageError(
                f"{word!r} is an archive. If it is a chart, render it first: {_helm(word, name, program)}"
            )
        chart = _chart_of_template(word)
        if chart:
            raise UsageError(
                f"{word!r} is a template of the chart {chart!r}. Render it first: "
                f"{_helm(chart, os.path.basename(chart), program)}"
            )
    return [_Listed(word, name, walked=False)]


def _chart_of_template(path: str) -> str:
    """The folder of the chart whose templates/ holds the file, "" for none; what is rendered has no actions left."""
    parts = os.path.abspath(path).split(os.sep)
    charts = (os.sep.join(parts[:at]) for at, part in enumerate(parts) if part == "templates")
    chart = next((folder for folder in charts if os.path.isfile(os.path.join(folder, CHART))), "")
    try:
        return from_here(chart) if chart and is_chart_source(read_file(path)) else ""
    except OSError:  # whoever reads it says why
        return ""


def holds_object(data: bytes, *, empty_lists: bool = True) -> bool:
    """Whether a document, or an item of one, has apiVersion and kind. What cannot be read counts: somebody says why.

    empty_lists: whether a list without items counts, which is parsed to see that.
    """
    try:
        for piece in read_stream(data, "pass").pieces:
            shortcut = empty_lists or data.find(b"items", piece.start, piece.end) < 0
            if shortcut and identity(data, piece.start, piece.end):
                return True
            if _is_object(parse(data[piece.start : piece.end].decode()).value, empty_lists=empty_lists):
                return True
    except InvalidInput:
        return True
    return False


def _is_object(value: Any, *, empty_lists: bool) -> bool:
    if not isinstance(value, dict):
        return False
    items = value.get("items", True)
    if value.get("apiVersion") and value.get("kind") and (empty_lists or items not in (None, [])):
        return True
    typed = (typed_item(item, value) for item in items) if isinstance(items, list) else ()
    return any(_is_object(item, empty_lists=empty_lists) for item in typed)


def _holds_object(path: str) -> bool:
    try:
        return holds_object(read_file(path))
    except OSError:  # nobody else can read it either
        return False


def from_here(path: str) -> str:
    """The path as a repository's own tools name it: from the working directory, for what is inside of it."""
    try:
        near = os.path.relpath(path)
    except FileNotFoundError:  # somebody removed the working directory
        return os.path.normpath(path)
    return os.path.normpath(path) if near.startswith(os.pardir) else near


def _content(path: str, program: str) -> bytes:
    try:
        shown = shlex.quote(f"./{path}" if path.startswith("-") else path)
        remedy = f"run archfit --in-place {shown}" if program == TRANSFORMER else "write to another file"
        standard_streams.check_apart(os.stat(path), repr(path), remedy)
        return read_file(path)
    except OSError as error:
        if os.path.islink(path) and isinstance(error, FileNotFoundError):
            raise UsageError(
                f"cannot read {path!r}: it is a link to {os.readlink(path)!r}, which does not exist: remove it"
            ) from None
        near = nearest(os.path.basename(path), _beside(path)) if isinstance(error, FileNotFoundError) else ""
        meant = f"did you mean {os.path.join(os.path.dirname(path), near)!r}?" if near else ""
        hint = meant or "name a file or a folder of manifests"
        raise UsageError(f"cannot read {path!r} ({error.strerror}): {hint}") from None


def _beside(path: str) -> list[str]:
    try:
        return os.listdir(os.path.dirname(path) or ".")[:MOST_ENTRIES]
    except OSError:
        return []


class _Walk:
    def __init__(self, top: str, skipped: str) -> None:
        self._top = top
        self._inside = os.path.join(os.path.realpath(top), "")
        self._skipped = os.path.realpath(skipped) if skipped else ""
        self._folders: set[str] = set()
        self._entries = 0
        self.files: list[_Listed] = []
        self.unrendered: list[tuple[str, str]] = []

    def read(self, folder: str, below: str = "", depth: int = 0) -> None:
        """Adds the files of a folder, by name. Raises UsageError."""
        real = os.path.realpath(folder)
        if real in self._folders or real == self._skipped:
            return
        self._folders.add(real)
        if depth > DEEPEST:
            raise UsageError(f"{folder!r} is more than {DEEPEST} folders deep: name a folder below it")
        entries = self._listed(folder)
        names = {entry.name for entry in entries}
        mark = next((name for name in (CHART, *KUSTOMIZATIONS) if name in names), "")
        if mark:
            self.unrendered.append((folder, mark))
            return
        for entry in entries:
            if entry.name.startswith("."):
                if entry.name.endswith(SUFFIXES) and entry.is_file():
                    self.files.append(_Listed(entry.path, f"{below}{entry.name}", walked=True, hidden=True))
            elif _is_folder(entry):
                self._check(entry)
                self.read(entry.path, f"{below}{entry.name}/", depth + 1)
            elif entry.name.endswith(SUFFIXES) and _is_readable(entry):
                self._check(entry)
                self.files.append(_Listed(entry.path, f"{below}{entry.name}", walked=True))
        self._count()

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            raise UsageError(
                f"cannot read the folder {folder!r} ({error.strerror}): name one that you may read"
            ) from None
        self._entries += len(entries)
        self._count()
        return entries

    def _count(self) -> None:
        if self._entries > MOST_ENTRIES or len(self.files) > MOST_FILES:
            raise UsageError(
                f"{self._top!r} holds more than {MOST_FILES:,} manifests or {MOST_ENTRIES:,} files: "
                "name a folder below it"
            )

    def _check(self, entry: os.DirEntry[str]) -> None:
        if entry.is_symlink() and not os.path.join(os.path.realpath(entry.path), "").startswith(self._inside):
            raise UsageError(
                f"{entry.path!r} is a link that leads out of {self._top!r}: name what it leads to, too, or remove it"
            )


def _is_readable(entry: os.DirEntry[str]) -> bool:
    """A file, or a link that leads to one or nowhere; never a pipe, which may have no end."""
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:  # a link to itself, or to what nobody may see: whoever reads it says why
        return True


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to what nobody may see
        return False


def _unrendered(unrendered: Sequence[tuple[str, str]], program: str) -> str:
    folder, mark = unrendered[0]
    shown = from_here(folder)
    word = shlex.quote(shown)
    if mark == CHART:
        name = os.path.basename(os.path.abspath(folder))
        text = f"{shown!r} is a Helm chart ({mark}). Render it first: {_helm(shown, name, program)}"
    else:
        text = f"{shown!r} is a kustomization ({mark}). Build it first: kustomize build {word} | {program}"
    others = [from_here(other) for other, _ in unrendered[1:]]
    return f"{text}. The same for {few(others, _MOST_NAMES)}" if others else text


def _helm(chart: str, name: str, program: str) -> str:
    word = shlex.quote(chart)
    release = shlex.quote(name.split(".tgz", maxsplit=1)[0])
    return f"helm template {release} {word} | {program}"
