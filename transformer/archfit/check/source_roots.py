"""`--source-root [CHART=]FOLDER`: from what a renderer says of a document's origin to the file in the repository.

    --source-root    # Source: of Helm                           the file
    charts           web/templates/pod.yaml                      charts/web/templates/pod.yaml
    shop=charts/web  shop/templates/pod.yaml                     charts/web/templates/pod.yaml
    charts/web       web/charts/redis/templates/sts.yaml         charts/web/charts/redis/templates/sts.yaml, or below
                                                                 the folder of a dependency with repository: file://..
                     the same, where charts/ holds an archive    charts/web/Chart.yaml, at the line of the dependency
    overlays/prod    path: ../../base/web.yaml (of kustomize)    base/web.yaml
                     path: web.yaml, with a repo                 none

FOLDER is a chart, whose name Chart.yaml says, a kustomization, or a folder that holds charts. Helm names a dependency
by its alias. No line of a rendered document is a line of its source, so the file has none. A file outside of the
repository is none.

Code hosts want paths from the root of the repository in reports. The root is the next folder upwards that holds `.git`,
a folder or, in worktrees and submodules, a file.

Sources: Helm, pkg/engine and pkg/chart/common/util/dependencies.go (an alias becomes the name of
the chart); kustomize, api/resource/origin.go (a path is relative to the kustomization that was built).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from archfit.base.errors import InvalidInput, UsageError
from archfit.base.files import read_regular
from archfit.cli.inputs.input_files import CHART, KUSTOMIZATIONS
from archfit.startup.record import Record
from archfit.yaml.compose import parse
from archfit.yaml.tree import NodeLines
from archfit.yaml.values import mapping_of

ORIGIN = "config.kubernetes.io/origin"
_FLAG = "--source-root"
_LIMIT = 1 << 20
_LOCAL = "file://"


class Dependency(Record):
    """An entry of `dependencies`. name: in rendered paths; folder: below charts/. line: 1-based."""

    name: str
    folder: str
    repository: str
    line: int


class Chart(Record):
    """What Chart.yaml says; name is "" if it says none, or if there is no such file."""

    name: str = ""
    dependencies: tuple[Dependency, ...] = ()


class SourceRoots:
    """The values of --source-root. Raises UsageError for a folder that is not there."""

    def __init__(self, words: Sequence[str]) -> None:
        self._charts: dict[str, Chart] = {}
        self._roots: list[tuple[str, str]] = []
        self._kustomizations: list[str] = []
        self._top = (repository_root() or os.getcwd()) if words else ""
        for word in words:
            self._add(word)

    def __bool__(self) -> bool:
        return bool(self._roots or self._kustomizations)

    def place(self, source: str) -> tuple[str, int]:
        """The file that Helm's `source` means, relative to the working directory, and its line.

        The line is 0 for the whole file; ("", 0) stands for no file.
        """
        chart, *below = source.split("/")
        if not below or any(part in ("", ".", "..") for part in (chart, *below)) or "\0" in source:
            return "", 0
        for name, folder in self._roots:
            at = folder if name == chart else "" if name else self._held(folder, chart)
            place = self._below(at, below) if at else ("", 0)
            if place[0]:
                return place
        return "", 0

    def origin(self, value: object) -> str:
        """The file that kustomize read an object from, "" for none. value: the object's, as parsed."""
        annotations = mapping_of(mapping_of(mapping_of(value).get("metadata")).get("annotations"))
        try:
            origin = mapping_of(parse(_text(annotations, ORIGIN)).value)
        except InvalidInput:
            return ""
        if "repo" in origin or not _text(origin, "path"):
            return ""
        places = (os.path.normpath(os.path.join(root, origin["path"])) for root in self._kustomizations)
        return next((place for place in places if self._is_file(place)), "")

    def _add(self, word: str) -> None:
        name, equals, folder = word.partition("=")
        if not equals or "/" in name:
            name, folder = "", word
        if not os.path.isdir(folder):
            raise UsageError(
                f"{_FLAG}: {folder!r} is no folder: name the folder of a chart, of charts or of a kustomization"
            )
        folder = os.path.normpath(folder)
        chart_file = os.path.join(folder, CHART)
        if not name and os.path.exists(chart_file):
            name = self._chart(folder).name
            if not name:
                raise UsageError(
                    f"{_FLAG}: {chart_file!r} does not say the name of the chart: write {_FLAG} NAME={folder}"
                )
        if not name and any(os.path.exists(os.path.join(folder, file)) for file in KUSTOMIZATIONS):
            self._kustomizations.append(folder)
        else:
            self._roots.append((name, folder))

    def _held(self, folder: str, name: str) -> str:
        beside = os.path.join(folder, name)
        if os.path.isdir(beside):
            return beside
        for entry in sorted(os.listdir(folder)):
            if self._chart(os.path.join(folder, entry)).name == name:
                return os.path.join(folder, entry)
        return ""

    def _below(self, folder: str, parts: list[str]) -> tuple[str, int]:
        while parts[0] == "charts" and len(parts) > 2:
            dependencies = self._chart(folder).dependencies
            wanted = [dependency for dependency in dependencies if dependency.name == parts[1]]
            inside = _folder_of(folder, parts[1], wanted)
            if not inside:
                file = os.path.join(folder, CHART)
                return (file, wanted[0].line if wanted else 0) if self._is_file(file) else ("", 0)
            folder, parts = inside, parts[2:]
        file = os.path.join(folder, *parts)
        return (file, 0) if self._is_file(file) else ("", 0)

    def _is_file(self, path: str) -> bool:
        """It is a file of the repository, or below the working directory where there is none."""
        near = os.path.relpath(os.path.abspath(path), self._top)
        return not near.startswith(os.pardir) and os.path.isfile(path)

    def _chart(self, folder: str) -> Chart:
        if folder not in self._charts:
            self._charts[folder] = _read(os.path.join(folder, CHART))
        return self._charts[folder]


