"""RuntimeClasses of the stream: admission merges their selector and their tolerations into the pods that name them."""

import json

import pytest
import yaml
from tests.real.corpus.placement_cases import case, described

CLASS = b"""\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: arm}
handler: runc
"""
PINNED = b"scheduling: {nodeSelector: {kubernetes.io/arch: arm64}}\n"
TOLERANT = b"scheduling: {tolerations: [{key: kubernetes.io/arch, operator: Exists}]}\n"
POD = b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: rc, namespace: shop}
spec: {template: {spec: {runtimeClassName: arm, containers: [{name: a, image: r/both}]}}}
"""
PLACED = "Deployment spec.template.spec: amd64 arm64"


@pytest.mark.parametrize(
    ("stream", "image", "placed"),
    [
        pytest.param(CLASS + PINNED + b"---\n" + POD, b"r/arm", f"{PLACED} tolerates arm64", id="it-pins-no-affinity"),
        pytest.param(POD + b"---\n" + CLASS + PINNED, b"r/arm", f"{PLACED} tolerates arm64", id="it-comes-later"),
        pytest.param(CLASS + b"---\n" + POD, b"r/amd", "Deployment spec.template.spec: amd64", id="it-says-nothing"),
        pytest.param(CLASS + TOLERANT + b"---\n" + POD, b"r/both", PLACED, id="it-tolerates-already"),
        pytest.param(
            CLASS.replace(b"name: arm", b"name: x") + PINNED + b"---\n" + POD, b"r/amd",
            "Deployment spec.template.spec: amd64", id="another-class",
        ),
        pytest.param(
            CLASS + b"scheduling: [broken\n---\n" + POD, b"r/amd", "Deployment spec.template.spec: amd64", id="no-yaml"
        ),
        pytest.param(
            CLASS + PINNED.replace(b"arch: arm64", b"os: windows") + b"---\n" + POD, b"r/win", PLACED, id="windows"
        ),
    ],
)  # fmt: skip
def test_runtime_classes(stream, image, placed):
    given = stream.replace(b"r/both", image)
    after = case("runtimeclass-pin").ran(stream=given).ok()
    pods = after if b"broken" not in after else after[after.index(b"---\n") :]
    assert list(described(pods)) == [placed]


@pytest.mark.parametrize("form", ["List", "RuntimeClassList", "json"])
def test_runtime_classes_in_lists(form):
    items = [yaml.safe_load(CLASS + PINNED), yaml.safe_load(POD.replace(b"r/both", b"r/amd"))]
    pod = {"apiVersion": "v1", "kind": "List", "items": items[1:]}
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    if form == "RuntimeClassList":
        bare = {key: value for key, value in items[0].items() if key not in ("kind", "apiVersion")}
        stream = yaml.safe_dump_all([{"apiVersion": "node.k8s.io/v1", "kind": form, "items": [bare]}, pod])
    else:
        stream = json.dumps(listed) if form == "json" else yaml.safe_dump(listed)
    ran = case("runtimeclass-pin").ran(stream=stream.encode())
    assert ran.status == 1
    assert "pinned to arm64 by the nodeSelector of RuntimeClass arm" in ran.stderr
