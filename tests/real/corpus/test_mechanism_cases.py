"""Streams in which something beside archfit replaces an image or places a pod: triggers, ImageStreams, Namespaces,
placeholders, disks. The shared folder `cases/operators` says of each what should happen.
"""

import shlex

import pytest
import yaml
from registry import Registry

import machine
from program import Ran, archfit

UNASKED = "its platforms cannot be looked up: OpenShift replaces"


def ran(name: str, stream: bytes | None = None, *more: str) -> tuple[bytes, Ran]:
    """The stream of a case, or another one with its options, and its run."""
    folder = machine.shared("cases", "operators") / name
    given = (folder / "input.yaml").read_bytes() if stream is None else stream
    words = shlex.split((folder / "args").read_text(encoding="utf-8"))
    return given, archfit(given, "--no-cache", "--offline", "-v", *words, *more)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("08-openshift-image-triggers", UNASKED),
        ("09-openshift-imagestream-local-lookup", UNASKED),
        ("10-openshift-blank-image", UNASKED),
        ("21-pod-toleration-restriction", "arm64:NoSchedule is not written"),
        ("27-affinity-placeholder-argo", "is filled in later ({{inputs.parameters.arch}})"),
        ("28-affinity-placeholder-kro", "is filled in later (${schema.spec.arch})"),
    ],
)
def test_what_others_decide_is_left_alone_and_said(name, said):
    before, after = ran(name)
    assert after.ok() == before
    assert said in after.stderr


def test_a_node_selector_of_openshift_is_named_and_the_affinity_stays():
    _, first = ran("11-openshift-namespace-node-selector")
    *_, deployment = yaml.safe_load_all(first.ok())
    assert "nodeAffinity" in deployment["spec"]["template"]["spec"]["affinity"]
    assert "Namespace p selects nodes of arm64 (annotation openshift.io/node-selector)" in first.stderr
    assert ran("11-openshift-namespace-node-selector", first.stdout)[1].ok() == first.stdout


def test_a_disk_of_a_single_manifest_is_no_conflict():
    path = machine.shared("cases", "operators") / "31-kubevirt-containerdisk-single-manifest" / "input.yaml"
    with Registry({"quay.io/t/disk:1": ["linux/amd64"]}) as served:
        after = archfit(path.read_bytes(), "--no-cache", "--custom-resources=all", *served.mirrors())
        # Each node that the machine can reach needs the toleration, so that a row that was read writes it, too.
        assert archfit(path.read_bytes(), "--no-cache", *served.mirrors()).ok() == after.ok()
    assert b"value: arm64" in after.ok().replace(b"{", b" ").replace(b"}", b" ")
    assert b"affinity" not in after.stdout


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("00-ocm-policy-pattern", "left"),
        ("01-k6-separate", "refused"),
        ("02-argo-templateref-tolerations", "left"),
        ("03-argo-templateref-affinity", "edited"),
        ("04-argo-workflow-defaults", "left"),
        ("05-tekton-default-pod-template", "left"),
        ("06-zalando-operator-toleration", "left"),
        ("07-mariadb-antiaffinity-enabled", "edited"),
        ("12-flink-sidecar-hides-main-image", "edited"),
        ("13-envoyproxy-patch-affinity", "edited"),
        ("14-nginxproxy-patch-affinity", "edited"),
        ("15-kserve-isvc-drops-runtime-terms", "edited"),
        ("16-kserve-runtime-narrowing-lost", "edited"),
        ("17-advancedcronjob-immutable", "left"),
        ("18-katib-experiment-immutable", "left"),
        ("19-appwrapper-immutable", "left"),
        ("20-gameserverset-immutable", "left"),
        ("22-redpanda-clusterspec-affinity", "edited"),
        ("23-redpanda-global-podtemplate", "edited"),
        # As written, no job of the runtime has the label of the one that trains: Kubeflow Trainer replaces nothing.
        ("24-trainjob-image-replaces", "edited"),
        ("25-tekton-steptemplate-unused", "left"),
        ("26-uniteddeployment-subset-arch", "refused"),
        ("29-keycloak-import-update-scheduling", "edited"),
        ("30-argo-podspecpatch-arch", "refused"),
        ("32-silent-kinds", "left"),
        ("33-sensor-parameter-replaces-image", "left"),
        ("34-crossplane-object-patchesfrom", "left"),
        ("35-rook-only-apply-osd-placement", "edited"),
        ("36-rook-mds-rgw", "edited"),
    ],
)
@pytest.mark.parametrize("option", ["--custom-resources=all", "--custom-resources=read"])
def test_what_operators_do_decides_what_is_written(name, outcome, option):
    """Custom resources, with every row and by default: `refused` is a conflict, `left` is the stream as it was."""
    before, after = ran(name, None, option)
    assert after.status == (outcome == "refused")
    assert (after.stdout != before) is (outcome != "left")
    assert bool(after.stdout) is (outcome != "refused")
    if outcome == "edited":
        assert ran(name, after.stdout, option)[1].ok() == after.stdout


def test_an_image_that_a_train_job_replaces_restricts_nothing():
    """The runtime of case 24 with the label by which Kubeflow Trainer finds the job that trains."""
    name = "24-trainjob-image-replaces"
    text = (machine.shared("cases", "operators") / name / "input.yaml").read_bytes()
    labelled = text.replace(
        b"template: {spec: {template:",
        b"template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template:",
    )
    assert labelled != text
    _, after = ran(name, labelled, "--custom-resources=all")
    assert after.ok() == labelled
    assert "spec.trainer.image of a TrainJob replaces the image" in after.stderr
