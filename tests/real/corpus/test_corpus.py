"""Every file of the corpus through the real program, against a real registry, judged by the scheduler's own code.

What it must show (the oracle: SAFETY, LIVENESS, WIDENED, NARROWNESS, UNCHANGED, PARSE), for each way to run it:

    plain       the defaults, hooks are immutable as in any plain stream
    recreated   --hooks recreated, as the Helm 4 plugin and archfit argocd say
    full        --immutable full: Jobs and bare Pods like the rest
    s390x       --cluster-architectures amd64,arm64,s390x

The registry is Debian's; its answers are in a cache that the session shares, so each file asks for each image once.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from image_documents import name_of

from corpus_streams import Stream, each_stream
from custom_pods import projected, undone
from stream_edits import patched
from yaml_judge import typed

# Arguments beyond the mirrors that a file needs for exit 0, with the reason.
NEEDED: dict[str, tuple[list[str], str]] = {
    "helm3/gpu-operator.yaml": (["--on-absent", "leave"], "its image vgpu-manager does not exist"),
    "helm4/gpu-operator.yaml": (["--on-absent", "leave"], "its image vgpu-manager does not exist"),
}
WINDOWS = ("windows/amd64", "windows/arm64")
WAYS: dict[str, tuple[list[str], dict[str, str], tuple[str, ...]]] = {
    "plain": ([], {}, ("amd64", "arm64")),
    "recreated": (["--hooks", "recreated"], {"hooks": "recreated"}, ("amd64", "arm64")),
    "full": (
        ["--immutable", "full", "--cluster-architectures", ",".join(("amd64", "arm64", *WINDOWS))],
        {"immutable": "full", "systems": "judge"},
        ("amd64", "arm64"),
    ),
    "s390x": (["--cluster-architectures", "amd64,arm64,s390x"], {}, ("amd64", "arm64", "s390x")),
}
SOURCE = re.compile(rb"^# Source: ", re.MULTILINE)


class Placed(NamedTuple):
    """A run over one file. words: that it was started with."""

    before: bytes
    after: bytes
    report: dict[str, Any]
    words: list[str]


@pytest.fixture(scope="session")
def place(archfit, corpus_registry, tmp_path_factory):
    """`place(stream, way)`: run the program over a file; each pair runs once."""
    folder = tmp_path_factory.mktemp("placed")
    known: dict[tuple[str, str], Placed] = {}
    # Rows of custom resources write all that they can, whatever was seen.
    base = [*corpus_registry.mirrors(), "--cache", str(folder / "cache"), "--custom-resources=all"]

    def run(stream: Stream, way: str) -> Placed:
        if (stream.name, way) not in known:
            words = [
                *base,
                *NEEDED.get(stream.name, ([], ""))[0],
                *WAYS[way][0],
                "--report",
                str(folder / "r"),
            ]
            before, _ = stream.pinned()
            after = archfit(before, *words).ok()
            report = json.loads((folder / "r").read_text(encoding="utf-8"))
            known[stream.name, way] = Placed(before, after, report, words)
        return known[stream.name, way]

    return run


@pytest.mark.parametrize("way", WAYS)
@each_stream
def test_pods_land_where_their_images_run_and_nowhere_else(stream, way, place, oracle, judge):
    """Pods of custom resources are judged apart: the oracle knows Kubernetes' own kinds."""
    _, policy, architectures = WAYS[way]
    ran = place(stream, way)
    custom = [projected(judge.kubectl(text)) for text in (ran.before, ran.after)]
    for before, after in ((ran.before, undone(ran.before, ran.after, ran.report)), custom):
        if before:
            known = stream.pinned()[1]
            verdict = oracle(
                before,
                after,
                platforms=known,
                policy=policy,
                archs=architectures,
                windows=WINDOWS if way == "full" else (),
            )
            assert verdict.violations == []


@pytest.mark.parametrize("way", WAYS)
@each_stream
def test_only_lines_are_added(stream, way, place, textcheck):
    ran = place(stream, way)
    assert textcheck(ran.before, ran.after) == []


@pytest.mark.parametrize("way", WAYS)
@each_stream
def test_undoing_the_reported_spans_restores_the_input(stream, way, place):
    ran = place(stream, way)
    restored = ran.after
    for edit in reversed(ran.report["edits"]):
        restored = restored[: edit["start"]] + edit["was"].encode() + restored[edit["end"] :]
    assert restored == ran.before
    assert bool(ran.report["edits"]) == (ran.after != ran.before)
    assert bool(ran.report["edits"]) == any(
        decision["outcome"] == "Change" for decision in ran.report["decisions"]
    )


