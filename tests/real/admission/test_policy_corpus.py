"""Every pod of the corpus's rendered streams, created under a policy that is made from the corpus's platforms."""

from __future__ import annotations

import pytest

from archfit.base.errors import InvalidReference
from archfit.images.platforms import Unknown
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.pipeline import transform
from archfit.workloads.builtin import WORKLOADS, group_of
from archfit.yaml import stream as frames
from archfit.yaml.stream import split
from archfit.yaml.values import plain
from control_plane import Refused
from pod_decisions import found

OPTIONS = Options(
    immutable="full", on_unknown="leave", on_absent="leave", on_conflict="leave", hooks="recreated"
)
KEPT = ("labels", "annotations", "ownerReferences")
COMPUTED = ("priority", "preemptionPolicy")


@pytest.fixture(scope="module")
def locked(corpus):
    """The answers of a lock file of the whole corpus."""
    answers = {}
    for text, platforms in corpus.platforms.items():
        try:
            reference = parse(text)
        except InvalidReference:
            continue
        if platforms:
            answers[reference.normalised] = found(" ".join(platforms), origin="lock")
    return answers


def rendered(data, locked):
    """(pods as they are in the stream, pods of the stream that archfit wrote from it); custom resources left out."""

    def lookup(texts):
        return {text: locked.get(parse(text).normalised) or Unknown("not locked") for text in texts}

    def run(text):
        done = transform(text, split(text), OPTIONS, lookup)
        return [pod for pod, _ in done.decisions], done

    before, done = run(data)
    after, _ = run(b"".join(map(bytes, frames.write(data, done.splices))))
    return [
        (a_pod(one), a_pod(other))
        for one, other in zip(before, after, strict=True)
        if (group_of(one.ref.api_version), one.ref.kind) in WORKLOADS and one.placement_paths is None
    ]


def a_pod(pod):
    """The pod that the template's controller creates."""
    metadata = {key: plain(pod.metadata[key]) for key in KEPT if pod.metadata.get(key)}
    metadata["generateName"] = f"{pod.ref.name or 'web'}-".lower()
    spec = {key: value for key, value in plain(pod.spec).items() if key not in COMPUTED}
    mounted = {
        mount["name"]
        for key in ("containers", "initContainers")
        for container in spec.get(key) or ()
        for mount in container.get("volumeMounts") or ()
    }
    volumes = spec.get("volumes") or []
    claimed = sorted(mounted - {volume["name"] for volume in volumes})  # by a StatefulSet
    spec["volumes"] = [*volumes, *({"name": name, "emptyDir": {}} for name in claimed)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def pods(corpus, locked):
    """Pairs of pods, each once; see `rendered`."""
    pairs = [pair for one in corpus.streams.values() for pair in rendered(one.read(), locked)]
    return list({repr(pair): pair for pair in pairs}.values())


@pytest.fixture(scope="module")
def installed(policies, locked, control_plane, pods):
    """The policy; what the pods name is there: priority classes."""
    names = {pod["spec"].get("priorityClassName") for pair in pods for pod in pair}
    for name in filter(None, names):
        if not name.startswith("system-"):
            control_plane.create(
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": 10,
                }
            )
    return policies.install("corpus", locked, OPTIONS)


def test_it_gets_what_archfit_writes_at_admission(installed, policies, pods):
    made = policies.plain([before for before, _ in pods])
    assert [str(one) for one in made if isinstance(one, Refused)] == []
    assert len(made) > 150
    policies.await_change(installed, made)
    judged = policies.judged(installed, made)
    assert not judged.wrong, str(judged)
    assert not judged.left_alone


def test_what_archfit_rendered_passes_unchanged(installed, policies, pods):
    made = policies.plain([after for _, after in pods if "ownerReferences" not in after["metadata"]])
    changed = [
        (one["metadata"], one["spec"].get("tolerations"), after["spec"].get("tolerations"))
        for one, after in zip(made, policies.admitted(installed.name, made), strict=True)
        if one["spec"] != after["spec"]
    ]
    assert changed == []
