"""A stream that is settled run by run has the outcome of one that is transformed as a whole, whatever is known before.

`_SMALL` and `_RUN` are set so low that these small streams count as large ones.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from registry import Registry

from archfit import pipeline, pod_stages
from archfit.commands import transform
from archfit.errors import ArchfitError, InternalError
from archfit.images.platforms import Found, Platform
from archfit.lookup import lockfile
from archfit.lookup.resolver import Lookup, open_lookup
from archfit.lookup.surroundings import Deadline, Surroundings
from archfit.options.cache_path import cache_path
from archfit.options.settings import Operator, Options
from archfit.store.memory import MemoryStore
from fuzz.streams import OPTIONS
from fuzz.streams import stream as drawn
from stream_runs import Asked, as_a_whole, in_runs, readable, settled_alike
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

EVERY_DOCUMENT, SOME, ALL = 1, 700, 1 << 40
RUNS = pytest.mark.parametrize("size", [EVERY_DOCUMENT, SOME], ids=["every-document", "some"])


@pytest.fixture(autouse=True)
def every_stream_counts_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_SMALL", -1)


@pytest.mark.parametrize("share", [0, 0.5, 1], ids=["none-known", "some-known", "all-known"])
@RUNS
def test_drawn_streams_have_the_same_outcome(
    size: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_RUN", size)
    chance, settled = random.Random(14), 0
    streams = [drawn(14, number, ()).text for number in range(60)]
    several = [b"\n---\n".join(chance.sample(streams, 4)) for _ in range(30)]
    for text in readable([*streams, *several]):
        options = OPTIONS[chance.choice(["default", "prefer", "always", "full"])]
        settled += settled_alike(text, options, share)
    assert settled >= 15


def deployment(name: str, image: str, more: str = "") -> str:
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n"
        f"      containers:\n      - name: a\n        image: {image}\n{more}"
    )


def job(name: str, image: str) -> str:
    return deployment(name, image).replace("apps/v1", "batch/v1").replace("Deployment", "Job")


AMD, ARM, BOTH, OLD, NEW = (f"{name}:1" for name in ("amd", "arm", "both", "old", "new"))
IMAGES = {
    "amd:1": ["linux/amd64"],
    "arm:1": ["linux/arm64"],
    "both:1": ["linux/amd64", "linux/arm64"],
    "old:1": ["linux/amd64"],
    "new:1": ["linux/amd64"],
}
USUAL = [deployment(f"web-{number}", image) for number, image in enumerate((AMD, BOTH, AMD, OLD, BOTH))]
CONFLICT = deployment("conflict", AMD, f"      - name: b\n        image: {ARM}\n")
OWNED = deployment("owned", AMD).replace(
    "  name: owned\n",
    "  name: owned\n  ownerReferences:\n  - {kind: Web, name: a, controller: true}\n",
)
UNKNOWN_KIND = deployment("thing", AMD).replace("apps/v1", "things.example/v1").replace("Deployment", "Thing")
MISPLACED = deployment("misplaced", AMD).replace(
    "  template:\n", '  strategy:\n    archfit.dev/skip: "true"\n  template:\n'
)
UNPLACEABLE = deployment("unplaceable", AMD, "      ? nodeName2\n      : a\n")
AGENT = deployment("agent", AMD).replace("Deployment", "DaemonSet")
CLASS = (
    "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\n"
    "scheduling:\n  nodeSelector: {kubernetes.io/arch: arm64}\n"
)
OF_CLASS = deployment("of-class", BOTH, "      runtimeClassName: r\n")
POOL = (
    "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaNodePool\nmetadata:\n  name: pool\n  labels:\n"
    "    strimzi.io/cluster: my\nspec:\n  replicas: 3\n  template:\n    pod:\n      priorityClassName: high\n"
)
KAFKA = (
    "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata:\n  name: my\nspec:\n  kafka:\n"
    f"    image: {AMD}\n"
)
BROKEN = "apiVersion: v1\nkind: Pod\nspec: {containers: [\n"
ON_A_LINE = (
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
    f'spec: {{containers: [{{name: a, image: "{AMD}"}}, {{name: b, image: "{ARM}"}}]}}}}'
)
ANCHORED = deployment("anchored", AMD).replace("name: anchored", "name: &name anchored")
ALIASED = deployment("aliased", AMD).replace("name: aliased", "name: *name")


def listed(*texts: str) -> str:
    items = "".join("- " + text.rstrip().replace("\n", "\n  ") + "\n" for text in texts)
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


STREAMS = {
    "usual": USUAL,
    "one-new": [*USUAL, deployment("last", NEW), *USUAL],
    "conflict": [*USUAL, CONFLICT, *USUAL],
    "of-controllers": [OWNED, *USUAL, OWNED.replace("owned", "other")],
    "unknown-kinds": [UNKNOWN_KIND, *USUAL, UNKNOWN_KIND.replace("  name: thing", "  name: other")],
    "misplaced": [*USUAL, MISPLACED, *USUAL],
    "no-place": [*USUAL, UNPLACEABLE, *USUAL],
    "warnings": [AGENT, *USUAL, AGENT.replace("agent", "other")],
    "jobs": [job("a", AMD), *USUAL, job("b", BOTH)],
    "of-a-class": [OF_CLASS, *USUAL, CLASS],
    "borrowed": [*USUAL, POOL, KAFKA],
    "borrowed-at-the-end": [KAFKA, *USUAL, POOL],
    "list": [listed(*USUAL, CONFLICT), *USUAL],
    "list-with-aliases": [listed(*USUAL), listed(*USUAL, ANCHORED, *USUAL, ALIASED)],
    "list-with-a-broken-item": [listed(*USUAL, BROKEN), *USUAL],
    "list-in-a-line": ["apiVersion: v1\nkind: List\nitems: [" + ", ".join([ON_A_LINE] * 4) + "]\n", *USUAL],
    "list-of-items-in-a-line": ["apiVersion: v1\nkind: List\nitems:\n" + f"- {ON_A_LINE}\n" * 4, *USUAL],
    "broken-end": [*USUAL, BROKEN],
    "broken-start": [BROKEN, *USUAL],
    "no-images": ["apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"] * 3,
}


class Said(NamedTuple):
    """What a run of the program wrote, without its time and the ages of answers."""

    status: int
    output: bytes
    messages: str
    report: Any


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with Registry(IMAGES) as served:
        yield served


WARM = {"all": (AMD, ARM, BOTH, OLD, NEW), "some": (AMD, OLD), "none": ()}


class Program:
    """Runs of the whole program, each with a copy of one cache. images: those that it knows."""

    def __init__(self, folder: Path, registry: Registry, images: Sequence[str]) -> None:
        self._folder = folder
        self._mirrors = registry.mirrors()
        self._runs = 0
        self._warm = folder / "warm"
        self._warm.mkdir()
        if images:
            self._run("---\n".join(deployment("a", image) for image in images), [], self._warm)

    def said(self, text: str, flags: Sequence[str]) -> Said:
        self._runs += 1
        home = self._folder / f"run-{self._runs}"
        shutil.copytree(self._warm, home)
        return self._run(text, flags, home)

    def _run(self, text: str, flags: Sequence[str], home: Path) -> Said:
        stdout, stderr, report = io.BytesIO(), io.StringIO(), home / "report.json"
        words = [*self._mirrors, "--report", str(report), *flags]
        environ = {"HOME": str(home)}
        try:
            status = transform.run(words, io.BytesIO(text.encode()), stdout, stderr, environ)
        except ArchfitError as error:
            return Said(error.exit_code, stdout.getvalue(), f"{stderr.getvalue()}{error}", None)
        found = json.loads(report.read_bytes())
        del found["time"]
        for answer in found["images"].values():
            answer.pop("ageSeconds", None)
        messages = re.sub(r"\d+ s old", "", stderr.getvalue())
        return Said(status, stdout.getvalue(), messages, found)


@pytest.fixture(scope="module", params=WARM)
def program(
    request: pytest.FixtureRequest, registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> Program:
    return Program(tmp_path_factory.mktemp("program"), registry, WARM[request.param])


def same_in_runs(program: Program, text: str, flags: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for size in (ALL, EVERY_DOCUMENT, SOME):
        monkeypatch.setattr(pipeline, "_RUN", size)
        said.append(program.said(text, flags))
    assert said[1] == said[0]
    assert said[2] == said[0]


@pytest.mark.parametrize("name", STREAMS)
def test_the_program_says_and_reports_the_same(
    name: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_in_runs(program, "---\n".join(STREAMS[name]), ["--on-conflict", "leave"], monkeypatch)


WHOLE = {"of-a-class", "borrowed", "borrowed-at-the-end", "list-with-a-broken-item", "no-images"}


@pytest.mark.parametrize(("name", "lean"), [(name, name not in WHOLE) for name in STREAMS])
def test_only_what_depends_on_other_documents_is_transformed_as_a_whole(
    name: str, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_RUN", EVERY_DOCUMENT)
    data = "---\n".join(STREAMS[name]).encode()
    assert in_runs(data, Options(), Asked(1))[1] == lean
    assert not in_runs(data, Options(stamp=True), Asked(1))[1]


def locked(images: Mapping[str, str], path: Path) -> list[str]:
    """Flags for a lock file with these images, each with a digit of its digest."""
    held = {
        f"docker.io/library/{text}": Found((Platform("linux", "amd64"),), f"sha256:{digit * 64}", index=True)
        for text, digit in images.items()
    }
    path.write_bytes(lockfile.render(held))
    return ["--lock-file", str(path)]


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--offline"],
        ["--offline", "--on-unknown", "leave"],
        ["--locked"],
        ["--cache-ttl", "0"],
        ["--no-cache"],
        ["--image-platforms", "both=linux/amd64", "--image-platforms", "new=linux/arm64"],
        ["--image-platforms", "*th=linux/amd64", "--image-platforms", "bo*=linux/arm64"],
        ["--exclude", "Deployment/*/web-1"],
        ["--verbose"],
    ],
    ids=" ".join,
)
def test_other_ways_to_an_answer_say_and_report_the_same(
    more: list[str], program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "---\n".join(STREAMS["one-new"])
    of_lock = locked({NEW: "1", AMD: "2"}, tmp_path / "archfit.lock")
    if "--locked" not in more:
        same_in_runs(program, text, more, monkeypatch)
    same_in_runs(program, text, [*of_lock, *more], monkeypatch)


def test_a_cache_that_no_answer_comes_from_is_not_spoken_of(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path, registry, WARM["none"])
    place = tmp_path / "cache.sqlite"
    place.write_bytes(b"no database " * 400)
    same_in_runs(program, listed(*USUAL, BROKEN), ["--cache", str(place)], monkeypatch)


def test_a_lock_file_left_behind_is_named_once_in_the_order_of_the_stream(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path, registry, WARM["all"])
    monkeypatch.setattr(pipeline, "_RUN", EVERY_DOCUMENT)
    said = program.said("---\n".join(STREAMS["one-new"]), locked({NEW: "1", AMD: "2"}, tmp_path / "lock"))
    names = "docker.io/library/amd:1, docker.io/library/new:1"
    assert said.messages.count("another digest") == 1
    assert f"another digest of {names}:" in said.messages


def test_an_error_of_a_run_is_raised_only_where_nothing_else_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_arguments: object, **_options: object) -> object:
        raise InternalError("a bug")

    monkeypatch.setattr(pipeline, "_RUN", EVERY_DOCUMENT)
    monkeypatch.setattr(pod_stages, "edited", failing)
    usual, wrong = ("---\n".join(some).encode() for some in (STREAMS["usual"], STREAMS["misplaced"]))
    assert in_runs(usual, Options(), Asked(1))[0] == (InternalError, "a bug")
    assert in_runs(wrong, Options(), Asked(1))[0] == as_a_whole(wrong, Options(), Asked(1))


def test_what_a_run_settled_is_not_read_again_and_cannot_change(tmp_path: Path) -> None:
    """Another process may write to the cache between the two."""
    place = str(tmp_path / "cache.sqlite")
    first, second, now = "x.example/a:1", "x.example/b:1", 1_767_225_600.0
    warm({first: ["linux/amd64"]}, place, now)
    clock = iter([now, now + 7200])
    one = open_lookup(Operator(cache=cache_path(place), offline=True), clock=lambda: next(clock), environ={})
    try:
        taken = one.taken()
        known = one.known([first, second], taken)
        assert list(known) == [first]
        warm({first: ["linux/arm64"], second: ["linux/arm64"]}, place, now)
        answers = one.resolve([first, second], taken)
        assert answers[first] is known[first]
        assert platforms(answers[second]) == ["linux/arm64"]
        assert platforms(one.resolve([first])[first]) == ["linux/arm64"]
    finally:
        one.close()


def test_a_shared_cache_is_not_read_before_the_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is behind a network, and its keys may need a credential helper."""
    store = MemoryStore()
    monkeypatch.setattr(MemoryStore, "shared", True)
    around = Surroundings({}, time.time, lambda _seconds: None, None, False, Deadline())
    one = Lookup(Operator(), (), store, around, lock=None, keychain=None)
    monkeypatch.setattr(store, "get_many", None)
    assert one.known(["x.example/a:1"], one.taken()) == {}
    one.close()


def platforms(answer: Any) -> list[str]:
    return [str(platform) for platform in answer.platforms]
