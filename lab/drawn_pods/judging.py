"""One drawn stream under one set of options, judged.

A RuntimeClass is merged into its pods on both sides, as admission does: the oracle does not know it. What it cannot
judge is not drawn:

    os NotIn [linux]            it takes only In with one value for a word about the OS
    spec.os beside another OS   the kubelet refuses such a pod on every node, and the scheduler does not look
    windows/amd64 alone         it tries Windows nodes of each architecture in its list
    a pool of arm64 and s390x   archfit keeps off windows/arm64 nodes that an image does not run on; the oracle has such
      without Windows entries   nodes only where the cluster names them
    Windows, immutable        archfit adds no toleration to what runs on Windows nodes without; the oracle looks at
                              Linux nodes alone where the pod names no system
    os In [linux, windows],   archfit keeps such a term to Windows where the images run there alone; to the oracle it
      os Exists               is no word about the OS, and the pod has to stay as it was
    two taints, immutable       nobody knows which of the two the nodes of an architecture carry
"""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from archfit.base.patch import Add
from archfit.images.platforms import Answer
from archfit.options.settings import GKE, Options, Toleration, TolerationRule
from archfit.pipeline import transform
from archfit.yaml import stream as frames
from archfit.yaml.stream import split
from corpus_streams import Oracle
from drawn_pods.drawing import IMAGES, OS, RUNTIME_CLASSES, stream
from pod_decisions import found

ON_WINDOWS = [
    {"key": OS, "operator": operator, "values": values}
    for operator, values in (("In", ["windows"]), ("NotIn", ["linux"]))
]
POOL = TolerationRule(("arm64", "s390x"), Toleration("arch", "Equal", "", "NoSchedule"))
POLICY: dict[str, Any] = {"archTaints": [{"key": "arch", "value": "", "effect": "NoSchedule"}]}
_CLUSTERS = (
    ("amd64", "arm64"),
    ("amd64", "arm64", "s390x"),
    ("amd64", "arm64", "windows/amd64", "windows/arm64"),
    ("amd64", "arm64", "s390x", "windows/amd64", "windows/arm64"),
    ("amd64", "arm64", "ppc64le", "riscv64", "s390x"),
    ("amd64", "arm64", "ppc64le", "riscv64", "s390x", "windows/amd64", "windows/arm64"),
)


class Judged(NamedTuple):
    """pods: how many. counts: as the oracle counts. violations: its lines, each with the stream's own options."""

    pods: int
    counts: dict[str, int]
    violations: list[str]


def drawn_options(random: Random) -> Options:
    """Options of one run; conflicts leave their pods, since a stream holds many pods."""
    cluster = random.choice(_CLUSTERS)
    pools = "s390x" in cluster and "windows/arm64" in cluster and random.random() < 0.5
    return Options(
        cluster_architectures=cluster,
        tolerate=(GKE, POOL) if pools else (GKE,),
        affinity=random.choice(("needed", "needed", "always")),
        prefer=random.choice(((), (("arm64", 10),), (("amd64", 1), ("arm64", 100)))),
        immutable="full" if pools else random.choice(("needed", "needed", "full")),
        hooks=random.choice(("immutable", "recreated")),
        on_conflict="leave",
    )


def judged(random: Random, count: int, oracle: Oracle, nodes: dict[str, Any], folder: Path) -> Judged:
    """Draws a stream, runs it twice and asks the oracle. Raises AssertionError where a second run changes something.

    So it does where stamped runs differ: a second one from the first, or one after other answers from that without.
    """
    options = drawn_options(random)
    linux = [entry for entry in options.cluster_architectures if "/" not in entry]
    before = stream(random, count, [*linux, "ppc64le"] if random.random() < 0.3 else linux)
    after, told_of = _run(before, options)
    assert _run(after, options)[0] == after, f"a second run changes something: {options!r}"
    stamping = options.replace(stamp=True)
    answers = random.sample(list(IMAGES.values()), len(IMAGES))
    earlier, _ = _run(before, stamping, dict(zip(IMAGES, answers, strict=True)))
    stamped, _ = _run(earlier, stamping)
    assert _run(stamped, stamping)[0] == stamped, f"a second stamped run changes something: {options!r}"
    # A pod in conflict keeps what is recorded.
    left = {name for check, name in told_of if check == "SAFETY"}
    assert _specs(stamped, left) == _specs(after, left), f"a stamped run places otherwise: {options!r}"
    systems = "judge" if len(linux) < len(options.cluster_architectures) else "note"
    policy = {**POLICY, "hooks": options.hooks, "immutable": options.immutable, "systems": systems}
    if POOL in options.tolerate:
        nodes = {**nodes, "items": [*nodes["items"], *map(_pooled, nodes["items"])]}
    (folder / "nodes.json").write_text(json.dumps(nodes), encoding="utf-8")
    entries = options.cluster_architectures
    verdict = oracle(
        _admitted(before),
        _admitted(after),
        platforms=IMAGES,
        policy=policy,
        nodes=folder / "nodes.json",
        archs=linux,
        windows=entries,
    )
    told = [
        f"{line} under {options!r}"
        for line in verdict.violations
        if not any(line.startswith(check) and f" {name} " in line for check, name in told_of)
    ]
    return Judged(verdict.pod_specs, verdict.counts, told)


