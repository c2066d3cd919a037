"""The stream engine in process, without network, and Kubernetes' own readers as its judges.

    before, after = sides(DIFF)                a unified diff without headers, both of its sides
    assert placed(judge, before) == after      edits, and asks the judges about every promise of an edit

An image says what it offers: `amd:1` linux/amd64, `arm:1` linux/arm64, `both:1` both, and so on, see IMAGES. Under the
default options `amd:1` needs an affinity, `both:1` the toleration of GKE's taint, except in a Job or Pod.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import jsonpatch

from archfit.base.patch import Add, Path, pointer
from archfit.base.results import Location, Message
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.pipeline import StreamEdits, transform
from archfit.yaml import stream
from archfit.yaml.container import slices
from archfit.yaml.stream import split
from archfit.yaml.values import Typed
from pod_decisions import found
from yaml_judge import Judge, Refused, typed

IMAGES = {
    "amd:1": found("amd64"),
    "arm:1": found("arm64"),
    "both:1": found("amd64 arm64"),
    "all:1": found("amd64 arm64 s390x"),
    "windows:1": found("windows/amd64"),
    "single:1": found("amd64", index=False),
}
READERS = ("kubectl", "kustomize")
CustomResources = Literal["all", "read", "seen", "none"]
NOTHING_WANTED = Options(affinity="never", tolerate=())


class Failed(Exception):
    """The engine refused; `messages` are its reasons."""

    def __init__(self, results: Sequence[Message]) -> None:
        super().__init__("\n".join(map(str, results)))
        self.messages = tuple(results)


class Output(NamedTuple):
    """data: what is written. spans: where it differs from the input."""

    data: bytes
    spans: list[stream.OutputChange]
    edits: StreamEdits


def sides(diff: str) -> tuple[bytes, bytes]:
    """Both sides of a unified diff without headers: each line begins with a blank, `-` or `+`, or is empty."""
    lines = diff.removeprefix("\n").splitlines(keepends=True)
    assert all(line[0] in " +-\n" for line in lines)
    before = "".join(line.removeprefix(line.strip("\n")[:1]) for line in lines if line[0] != "+")
    after = "".join(line.removeprefix(line.strip("\n")[:1]) for line in lines if line[0] != "-")
    return before.encode(), after.encode()


def lookup(texts: Iterable[str]) -> dict[str, Answer]:
    """An image that nobody knows offers linux/amd64, as `amd:1` does."""
    return {text: IMAGES.get(text, IMAGES["amd:1"]) for text in texts}


def edited(data: bytes, options: Options | None = None, *, unseen: CustomResources = "all") -> Output:
    """What the engine makes of a stream. Raises Failed, and InvalidInput where the stream cannot be split.

    unseen: the option `custom_resources` where `options` has its default, so that tests of rows need not say it.
    """
    read = stream.read_stream(data, "pass")
    options = options or Options()
    if options.custom_resources == "read":
        options = options.replace(custom_resources=unseen)
    edits = transform(read.data, read.pieces, options, lookup)
    if edits.failed():
        raise Failed(edits.messages)
    written = b"".join(map(bytes, stream.parts(read.data, edits.splices)))
    return Output(written, list(stream.output_changes(data, edits.splices)), edits)


def placed(
    judge: Judge,
    data: bytes,
    options: Options | None = None,
    *,
    refused: Sequence[str] = (),
    kubectl_only: bool = False,
    unseen: CustomResources = "all",
) -> bytes:
    """What the engine writes, after asserting what is true of every output:

    each reader that takes the input reads the output as the patch applied to its input; undoing the reported spans
    restores the input; a second run changes nothing; nor does a run that has nothing to say.

    refused: the readers that refuse the input, which is asserted, too. kubectl_only: kustomize reads words such as
    `yes` otherwise, so that nobody can write for both.
    """
    output = edited(data, options, unseen=unseen)
    for reader in READERS[:1] if kubectl_only else READERS:
        _judged(judge, reader, data, output, refused=reader in refused)
    restored = output.data
    for span in reversed(output.spans):
        restored = restored[: span.start] + span.was + restored[span.end :]
    assert restored == data
    assert edited(output.data, options, unseen=unseen).data == output.data
    assert edited(data, NOTHING_WANTED).data == data
    return output.data


def _judged(judge: Judge, reader: str, data: bytes, output: Output, *, refused: bool) -> None:
    try:
        before = judge.read(reader, data)
    except Refused:
        assert refused, f"{reader} refuses the input"
        return
    assert not refused, f"{reader} takes the input"
    expected = patched(before, steps(data, output.edits))
    assert typed(judge.read(reader, output.data)) == typed(expected)


def steps(data: bytes, edits: StreamEdits) -> dict[int, list[tuple[Path, Any]]]:
    """Document -> (path from its root, value) of each addition."""
    made: dict[int, list[tuple[Path, Any]]] = {}
    for pod, decision in edits.decisions:
        within = () if pod.path[0] == "items" else _sliced(data, pod.location)
        made.setdefault(pod.location.document, []).extend(
            ((*within, *step.path), plain(step.value)) for step in decision.patch if isinstance(step, Add)
        )
    return made


def _sliced(data: bytes, location: Location) -> Path:
    """Where an object stands that was parsed by itself: in a list, the number of the item that begins at its line."""
    piece = split(data)[location.document - 1]
    if piece.line == location.line:
        return ()
    lines = [data.count(b"\n", 0, item.start) + 1 for item in slices(data, piece.start, piece.end) or ()]
    return ("items", lines.index(location.line))


def patched(documents: Sequence[Any], patches: dict[int, list[tuple[Path, Any]]]) -> list[Any]:
    """The documents with the additions made, by python-jsonpatch."""
    return [
        jsonpatch.apply_patch(
            document,
            [{"op": "add", "path": pointer(path), "value": value} for path, value in patches.get(number, ())],
        )
        for number, document in enumerate(documents, start=1)
    ]


def plain(value: Any) -> Any:
    """A value of the engine as JSON has it."""
    if isinstance(value, Typed):
        readers: dict[str, Callable[[str], Any]] = {
            "bool": lambda text: text == "true",
            "int": int,
            "float": float,
        }
        return readers[value.kind](value.text)
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
