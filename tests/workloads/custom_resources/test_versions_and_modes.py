"""Versions and modes of a kind in which its rows do not hold: the object is left, named, and not known to the gate."""

from __future__ import annotations

import pytest

from program import archfit

_OFFLINE = ("--offline", "--no-cache", "--image-platforms=*=linux/amd64")
_RUNTIME = """apiVersion: serving.kserve.io/v1alpha1
kind: KIND
metadata: {name: mlserver}
spec:
  multiModel: MODE
  containers: [{name: mlserver, image: 'seldonio/mlserver:1.3.2'}]
"""
_SERVICE = """apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: m, annotations: {serving.kserve.io/deploymentMode: MODE}}
spec:
  predictor: {containers: [{name: kserve-container, image: 'amd:1'}]}
  transformer: {containers: [{name: kserve-container, image: 'amd:1'}]}
"""
_COCKROACH = """apiVersion: crdb.cockroachlabs.com/VERSION
kind: CrdbCluster
metadata: {name: db}
spec: {image: {name: 'cockroachdb/cockroach:v25.2.2'}, nodes: 3}
"""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param(
            _RUNTIME.replace("KIND", kind).replace("MODE", "true"),
            "into spec.nodeSelector",
            id=f"{kind}-mesh",
        )
        for kind in ("ServingRuntime", "ClusterServingRuntime")
    ]
    + [
        pytest.param(_SERVICE.replace("MODE", "ModelMesh"), "it has no pods of its own", id="service-mesh"),
        pytest.param(
            _COCKROACH.replace("VERSION", "v1alpha1"), "into spec.nodeSelector", id="cockroach-v1alpha1"
        ),
        pytest.param(
            _COCKROACH.replace("VERSION", "v1beta1"),
            "spec.template.spec.podTemplate.spec",
            id="cockroach-v1beta1",
        ),
    ],
)
def test_an_object_whose_rows_do_not_hold_is_left_named_and_not_known(text: str, named: str) -> None:
    ran = archfit(text.encode(), *_OFFLINE)
    assert ran.ok() == text.encode()
    assert named in ran.stderr
    gate = archfit(text.encode(), "check", "--require=amd64", *_OFFLINE)
    assert (gate.status, b"not known" in gate.stdout) == (3, True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_RUNTIME.replace("KIND", "ServingRuntime").replace("MODE", "false"), id="single-model"),
        pytest.param(_SERVICE.replace("MODE", "RawDeployment"), id="deployments"),
    ],
)
def test_in_another_mode_it_is_placed(text: str) -> None:
    assert b"kubernetes.io/arch" in archfit(text.encode(), *_OFFLINE).ok()
