"""Versions and modes of a kind in which its rows do not hold: the object is left, named, and not known to the gate."""

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


_BRIDGE = """apiVersion: kafka.strimzi.io/VERSION
kind: KafkaBridge
metadata: {name: b}
spec:
  bootstrapServers: kafka:9092
  image: 'amd:1'
"""
_MONGO = """apiVersion: psmdb.percona.com/VERSION
kind: PerconaServerMongoDB
metadata: {name: m}
spec:
  image: 'amd:1'
  replsets: [{name: rs0, size: 3}]
"""
_ROW = """apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec:
  workloads:
  - {group: example.com, kind: Widget, podSpec: spec, apiVersions: [v1beta*, v1]}
"""
_WIDGET = """apiVersion: example.com/VERSION
kind: Widget
metadata: {name: w}
spec: {containers: [{name: a, image: 'amd:1'}]}
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
        pytest.param(
            _COCKROACH.replace("VERSION", "v1"),
            "archfit has read CrdbCluster in v1alpha1, v1beta1 only",
            id="cockroach-of-another-version",
        ),
        pytest.param(
            _BRIDGE.replace("VERSION", "v2").replace("  image: 'amd:1'\n", "  images: {bridge: 'amd:1'}\n"),
            "archfit has read KafkaBridge in v1, v1beta2 only",
            id="another-version-with-its-image-elsewhere",
        ),
    ],
)
def test_an_object_whose_rows_do_not_hold_is_left_named_and_not_known(text, named):
    ran = archfit(text.encode(), *_OFFLINE)
    assert ran.ok() == text.encode()
    assert named in ran.stderr
    gate = archfit(text.encode(), "check", "--require=amd64", *_OFFLINE)
    assert (gate.status, b"not known" in gate.stdout) == (3, True)


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        pytest.param("{selfSigned: {}}", False, id="without-a-pod"),
        pytest.param(
            "{acme: {solvers: [{http01: {ingress: {podTemplate: {spec: {}}}}}]}}", True, id="with-a-pod"
        ),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_a_kind_that_has_pods_only_here_and_there_is_named_for_these(version, spec, named):
    text = f"apiVersion: cert-manager.io/{version}\nkind: Issuer\nmetadata: {{name: a}}\nspec: {spec}\n"
    ran = archfit(text.encode(), *_OFFLINE)
    assert ran.ok() == text.encode()
    assert ("not transformed" in ran.stderr) is named


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_RUNTIME.replace("KIND", "ServingRuntime").replace("MODE", "false"), id="single-model"),
        pytest.param(_SERVICE.replace("MODE", "RawDeployment"), id="deployments"),
    ],
)
def test_in_another_mode_it_is_placed(text):
    assert b"kubernetes.io/arch" in archfit(text.encode(), *_OFFLINE).ok()


@pytest.mark.parametrize(
    ("text", "known", "others"),
    [
        pytest.param(_BRIDGE, ["v1", "v1beta2"], ["v2", "v1beta1"], id="a-row"),
        pytest.param(_MONGO, ["v1", "v1-12-0"], ["v2", "v10"], id="a-row-with-a-glob"),
        pytest.param(_WIDGET, ["v1", "v1beta1", "v1beta2"], ["v2", "v1alpha1"], id="a-row-of-the-user"),
    ],
)
def test_a_version_that_no_row_was_read_for_is_placed_as_read_and_said(tmp_path, text, known, others):
    path = tmp_path / "archfit.yaml"
    path.write_text(_ROW, encoding="utf-8")
    for version in known + others:
        ran = archfit(text.replace("VERSION", version).encode(), f"--config={path}", *_OFFLINE)
        assert b"kubernetes.io/arch" in ran.ok()
        assert (" only: check the pods" in ran.stderr) is (version in others), version
