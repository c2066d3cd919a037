"""The KRM function's frame: one ResourceList in, the same ResourceList out (kustomize, kpt).

Its items are edited in place, as those of any list; functionConfig is the `spec` of an ArchFit, the `data` of a
ConfigMap, or nothing; archfit adds its results to what `results` holds. config.kubernetes.io/v1 and v1beta1. On failure
the list comes back unedited, with the errors as results, and the exit code is 1.

kustomize and kpt start a function in a container without network by default: Docker's `--network none` leaves only the
loopback interface, so that every route leads to `lo`. The kernel lists the routes of the process's own network
namespace in /proc/net (proc(5)). Source: kustomize, cmd/config/docs/api-conventions/functions-spec.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from archfit.base.errors import ArchfitError, InvalidInput
from archfit.base.patch import Add
from archfit.base.printable import visible
from archfit.base.results import Message, ObjectRef
from archfit.edit.insert import insertions
from archfit.edit.render import Style, block_member
from archfit.images.platforms import Unknown
from archfit.pipeline import StreamEdits
from archfit.startup.record import Record
from archfit.workloads.pods import Pod
from archfit.workloads.sites import find_sites
from archfit.yaml import stream
from archfit.yaml.compose import parse
from archfit.yaml.skip import has_escaped_key, identity
from archfit.yaml.stream import Piece, Splice, split
from archfit.yaml.tree import ROOT
from archfit.yaml.values import plain, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GROUP, KIND = "config.kubernetes.io", "ResourceList"
_CONFIG_KEY, _RESULTS_KEY = b"functionConfig", b"results"
_NEXT_KEY = re.compile(rb"\n(?=[^ \t\r\n#\]},-])").search
_ANCHOR = re.compile(rb"&([A-Za-z0-9_-]+)").finditer
_PLAIN_KEY = re.compile(rb"[A-Za-z0-9_\"']").match
_RESULTS_WRITTEN_OTHERWISE = re.compile(rb"(?:\A|\n)(?:\?[ \t]+)?(?:['\"]?results|\"[^\"\n]*\\)").search
_ITEM = re.compile(r"^items\[\d+\]\.")
_LONG = 10
_PREFIXES = ("internal.config.kubernetes.io/", "config.kubernetes.io/")


class FunctionFrame(Record):
    """The frame of one ResourceList; see `run.Frame`. piece: the only document of the stream."""

    data: bytes
    piece: Piece

    def advice(self, edits: StreamEdits) -> list[Message]:
        """What to write where answers are Unknown because the function's container has no network."""
        answers = edits.answers.values()
        if not any(isinstance(answer, Unknown) for answer in answers) or not _isolated():
            return []
        return [Message("error" if edits.failed() else "warning", _MESSAGE)]

    def with_results(
        self, edits: StreamEdits | None, results: Sequence[Message], splices: tuple[Splice, ...]
    ) -> tuple[Splice, ...]:
        """The splices that also put the results into the list, in order. Raises ArchfitError without a place for them.

        splices: those of the items.
        """
        pods = [pod for pod, _ in edits.decisions] if edits else []
        added = _results(self.data, self.piece, results, pods) if results else ()
        both = tuple(sorted((*splices, *added), key=lambda splice: splice.start))
        if any(splice.end > following.start for splice, following in pairwise(both)):
            raise ArchfitError("results of the ResourceList is an alias of its items: write the results out")
        return both

    def after_failure(
        self, edits: StreamEdits | None, results: Sequence[Message]
    ) -> Iterable[bytes | memoryview]:
        """The list with its items untouched and the results. Raises ArchfitError if it has no place for them."""
        return stream.parts(self.data, self.with_results(edits, results, ()))


def recognised(data: bytes) -> FunctionFrame | None:
    """The ResourceList that the stream is, None for any other stream."""
    try:
        pieces = split(data)
    except InvalidInput:
        return None
    if len(pieces) != 1:
        return None
    named = identity(data, pieces[0].start, pieces[0].end)
    if named is not None:
        kind, api_version = named.kind, named.api_version
    else:
        value = _value(data, pieces[0])
        kind, api_version = text_of(_get(value, "kind")), text_of(_get(value, "apiVersion"))
    if kind != KIND or not api_version.startswith(f"{GROUP}/"):
        return None
    return FunctionFrame(data, pieces[0])


def function_config(frame: FunctionFrame) -> Any:
    """The functionConfig in Python's own values, None where there is none. Raises InvalidInput."""
    data, piece = frame.data, frame.piece
    block = _top_block(data, piece, _CONFIG_KEY)
    if block is not None:
        return plain(_value_of_block(data, piece, block, "functionConfig"))
    if data.find(_CONFIG_KEY, piece.start, piece.end) < 0 and not has_escaped_key(
        data, piece.start, piece.end
    ):
        return None
    return plain(_get(_value(data, piece), "functionConfig"))


def _results(
    data: bytes, piece: Piece, results: Sequence[Message], pods: Iterable[Pod]
) -> tuple[Splice, ...]:
    """pods: for the files that their objects come from."""
    files = {pod.ref: file for pod in pods if (file := _file(pod.object_metadata))}
    shown = [_result(result, files) for result in results]
    before = _top_block(data, piece, _RESULTS_KEY)
    if before is not None:
        _check_anchors(data, piece, before)
        listed = _listed(_value_of_block(data, piece, before, "results"))
        every = _with(listed, shown)
        return (Splice(*before, _lines(every, data, before[0])),) if len(every) > len(listed) else ()
    end = piece.end
    if (
        data[end - 1 : end] == b"\n"
        and _top_block(data, piece, b"kind") is not None
        and data.find(b"\n...", piece.start, end) < 0
        and not _RESULTS_WRITTEN_OTHERWISE(data, piece.start, end)
    ):
        return (Splice(end, end, _lines(shown, data, end)),)
    return _placed(data, piece, shown)


