"""What kubectl, Helm and kustomize find in a stream, archfit saw or refused: the comparison, and that it can fail."""

from __future__ import annotations

import base64
import io
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import machine
from archfit.audit.running.collect import Collector
from archfit.audit.running.list_stream import items
from archfit.base.errors import InvalidInput
from archfit.base.results import ObjectRef
from archfit.options.settings import Options
from fuzz import readers
from fuzz.asking import Asking
from fuzz.listings import listing
from fuzz.readers import READERS, Reading, Seen, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POD = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{image: nginx}]}}"
UNKNOWN = "{apiVersion: e.com/v1, kind: Unknown, metadata: {name: u}, spec: {containers: [{image: b}]}}"
UNTYPED = "{metadata: {name: a}, spec: {template: {spec: {containers: [{image: nginx}]}}}}"
SEEN = f"{POD}\n---\n{UNKNOWN}\n"


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    judge = machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")
    with Asking(judge, "streams", "read") as running:
        yield running


def _read(asking: Asking, text: str) -> dict[str, Any]:
    (answer,) = asking.ask([base64.b64encode(text.encode()).decode()])
    assert answer is not None
    return answer


# What each reader yields: its kinds in order, and a word of its refusal.
READINGS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "an object": (POD, dict.fromkeys(READERS, ("Pod", ""))),
    "items of a kind without pods": (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\nitems:\n- {POD}\n",
        {
            **dict.fromkeys(("kubectl", "helm3", "helm4"), ("Pod", "")),
            **dict.fromkeys(("kustomize", "krm"), ("ConfigMap", "")),
        },
    ),
    "a typed list": (
        f"apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- {UNTYPED}\n",
        {
            **dict.fromkeys(("kubectl", "helm3", "helm4"), ("Deployment", "")),
            "kustomize": ("", "missing kind"),
            "krm": ("DeploymentList", ""),
        },
    ),
    "a list in a list": (
        f"apiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: FooList, items: [{POD}]}}\n",
        {
            **dict.fromkeys(("kubectl", "helm3"), ("", "is not a list")),
            **dict.fromkeys(("helm4", "kustomize"), ("Pod", "")),
            "krm": ("FooList", ""),
        },
    ),
    "a merge behind the kind": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n<<: {kind: Pod}\n",
        {
            **dict.fromkeys(("kubectl", "helm3", "helm4"), ("Pod", "")),
            **dict.fromkeys(("kustomize", "krm"), ("ConfigMap", "")),
        },
    ),
    "JSON in other letters, and twice": (
        '{"apiVersion": "v1", "kind": "Secret", "kind": "ConfigMap", "metadata": {"name": "a"}, "Kind": "Pod", '
        '"ITEMS": []}',
        {
            **dict.fromkeys(("kubectl", "helm3", "helm4"), ("ConfigMap", "")),
            **dict.fromkeys(("kustomize", "krm"), ("", "already defined")),
        },
    ),
    "JSON behind JSON": (
        '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}{"apiVersion": "v1", "kind": "Pod"}',
        {
            **dict.fromkeys(("kubectl", "helm3"), ("Secret Pod", "")),
            **dict.fromkeys(("helm4", "kustomize", "krm"), ("Secret", "")),
        },
    ),
    "what stands before an error": (
        f"{POD}\n---\na: [\n",
        {
            "kubectl": ("Pod", "error parsing"),
            "helm3": ("", "error parsing"),
            **dict.fromkeys(("helm4", "kustomize", "krm"), ("", "MalformedYAML")),
        },
    ),
    "an alias inside of its anchor": (
        "a: &x [*x]\n",
        {
            **dict.fromkeys(("kubectl", "helm3"), ("", "contains itself")),
            **dict.fromkeys(("helm4", "kustomize", "krm"), ("", "inside of its own anchor")),
        },
    ),
    "a hook": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {helm.sh/hook: test}}\n---\n"
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
        {**dict.fromkeys(READERS, ("Pod Secret", "")), "helm4": ("Secret Pod", "")},
    ),
    "a mark of the byte order": (f"\ufeff{POD}", dict.fromkeys(READERS, ("Pod", ""))),
}


@pytest.mark.parametrize("name", READINGS)
def test_the_judge_reads_as_each_program(asking: Asking, name: str) -> None:
    text, expected = READINGS[name]
    answer = _read(asking, text)
    for reader in READERS:
        kinds = " ".join(answer["objects"][number]["kind"] for number in answer[reader]["objects"])
        refused = answer[reader].get("refused", "")
        assert kinds == expected[reader][0], reader
        assert bool(refused) == bool(expected[reader][1]), (reader, refused)
        assert expected[reader][1] in refused, reader


