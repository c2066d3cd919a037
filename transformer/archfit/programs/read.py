"""The walk: from an image's config and layers to the head of the program that is started.

Layers are read from the top down, each once, until the file is there. A link that lies lower starts the search
again from the top, in what was kept. A file at the very path counts in the layer that has it, whatever a lower layer
makes of its folder; a folder that a layer names takes the place of a link below. Of a script, the interpreters follow.
Source: OCI image-spec 1.1, layer.md; containerd, pkg/archive/tar.go; Linux, fs/exec.c and fs/namei.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from archfit.programs.layer import LayerDescriptor, LayerFiles, Meter, read_layer
from archfit.programs.program import Program, Programs
from archfit.programs.start import NotRead, Start, candidates, image_start, normal, on_path

Open: TypeAlias = Callable[[LayerDescriptor, Callable[[Iterable[bytes]], None]], None]
"""Calls back with the bytes of a layer, again where they broke off; a callback that returns or raises ends it."""

_LAYERS = ("application/vnd.oci.image.layer.v1.tar", "application/vnd.docker.image.rootfs.diff.tar")
_COMPRESSED = ("", "+gzip", "+zstd", ".gzip", ".zstd")
_KINDS = {head + tail for head in _LAYERS for tail in _COMPRESSED}
_MOST_LINKS = 40  # MAXSYMLINKS
_MOST_SCRIPTS = 4  # of one interpreted by the next (BINPRM_MAX_RECURSION)


def read_programs(
    config: Mapping[str, Any],
    layers: Sequence[LayerDescriptor],
    starts: Iterable[Start],
    open_layer: Open,
    meter: Meter,
) -> Programs:
    """What each start starts. config, layers: of one image, as its manifest has them. Raises what `open_layer` does."""
    image, tree = image_start(config), _Tree(layers, open_layer, meter)
    has_entrypoint = bool(image.command)
    wanted = {start.key_of(entrypoint=has_entrypoint): start for start in starts}
    programs: dict[str, Program] = {}
    for key, start in wanted.items():
        programs[key] = _program(tree, start, image, last=len(programs) == len(wanted) - 1)
    return Programs(has_entrypoint, programs)


def _program(tree: _Tree, start: Start, image: Start, *, last: bool) -> Program:
    files: list[tuple[str, str]] = []
    looked: list[str] = []
    try:
        paths = candidates(start, image)
        while True:
            path, head = _first(tree, paths, start, looked, last=last)
            files.append((path, head))
            kind, _, line = head.partition(" ")
            if kind != "script":
                return Program(tuple(files), tuple(looked))
            if len(files) > _MOST_SCRIPTS:
                return Program(
                    tuple(files), tuple(looked), "its interpreters lead to one another", final=True
                )
            interpreter, _, name = line.partition(" ")
            paths = on_path(name, start, image) if name else on_path(f"/{interpreter}", start, image)
    except NotRead as error:
        return Program(tuple(files), tuple(looked), str(error), final=error.final)


def _first(
    tree: _Tree, paths: Sequence[str], start: Start, looked: list[str], *, last: bool
) -> tuple[str, str]:
    """The first of the paths that is there, and its head. looked: gets what was looked at. Raises NotRead."""

    def look(path: str) -> None:
        looked.append(path)
        if start.covers(path):
            raise NotRead(f"a volume is mounted over /{path}")

    for path in paths:
        head = tree.head(path, look, executable=len(paths) > 1, last=last)
        if head:
            return path, head
    raise NotRead(f"its layers have no program /{paths[-1]}", final=True)


class _Tree:
    """The files of all layers, the top one first; each layer is read when it is looked at."""

    def __init__(self, layers: Sequence[LayerDescriptor], open_layer: Open, meter: Meter) -> None:
        self._layers = [*reversed(layers)]
        self._open = open_layer
        self._meter = meter
        self._files: list[LayerFiles] = []

    def head(self, path: str, look: Callable[[str], None], *, executable: bool, last: bool) -> str:
        """The head of the file at a normal path, "" where there is none. look: is told each path on the way.

        executable: another file is none. last: a binary ends the reading. Raises NotRead.
        """
        look(path)
        top, links, folders = 0, 0, set[str]()
        while top < len(self._layers):
            files = self._read(top, {path} if last else set())
            entry = files.entries.get(path)
            if entry and entry.kind in ("file", "folder"):
                return entry.text if entry.executable or not executable else ""
            if entry and entry.kind == "same":
                path, top = entry.text, top + 1
                continue
            above = _above(path)
            known = [at for at in above if at in files.entries and at not in folders]
            moved = path if entry else next((at for at in known if files.entries[at].kind != "folder"), "")
            if moved:
                link = files.entries[moved]
                if link.kind != "link":
                    return ""
                links += 1
                if links > _MOST_LINKS:
                    raise NotRead(f"its links lead to one another at /{path}", final=True)
                target = link.text if link.text[:1] == "/" else f"{moved}/../{link.text}"
                path, top, folders = normal(target + path[len(moved) :]), 0, set()
                look(path)
                continue
            if not files.gone.isdisjoint([*above, path]) or not files.emptied.isdisjoint(["", *above]):
                return ""
            folders.update(known)
            top += 1
        return ""

    def _read(self, number: int, wanted: set[str]) -> LayerFiles:
        if number == len(self._files):
            layer = self._layers[number]
            _check(layer.media_type)
            meter = self._meter

            def read() -> LayerFiles:
                meter.expect(layer.size)
                tries: list[LayerFiles] = []
                self._open(layer, lambda parts: tries.append(read_layer(parts, layer, meter, wanted)))
                return tries[-1]

            self._files.append(meter.of_run.files(layer.digest, meter.left(), read))
        return self._files[number]


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _check(media_type: str) -> None:
    if media_type in _KINDS:
        return
    what = f"of the type {media_type[:100]!r}"
    if "nondistributable" in media_type or ".foreign." in media_type:
        what = "kept outside of registries"
    elif media_type.endswith("+encrypted"):
        what = "encrypted"
    raise NotRead(f"a layer of it is {what}", final=True)