def _check_anchors(data: bytes, piece: Piece, block: tuple[int, int]) -> None:
    """Raises ArchfitError for an anchor in the block that an alias outside of it uses."""
    for anchor in _ANCHOR(data, *block):
        alias = re.compile(rb"\*" + re.escape(anchor[1]) + rb"(?![A-Za-z0-9_-])")
        if alias.search(data, piece.start, block[0]) or alias.search(data, block[1], piece.end):
            raise ArchfitError(
                f"the results of the ResourceList have an anchor, &{anchor[1].decode()}, that other parts use: "
                "write the value out there"
            )


def _listed(results: Any) -> list[Any]:
    if results is None or isinstance(results, list):
        return results or []
    raise ArchfitError("results of the ResourceList is not a list: make it one, or leave it out")


def _with(listed: list[Any], results: list[Any]) -> list[Any]:
    """What is listed, and the results that are not: those of an earlier run stay as they are."""
    return [*listed, *(result for result in results if result not in listed)]


def _lines(results: list[Any], data: bytes, at: int) -> bytes:
    line_end = data.find(b"\n", 0, at)
    newline = "\r\n" if data[line_end - 1 : line_end] == b"\r" else "\n"
    return "".join(line + newline for line in block_member("results", results, 0, Style())).encode()


def _placed(data: bytes, piece: Piece, results: list[Any]) -> tuple[Splice, ...]:
    """The splice for a list in flow style, such as JSON, or without a line break at its end."""
    text = data[piece.start : piece.end].decode()
    tree = parse(text)
    sites = find_sites(tree, ROOT, tree.value, {(): {"results": None}})
    there = _get(tree.value, "results")
    new = _with(_listed(there), results)[len(there or ()) :]
    patch = [Add(("results",), new)] if there is None else [Add(("results", "-"), result) for result in new]
    edits = insertions(text, tree.value, sites, patch)
    starts = [piece.start + len(text[: edit.start].encode()) for edit in edits]
    return tuple(
        Splice(start, start + len(text[edit.start : edit.end].encode()), edit.text.encode())
        for start, edit in zip(starts, edits, strict=True)
    )


def _top_block(data: bytes, piece: Piece, key: bytes) -> tuple[int, int] | None:
    """The lines of a top-level key in block style, None where there is not exactly one, or no plain key follows it."""
    needle = b"\n" + key + b":"
    if data.startswith(needle[1:], piece.start):
        start = piece.start
        if data.find(needle, start, piece.end) >= 0:
            return None
    else:
        start = data.find(needle, piece.start, piece.end) + 1
        if not start or data.find(needle, start, piece.end) >= 0:
            return None
    following = _NEXT_KEY(data, start, piece.end)
    if following and not _PLAIN_KEY(data, following.end(), piece.end):
        return None
    return start, following.end() if following else piece.end


def _value_of_block(data: bytes, piece: Piece, block: tuple[int, int], key: str) -> Any:
    """The value of a top-level key from its own lines, or from the whole list where an alias needs that."""
    try:
        return _get(parse(data[block[0] : block[1]].decode()).value, key)
    except InvalidInput:
        if data.find(b"*", *block) < 0:
            raise
        return _get(parse(data[piece.start : piece.end].decode()).value, key)


def _value(data: bytes, piece: Piece) -> Any:
    try:
        return parse(data[piece.start : piece.end].decode()).value
    except InvalidInput:
        return None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _result(result: Message, files: Mapping[ObjectRef, dict[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {"message": visible(result.text), "severity": result.severity}
    ref = result.ref
    if ref is not None and ref.api_version and ref.kind and ref.name:
        value["resourceRef"] = {
            "apiVersion": visible(ref.api_version),
            "kind": visible(ref.kind),
            **({"namespace": visible(ref.namespace)} if ref.namespace else {}),
            "name": visible(ref.name),
        }
        if result.field:
            value["field"] = {"path": visible(_ITEM.sub("", result.field))}
        if ref in files:
            value["file"] = files[ref]
    return value


def _file(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The file an object comes from, by the orchestrator's annotations: internal first, then legacy."""
    annotations = metadata.get("annotations")
    if not isinstance(annotations, dict):
        return {}
    origin = {
        name: text_of(annotations[prefix + name])
        for prefix in reversed(_PREFIXES)
        for name in ("path", "index")
        if prefix + name in annotations
    }
    if not origin.get("path"):
        return {}
    index = origin.get("index", "")
    return {
        "path": visible(origin["path"]),
        **({"index": int(index)} if index.isdecimal() and len(index) < _LONG else {}),
    }


_MESSAGE = (
    "there is no network here, so no registry can be asked: write `network: true` below `container:` of the function "
    "and add --network to kustomize build (kpt: --allow-network for render, --network for eval), or name a lock file "
    "(lockFile)"
)


def _isolated() -> bool:
    """Whether no route leads out. IPv4: a head line, the device first; IPv6: no head, the device last."""
    try:
        devices = {line.split()[0] for line in _file_lines("/proc/net/route")[1:]}
    except OSError:
        return False  # a system without /proc
    try:
        devices |= {line.split()[-1] for line in _file_lines("/proc/net/ipv6_route")}
    except OSError:
        pass  # a kernel without IPv6
    return devices <= {"lo"}


def _file_lines(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()