def _folder_of(folder: str, name: str, wanted: Sequence[Dependency]) -> str:
    candidates = [os.path.join(folder, "charts", name)]
    for dependency in wanted:
        candidates.append(os.path.join(folder, "charts", dependency.folder))
        if dependency.repository.startswith(_LOCAL):
            below = dependency.repository.removeprefix(_LOCAL)
            candidates.append(os.path.normpath(os.path.join(folder, below)))
    return next((path for path in candidates if os.path.isdir(path)), "")


def _read(path: str) -> Chart:
    try:
        tree = parse(read_regular(path, _LIMIT).decode())
    except (OSError, UnicodeDecodeError, InvalidInput):
        return Chart()
    value = mapping_of(tree.value)
    entries = value.get("dependencies")
    dependencies = []
    lines = NodeLines(tree.text)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        name = _text(mapping_of(entry), "name")
        if name:
            line = lines.at(("dependencies", index)) + 1
            alias = _text(entry, "alias") or name
            dependencies.append(Dependency(alias, name, _text(entry, "repository"), line))
    return Chart(_text(value, "name"), tuple(dependencies))


def _text(value: Mapping[str, Any], key: str) -> str:
    """A string that can be a part of a path, or ""."""
    text = value.get(key)
    return text if isinstance(text, str) and "\0" not in text else ""


def repository_root() -> str:
    """The root of the repository that the working directory is in, or ""."""
    here = Path.cwd()
    return next((str(folder) for folder in (here, *here.parents) if os.path.exists(folder / ".git")), "")


def from_root(path: str, root: str) -> str:
    """The path of a file, relative to the working directory, as a path from the root. root: "" for none."""
    if not root:
        return path
    near = os.path.relpath(os.path.abspath(path), root)
    return os.path.abspath(path) if near.startswith(os.pardir) else near