def _specs(data: bytes, left: Container[str]) -> dict[str, dict[str, Any]]:
    """By kind, namespace and name."""
    named = {}
    for document in yaml.load_all(data, Loader=yaml.CSafeLoader):
        metadata = document["metadata"]
        name = metadata.get("name") or metadata.get("generateName")
        named[f"{document['kind']}/{metadata.get('namespace', '')}/{name}"] = _pod_spec(document)
    return {name: spec for name, spec in named.items() if name not in left}


def _run(
    data: bytes, options: Options, images: Mapping[str, Sequence[str]] = IMAGES
) -> tuple[bytes, set[tuple[str, str]]]:
    """The output; (check, pod) of what the run says itself and the oracle need not say again.

    LIVENESS, NARROWNESS: the pod's term has several systems, and the run warns of what is lost. SAFETY: the run says
    that the pod is in conflict, or has a node already, and leaves it as it is.
    """

    def lookup(texts: Iterable[str]) -> dict[str, Answer]:
        return {text: found(" ".join(images[text])) for text in texts}

    edits = transform(data, split(data), options, lookup)
    results = edits.messages
    assert not edits.failed(), [str(one) for one in results if one.severity == "error"][:3]
    told = {
        (check, f"{one.ref.kind}/{one.ref.namespace}/{one.ref.name}")
        for one in results
        for check in ("LIVENESS", "NARROWNESS")
        if one.ref is not None and "one term for each" in one.text
    }
    for pod, decision in edits.decisions:
        name = f"{pod.ref.kind}/{pod.ref.namespace}/{pod.ref.name}"
        built = [IMAGES.get(use.text or "", ()) for use in pod.images]
        if any(isinstance(step, Add) and step.value in ON_WINDOWS for step in decision.patch):
            told.add(("UNCHANGED", name))
        if decision.outcome == "Conflict" or pod.spec.get("nodeName"):
            told.add(("SAFETY", name))
        if decision.immutable and all(
            any(one.startswith(("windows/", "wasi/")) for one in names) for names in built
        ):
            told.add(("LIVENESS", name))
    return b"".join(map(bytes, frames.parts(data, edits.splices))), told


def _pooled(node: dict[str, Any]) -> dict[str, Any]:
    """The node with the taint of a pool beside its own, where it is one of the pool's architectures."""
    name = f"{node['metadata']['name']}-pool"
    labels = node["metadata"]["labels"]
    taints = node["spec"].get("taints", [])
    if labels.get("kubernetes.io/arch") in POOL.architectures:
        taints = [*taints, {"key": "arch", "effect": "NoSchedule"}]
    return {**node, "metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}}


def _admitted(data: bytes) -> bytes:
    """The stream as JSON documents, what RuntimeClasses say in their pods."""
    documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
    for document in documents:
        spec = _pod_spec(document)
        scheduling = RUNTIME_CLASSES.get(spec.get("runtimeClassName", ""), {})
        if "nodeSelector" in scheduling:
            spec["nodeSelector"] = {**spec.get("nodeSelector", {}), **scheduling["nodeSelector"]}
        if "tolerations" in scheduling:
            spec["tolerations"] = [*scheduling["tolerations"], *spec.get("tolerations", [])]
    return "\n---\n".join(map(json.dumps, documents)).encode()


def _pod_spec(document: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = document.get("spec") or {}
    for step in ("jobTemplate", "template"):
        spec = spec[step]["spec"] if step in spec else spec
    return spec
