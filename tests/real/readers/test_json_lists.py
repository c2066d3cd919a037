"""Lists in JSON: kubectl and kustomize read what is written as the patch applied to what they read before."""

from typing import Any

import pytest

from fuzz.json_layouts import LAYOUTS
from stream_edits import placed

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ARCH = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]}
PLACEMENTS: list[dict[str, Any]] = [
    {},
    {"tolerations": []},
    {"tolerations": None, "affinity": None},
    {"affinity": {}},
    {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [ARCH]}]}}}},
    {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}, {"matchExpressions": [ARCH]}]}}}},
    {"tolerations": [{"key": "a"}], "nodeSelector": {"a": "b/é<"}},
]
# Kustomize refuses surrogate escapes, so that nothing is beyond U+FFFF.
TEXTS = ["", "a: b # c", 'é"\\/<&>', "é", "\n\t", " : ", '" :', "{}[],", "true", "1e3"]


def workload(number: int, image: str, placement: dict[str, Any], text: str) -> dict[str, Any]:
    containers = [
        {"name": "a", "image": image, "args": [text], "stdin": True, "ports": [{"containerPort": 80}]}
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"web-{number}", "annotations": {"a": text}},
        "spec": {"replicas": number, "template": {"spec": {"containers": containers, **placement}}},
        "status": {"a": [None, True, 1.5, -3, text]},
    }


def listed(images: list[str], texts: list[str]) -> dict[str, Any]:
    items = [
        workload(number, image, PLACEMENTS[number % len(PLACEMENTS)], text)
        for number, (image, text) in enumerate(zip(images, texts, strict=True))
    ]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": '{"image" : "a"}'}}
    return {
        "apiVersion": "v1",
        "items": [config, *items],
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


@pytest.mark.parametrize("image", ["amd:1", "both:1", "arm:1"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_objects_are_edited_in_the_layouts_of_tools(layout, image, judge):
    text = LAYOUTS[layout](listed([image] * len(TEXTS), TEXTS)).encode()
    assert placed(judge, text) != text