@pytest.mark.parametrize("name", READINGS)
def test_the_real_kustomize_builds_the_same_objects(asking: Asking, tmp_path: Path, name: str) -> None:
    text, _ = READINGS[name]
    (tmp_path / "stream.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text("resources: [stream.yaml]\n", encoding="utf-8")
    command = [machine.tool("kustomize"), "build", tmp_path]
    done = subprocess.run(command, capture_output=True, env=machine.ENVIRON, check=False)
    answer = _read(asking, text)
    expected = answer["kustomize"]
    assert (done.returncode != 0) == ("refused" in expected), done.stderr
    kinds = [one["kind"] for one in yaml.safe_load_all(done.stdout)]
    assert sorted(kinds) == sorted(answer["objects"][number]["kind"] for number in expected["objects"])


PLUGIN = """\
apiVersion: v1
type: postrenderer/v1
name: stream
version: 0.1.0
runtime: subprocess
runtimeConfig:
  platformCommand:
  - command: ${HELM_PLUGIN_DIR}/stream
"""


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chart whose post-renderer prints the file `stream.yaml` beside it."""
    folder = tmp_path_factory.mktemp("helm")
    for name, text in {
        "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
        "chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
        "plugins/stream/plugin.yaml": PLUGIN,
        "plugins/stream/stream": f"#!/bin/sh\ncat >/dev/null\nexec cat '{folder}/stream.yaml'\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "plugins/stream/stream").chmod(0o755)
    return folder


@pytest.mark.parametrize("name", READINGS)
def test_the_real_helm_4_keeps_the_same_objects(asking: Asking, chart: Path, name: str) -> None:
    """`helm template` prints what it would build, so the builder reads what it prints."""
    text, _ = READINGS[name]
    (chart / "stream.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [machine.tool("helm4"), "template", "c", chart / "chart", "--post-renderer", "stream"],
        capture_output=True,
        env={**machine.ENVIRON, "HELM_PLUGINS": str(chart / "plugins")},
        check=False,
    )
    judged, printed = _read(asking, text), _read(asking, done.stdout.decode())
    if done.returncode:
        assert judged["helm4"].get("refused"), done.stderr
    else:
        assert printed["helm3"].get("refused") == judged["helm4"].get("refused")
        kept, expected = (
            sorted(str(answer["objects"][number]) for number in answer[reader]["objects"])
            for answer, reader in ((printed, "helm3"), (judged, "helm4"))
        )
        assert kept == expected


def _without_pods(seen: Seen) -> Seen:
    return seen._replace(pods=())


def _without_names(seen: Seen) -> Seen:
    return seen._replace(named=())


def _other_kind(seen: Seen) -> Seen:
    return seen._replace(pods=tuple((ref.replace(kind="Job"), images) for ref, images in seen.pods))


def _other_group(seen: Seen) -> Seen:
    return seen._replace(pods=tuple((ref.replace(api_version="x/v1"), images) for ref, images in seen.pods))


def _other_image(seen: Seen) -> Seen:
    return seen._replace(pods=tuple((ref, Counter(["other"])) for ref, _ in seen.pods))


PLANTED: dict[str, tuple[Callable[[Seen], Seen], str]] = {
    "a pod is not seen": (_without_pods, "Pod"),
    "an unknown kind is not named": (_without_names, "Unknown"),
    "a pod is seen as another kind": (_other_kind, "Pod"),
    "a pod is seen in another group": (_other_group, "Pod"),
    "a pod is seen with another image": (_other_image, "Pod"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_comparison_can_fail(asking: Asking, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    plant, kind = PLANTED[name]
    seen = readers.inventory(SEEN.encode())
    assert isinstance(seen, Seen)
    monkeypatch.setattr(readers, "inventory", lambda _text, **_whole: plant(seen))
    (unseen,) = Reading(asking).unseen(SEEN.encode())
    assert (unseen.found["kind"], unseen.readers) == (kind, READERS)


def _audited(text: bytes) -> Seen | None:
    """What `audit` finds in a file; None if it refuses the file."""
    collector = Collector("manifests", "stream", Options())
    try:
        for value, where in items(io.BytesIO(text), "stream"):
            collector.add(value, where)
    except InvalidInput:
        return None
    found = [
        (ObjectRef("", one.kind, one.namespace, one.name), Counter(use.image for use in one.images))
        for one in collector.facts().workloads
    ]
    return Seen(tuple(found), tuple(ObjectRef("", kind, "", "") for kind in collector.kinds))


def test_audit_finds_what_kubectl_creates(asking: Asking) -> None:
    compared = 0
    texts = [listing(4, number) for number in range(1500)]
    answers = asking.ask([base64.b64encode(text).decode() for text in texts])
    for text, answer in zip(texts, answers, strict=True):
        seen = _audited(text)
        if answer is None or seen is None:
            continue
        # An object that comes twice counts once there, and groups are not kept.
        yielded = {number: answer["objects"][number] for number in answer["kubectl"]["objects"]}
        holding = [one for one in yielded.values() if not readers.holds_none(one)]
        of_own_kinds = [{**one, "apiVersion": ""} for one in holding if one.get("own")]
        assert all(readers.missing(seen, [one]) == ([], 0) for one in of_own_kinds), text
        assert {ref.kind for ref in seen.named}.issuperset(one["kind"] for one in holding), text
        compared += len(of_own_kinds)
    assert compared > 300


@pytest.mark.parametrize("seed", [1, 2])
def test_no_reader_finds_what_archfit_neither_saw_nor_refused(asking: Asking, seed: int) -> None:
    unseen: list[Any] = []

    def made(number: int) -> bytes:
        return listing(seed, number)

    tally = Reading(asking).run(range(1500), made, 60, lambda *defect: unseen.append(defect), Tally())
    assert unseen == []
    assert tally.streams == 1500
    assert min(tally.objects[reader, "seen"] for reader in READERS) > 400
