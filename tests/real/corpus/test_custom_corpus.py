"""The corpus's custom resources: each file is changed, or named in the report with its reason; never passed in silence.

Every image offers linux/amd64 alone here, so that every pod needs an affinity.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import yaml

import machine
from archfit.base.errors import InvalidInput
from archfit.base.patch import Path
from archfit.options.settings import Options
from stream_edits import Failed, edited, placed

# Files of which nothing is changed: others choose the images or the place of their pods, and the message says who.
LEFT = {
    *(
        "argo-workflow-node-selector",
        "argo-workflow-resource-template",
        "eck-elasticsearch",
        "kubeflow-trainjob",
    ),
    *("knative-service-grpc-ping-go", "kubevirt-virtualmachine", "ocm-policy", "opentelemetry-collector"),
    *("strimzi-kafka", "tekton-pipelinerun"),
}


def crd_files() -> list[Any]:
    folder = machine.SHARED / "corpus" / "crd"
    if folder.is_dir():
        return [pytest.param(path.name, id=path.name) for path in sorted(folder.iterdir())]
    reason = f"{folder} is missing: set TEST_SHARED to the folder of shared test data"
    return [pytest.param("", id="corpus", marks=pytest.mark.skip(reason=reason))]


def read(name: str) -> bytes:
    return (machine.SHARED / "corpus" / "crd" / name).read_bytes()


@pytest.mark.parametrize("name", crd_files())
def test_each_file_is_changed_or_named(judge, textcheck, name):
    """The judges read what the patch says, a second run and a run with nothing to say change nothing."""
    data = read(name)
    written = placed(judge, data)
    edits = edited(data).edits
    changed = any(decision.outcome == "Change" for _, decision in edits.decisions)
    assert changed is (name.removesuffix(".yaml") not in LEFT)
    assert changed or edits.messages or any(one.outcome == "OptedOut" for _, one in edits.decisions)
    assert (written == data) is not changed
    assert textcheck(data, written) == []


@pytest.mark.parametrize("name", crd_files())
def test_json_and_lists_get_the_same(judge, name):
    """In flow style, and as items of a List, in both styles."""
    objects = judge.kubectl(read(name))
    expected = judge.kubectl(placed(judge, read(name)))
    for one, after in zip(objects, expected, strict=True):
        text = json.dumps(one, ensure_ascii=False).encode() + b"\n"
        assert judge.kubectl(placed(judge, text)) == [after]
    several = {"apiVersion": "v1", "kind": "List", "items": objects}
    as_yaml = yaml.safe_dump(several, sort_keys=False, allow_unicode=True).encode()
    for text in (json.dumps(several, indent=1, ensure_ascii=False).encode() + b"\n", as_yaml):
        (made,) = judge.kubectl(placed(judge, text))
        assert made["items"] == expected


@pytest.mark.parametrize("name", crd_files())
def test_no_odd_value_anywhere_is_a_bug(name):
    """Each member of each object once as something else: an error of the input, or the same on a second run."""
    chosen = Random(name)
    for document in yaml.safe_load_all(read(name)):
        document.pop("status", None)
        paths = [path for path in paths_in(document) if path]
        for path in chosen.sample(paths, min(len(paths), 40)):
            text = yaml.safe_dump(replaced(document, path, chosen.choice(ODD)), sort_keys=False).encode()
            try:
                output = edited(text)
            except (Failed, InvalidInput):
                continue
            assert edited(output.data).data == output.data


ODD = [None, {}, [], "x", 3, True, [None], {"a": None}, [[]], {"image": "app:1"}, [{"image": None}]]


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for step, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths_in(member, (*path, step))


def replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = replaced(value[path[0]], path[1:], new)
    return made


def test_the_custom_resources_of_whole_charts_are_named_too():
    """ClusterPolicy of the GPU operator, Prometheus and Alertmanager of kube-prometheus-stack."""
    chart = (machine.shared("corpus") / "helm3" / "gpu-operator.yaml").read_bytes()
    said = [str(result) for result in edited(chart, Options(on_conflict="leave")).edits.messages]
    assert any("nvidia.com/v1/ClusterPolicy" in one and "not transformed" in one for one in said)
    chart = (machine.shared("corpus") / "helm3" / "kube-prometheus-stack.yaml").read_bytes()
    kinds = {pod.ref.kind for pod, decision in edited(chart).edits.decisions if decision.outcome == "Change"}
    assert {"Prometheus", "Alertmanager"} <= kinds
