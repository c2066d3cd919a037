"""Whatever the style: the output says what was decided, as Kubernetes' own readers see it, and nothing else changed.

Objects are made of what decides a placement and of what an edit could trip over, then written in a random style: block
or flow at each node, compact or indented sequences, quotes, anchors and aliases of equal nodes, merge keys, comments,
blank lines, line endings, byte order marks and separators, singly or as items of a List.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archfit.base.errors import InvalidInput
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.workloads.inventory import scan_piece
from archfit.yaml.stream import split
from random_yaml import Style, stream_text
from stream_edits import Failed, edited, patched, steps
from yaml_judge import Refused, typed

if TYPE_CHECKING:
    from yaml_judge import Judge

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

names = st.sampled_from(
    ["web", "a b", "on", "012", "1e3", "", "é", "x: y", "# no", "- z", "null", "a\nb", "{a}", "'q'", '"']
)
images = st.sampled_from(["amd:1", "arm:1", "both:1", "all:1"])
scripts = st.sampled_from(
    ["echo\n", "echo", "one\ntwo\n", "one\n\n  two\n\n", "---\nx\n", "kind: Pod\n", "# c\n"]
)
extras = st.dictionaries(
    st.sampled_from(["name", "workingDir", "terminationMessagePath"]), st.one_of(names, scripts), max_size=2
)
containers = st.builds(lambda image, extra: {"image": image, **extra}, images, extras)
expressions = st.sampled_from(
    [
        {"key": "disk", "operator": "In", "values": ["ssd"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]},
        {"key": "kubernetes.io/arch", "operator": "Exists"},
        {"key": "gpu", "operator": "DoesNotExist"},
    ]
)
terms = st.one_of(
    st.builds(
        lambda found: {"matchExpressions": found}, st.one_of(st.none(), st.lists(expressions, max_size=2))
    ),
    st.just({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}),
    st.just({}),
)
required = st.one_of(
    st.none(), st.builds(lambda found: {"nodeSelectorTerms": found}, st.lists(terms, min_size=1, max_size=3))
)
preferred = st.one_of(
    st.none(), st.just([]), st.just([{"weight": 1, "preference": {"matchExpressions": []}}])
)
node_affinity = st.one_of(
    st.none(),
    st.fixed_dictionaries({}, optional={REQUIRED: required, PREFERRED: preferred}),
)
affinity = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {}, optional={"podAffinity": st.sampled_from([None, {}]), "nodeAffinity": node_affinity}
    ),
)
tolerations = st.one_of(
    st.none(),
    st.lists(
        st.sampled_from(
            [
                {"key": "dedicated"},
                {"operator": "Exists"},
                {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
                {"key": "x", "value": "on"},
            ]
        ),
        max_size=2,
    ),
)
specs = st.fixed_dictionaries(
    {"containers": st.lists(containers, min_size=1, max_size=2)},
    optional={
        "affinity": affinity,
        "tolerations": tolerations,
        "nodeSelector": st.sampled_from([None, {}, {"disk": "ssd"}]),
        "hostNetwork": st.booleans(),
        "subdomain": names,
        "initContainers": st.lists(containers, max_size=1),
    },
)


def _workload(kind: str, spec: dict[str, Any], extra: str, *, skip: bool) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "web", "labels": {"text": extra}}
    if skip:
        metadata["annotations"] = {"archfit.dev/skip": "true"}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    if kind == "CronJob":
        return {
            "apiVersion": "batch/v1",
            "kind": kind,
            "metadata": metadata,
            "spec": {"jobTemplate": {"spec": {"template": template}}},
        }
    api_version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"template": template}}


workloads = st.builds(
    _workload,
    st.sampled_from(["Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Pod"]),
    specs,
    names,
    skip=st.booleans(),
)
others = st.builds(
    lambda kind, data: {"apiVersion": "v1", "kind": kind, "metadata": {"name": "c"}, "data": {"text": data}},
    st.sampled_from(["ConfigMap", "Secret", "Unknown"]),
    st.one_of(names, scripts),
)
streams = st.lists(st.one_of(workloads, workloads, others), min_size=1, max_size=4)
options = st.sampled_from(
    [
        Options(on_conflict="leave"),
        Options(on_conflict="leave", cluster_architectures=("amd64", "arm64", "s390x")),
        Options(on_conflict="leave", immutable="full", prefer=(("arm64", 5), ("amd64", 1))),
        Options(on_conflict="leave", affinity="always"),
        Options(
            on_conflict="leave",
            tolerate=(TolerationRule(("amd64",), Toleration("arch", "Equal", "on", "NoSchedule")),),
            immutable="full",
        ),
    ]
)
quick = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _read(judge: Judge, reader: str, text: bytes) -> list[Any] | None:
    try:
        return judge.read(reader, text)
    except Refused:
        return None


@quick
@given(objects=streams, chosen=options, seed=st.integers(0, 2**32))
def test_any_style_says_what_was_decided(
    judge: Judge, objects: list[Any], chosen: Options, seed: int
) -> None:
    _holds(judge, stream_text(objects, Style(random.Random(seed))), chosen)


def _holds(judge: Judge, text: bytes, chosen: Options) -> None:
    output = edited(text, chosen)
    for reader in ("kubectl", "kustomize"):
        before = _read(judge, reader, text)
        assert before is not None, f"the style writes what {reader} refuses:\n{text.decode()}"
        after = _read(judge, reader, output.data)
        assert typed(after) == typed(patched(before, steps(text, output.transformed)))
        assert len(before) == len(split(text))
    restored = output.data
    for span in reversed(output.spans):
        restored = restored[: span.start] + span.was + restored[span.end :]
    assert restored == text
    assert edited(output.data, chosen).data == output.data


@quick
@given(objects=streams, seed=st.integers(0, 2**32))
def test_skipping_hides_no_pod(objects: list[Any], seed: int) -> None:
    text = stream_text(objects, Style(random.Random(seed)))
    assert _found(text) == _found(_unskippable(text))


def _found(text: bytes) -> list[tuple[int, str, tuple[Any, ...]]]:
    return [
        (document.span.number, pod.ref.kind, tuple(use.text for use in pod.images))
        for piece in split(text)
        for document in scan_piece(text, piece).documents
        for pod in document.pods
    ]


def _unskippable(text: bytes) -> bytes:
    """The same stream with a comment in each document that holds an odd line break: none is skipped or sliced."""
    made, at = b"", 0
    for piece in split(text):
        made += text[at : piece.start] + "# \u0085\n".encode()
        at = piece.start
    return made + text[at:]


@quick
@given(
    objects=streams,
    seed=st.integers(0, 2**32),
    damage=st.sampled_from(
        [b"\t", b"{", b"]", b'"', b"'", b"- ", b"*x", b"&a ", b": ", b"\r", b"|", b"\xc2\x85", b"!!null "]
    ),
    share=st.floats(0, 1),
)
def test_damaged_text_is_an_error_or_edited_as_read(
    judge: Judge, objects: list[Any], seed: int, damage: bytes, share: float
) -> None:
    text = stream_text(objects, Style(random.Random(seed)))
    at = len(text[: int(len(text) * share)].decode(errors="ignore").encode())
    broken = text[:at] + damage + text[at:]
    try:
        output = edited(broken, Options(on_conflict="leave"))
    except (Failed, InvalidInput):
        return
    before = _read(judge, "kubectl", broken)
    if output.spans and before is not None:
        after = _read(judge, "kubectl", output.data)
        assert typed(after) == typed(patched(before, steps(broken, output.transformed)))