@pytest.mark.parametrize("way", ["plain", "full"])
@each_stream
def test_a_second_run_changes_nothing_and_asks_nobody(stream, way, place, archfit, tmp_path):
    ran = place(stream, way)
    again = archfit(ran.after, *ran.words, "--report", str(tmp_path / "report"))
    assert again.ok() == ran.after
    report = json.loads((tmp_path / "report").read_text(encoding="utf-8"))
    assert (sum(report["requests"].values()), report["edits"]) == (0, [])
    assert not any(decision["outcome"] == "Change" for decision in report["decisions"])


@each_stream
def test_kubernetes_readers_read_what_was_decided(stream, place, judge):
    """The objects of kubectl, kustomize and Helm 4 are the input's with the report's patches applied."""
    ran = place(stream, "full")
    for reader in ("kubectl", "kustomize", "helm4"):
        before, after = judge.read(reader, ran.before), judge.read(reader, ran.after)
        assert typed(_objects(after)) == typed(_placed(_objects(before), ran.report))


def _placed(objects: list[Any], report: dict[str, Any]) -> list[Any]:
    """The objects with the report's patches applied."""
    patches = _patches(report)
    return [_patched(value, _own_steps(value, patches)) for value in objects]


def _own_steps(value: Any, patches: dict[tuple[str, ...], list[Any]]) -> list[Any]:
    """The steps for an object and those inside of it; objects of one name have theirs in the order of the stream."""
    inside = dict.fromkeys(_identity(one) for one in _inside(value))
    return [step for identity in inside if patches.get(identity) for step in patches[identity].pop(0)]


def _inside(value: Any) -> Iterator[dict[str, Any]]:
    """The object, and every object in it, as an AppWrapper has some."""
    if isinstance(value, dict):
        if isinstance(value.get("apiVersion"), str) and isinstance(value.get("kind"), str):
            yield value
        for member in value.values():
            yield from _inside(member)
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item)


def _objects(documents: list[Any]) -> list[Any]:
    """Documents, or the items of those that are lists."""
    return [
        item
        for document in documents
        for item in (document["items"] if str(document.get("kind")).endswith("List") else [document])
    ]


def _identity(value: dict[str, Any]) -> tuple[str, ...]:
    metadata = value.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return value.get("apiVersion", ""), value.get("kind", ""), metadata.get("namespace") or "", name


def _patches(report: dict[str, Any]) -> dict[tuple[str, ...], list[Any]]:
    """By object: the steps of each one of that identity, in the order of the stream."""
    found: dict[tuple[str, ...], dict[int, list[Any]]] = {}
    for decision in report["decisions"]:
        ref = decision["object"]
        key = (ref["apiVersion"], ref["kind"], ref["namespace"], ref["name"])
        found.setdefault(key, {}).setdefault(decision["line"], []).extend(decision["patch"])
    return {key: list(by_line.values()) for key, by_line in found.items()}


def _patched(value: Any, steps: list[Any]) -> Any:
    """The value with the steps applied."""
    made: list[tuple[tuple[str | int, ...], Any]] = []
    for step in steps:
        path = tuple(token.replace("~1", "/").replace("~0", "~") for token in step["path"].split("/")[1:])
        if path[0] == "items":
            path = path[2:]
        if step["op"] == "add":
            made.append((path, step["value"]))
    (done,) = patched([value], {1: made})
    return done


@each_stream
def test_source_comments_still_follow_their_separator(stream, place):
    """Helm looks for them there: `helm template --show-only` reads what comes after post-rendering."""
    ran = place(stream, "full")
    assert len(SOURCE.findall(ran.after)) == len(SOURCE.findall(ran.before))
    follows = re.compile(rb"^---\n# Source: (.*)\n", re.MULTILINE)
    assert follows.findall(ran.after) == follows.findall(ran.before)
    if stream.name.startswith("helm3/"):
        assert len(follows.findall(ran.after)) == len(SOURCE.findall(ran.after)) > 0


def test_every_image_but_placeholders_was_found(place, corpus):
    """No file passes because its images were not asked for."""
    for stream in corpus.streams.values():
        report = place(stream, "plain").report
        answers = {text: row["answer"] for text, row in report["images"].items()}
        known = stream.pinned()[1]
        for text, answer in answers.items():
            wanted = "Found" if known.get(text) else ("Unasked", "Absent")
            assert answer == wanted or answer in wanted, (stream.name, text, answer)
            assert name_of(text) or answer == "Unasked"
