"""What a pod takes from another object of the stream that it is merged over (`Lender`): KServe, Kubeflow Trainer.

KServe merges the pod spec of a predictor over that of its runtime with a strategic merge, where lists of terms and
tolerations replace each other (pkg/controller/v1beta1/inferenceservice/utils, MergePodSpec).
"""

import pytest

from stream_edits import Failed, edited

_RUNTIME = """apiVersion: serving.kserve.io/v1alpha1
kind: KIND
metadata:
  name: onnx
spec:
  SAID
  containers:
  - name: kserve-container
    image: IMAGE
"""
_SERVICE = """---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: flowers
spec:
  predictor:
    OWN
    model:
      runtime: onnx
      modelFormat: {name: onnx}
      IMAGE
"""
_GPU = "{nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]}"
_TERMS = f"affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {_GPU}}}}}"


def _stream(kind: str, said: str, runtime: str, own: str, image: str) -> tuple[str, str]:
    """The runtime and the service."""
    return (
        _RUNTIME.replace("KIND", kind).replace("SAID", said or "labels: {}").replace("IMAGE", runtime),
        _SERVICE.replace("OWN", own or "labels: {}").replace("IMAGE", image or "env: []"),
    )


@pytest.mark.parametrize("kind", ["ServingRuntime", "ClusterServingRuntime"])
def test_the_terms_of_a_runtime_are_written_along(kind):
    runtime, service = _stream(kind, _TERMS, "both:1", "", "image: amd:1")
    text = edited((runtime + service).encode()).data.decode()
    assert text.startswith(runtime)
    written = text.removeprefix(runtime)
    assert written.index("key: gpu") < written.index("key: kubernetes.io/arch")
    assert written.count("matchExpressions") == 1


def test_what_a_service_prefers_does_not_end_the_terms_of_its_runtime():
    own = "affinity: {podAntiAffinity: {}}"
    runtime, service = _stream("ServingRuntime", _TERMS, "both:1", own, "image: amd:1")
    text = edited((runtime + service).encode()).data.decode().removeprefix(runtime)
    assert text.index("podAntiAffinity") < text.index("key: gpu") < text.index("key: kubernetes.io/arch")


def test_terms_of_a_service_are_narrowed_by_the_image_of_its_runtime():
    runtime, service = _stream("ServingRuntime", "", "amd:1", _TERMS, "")
    text = edited((runtime + service).encode()).data.decode()
    assert text.startswith(runtime)
    assert "{key: kubernetes.io/arch, operator: In, values: [amd64]}" in text


def test_a_node_selector_of_a_runtime_counts():
    """The pod reaches arm64 alone, so that it needs the toleration of its taint and no terms."""
    runtime, service = _stream("ServingRuntime", "nodeSelector: {kubernetes.io/arch: arm64}", "arm:1", "", "")
    service = service.replace("name: onnx}", "name: huggingface}")  # without a container of KServe
    written = edited((runtime + service).encode()).data.decode().removeprefix(runtime)
    assert "affinity" not in written
    assert "tolerations" in written


def test_another_tag_of_a_runtimes_image_is_not_known():
    runtime, service = _stream("ServingRuntime", "", "amd:1", "", "runtimeVersion: '2'")
    output = edited((runtime + service).encode())
    assert output.data.decode() == runtime + service
    assert "the containers of its serving runtime" in "".join(map(str, output.edits.messages))


def test_a_runtime_that_is_not_in_the_stream_is_warned_of():
    _, service = _stream("ServingRuntime", "", "", "", "image: amd:1")
    warnings = [str(one) for one in edited(service.encode()).edits.messages if one.severity == "warning"]
    assert any("terms of a predictor replace those of its serving runtime" in one for one in warnings)


def test_a_predictor_of_its_own_has_no_runtime():
    text = (
        b"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec:\n"
        b"  predictor:\n    containers:\n    - name: kserve-container\n      image: amd:1\n"
    )
    output = edited(text)
    assert b"nodeAffinity" in output.data
    assert not any("serving runtime" in str(one) for one in output.edits.messages)


_TRAINING = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: torch
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: STEP}}
          spec: {template: {spec: {containers: [{name: node, image: 'amd:1'}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: train
spec:
  runtimeRef: {name: torch, kind: TrainingRuntime}
  TRAINER
"""


@pytest.mark.parametrize(
    ("trainer", "lacking"),
    [
        ("trainer: {image: 'arm:1'}", "amd64 is not offered by arm:1"),
        ("suspend: false", "arm64 is not offered by amd:1"),
        ("trainer: {image: 'both:1'}", ""),
    ],
)
def test_the_image_of_a_train_job_takes_the_place_of_its_runtimes(trainer, lacking):
    text = _TRAINING.replace("TRAINER", trainer).replace("STEP", "trainer").encode()
    output = edited(text)
    assert output.data == text
    warnings = [str(one) for one in output.edits.messages if one.severity == "warning"]
    assert len(warnings) == bool(lacking)
    assert all("spec.runtimePatches" in one and lacking in one for one in warnings)


@pytest.mark.parametrize("step", ["node", "dataset-initializer"])
def test_a_job_that_does_not_train_is_placed_in_the_runtime_and_not_judged_again(step):
    text = _TRAINING.replace("TRAINER", "suspend: false").replace("STEP", step).encode()
    output = edited(text)
    runtime, _, job = output.data.partition(b"---\n")
    assert b"nodeAffinity" in runtime
    assert job == text.partition(b"---\n")[2]
    assert not any("spec.runtimePatches" in str(one) for one in output.edits.messages)


# Where a TrainJob changes the pods of a job of its runtime, by release of Trainer; the apiVersion is the same.
_CHANGES = {
    "2.0": "podSpecOverrides: [{targetJobs: [{name: JOB}], POD}]",
    "2.1": "podTemplateOverrides: [{targetJobs: [{name: JOB}], spec: {POD}}]",
    "2.2": (
        "runtimePatches: [{manager: x.test/y, trainingRuntimeSpec: {template: {spec: {replicatedJobs: "
        "[{name: JOB, template: {spec: {template: {spec: {POD}}}}}]}}}}]"
    ),
}


def _changed(release: str, pod: str, job: str = "node") -> str:
    return _CHANGES[release].replace("JOB", job).replace("POD", pod)


_TOLERATION = "{key: gpu, operator: Exists}"


@pytest.mark.parametrize(
    ("override", "image", "written"),
    [
        pytest.param(_TERMS, "amd:1", "kubernetes.io/arch", id="terms"),
        pytest.param(f"tolerations: [{_TOLERATION}]", "amd:1", "kubernetes.io/arch", id="tolerations"),
        pytest.param(_TERMS, "both:1", "", id="terms-of-an-image-for-all"),
        pytest.param("affinity: {podAffinity: {}}", "amd:1", "", id="merged-affinity"),
        pytest.param("nodeSelector: {pool: gpu}", "amd:1", "", id="merged-selector"),
    ],
)
@pytest.mark.parametrize("step", ["other", "trainer"])
@pytest.mark.parametrize("release", ["2.1", "2.2"])
def test_lists_of_an_override_take_the_place_of_the_runtimes(release, override, image, written, step):
    """So what the runtime's images need stands there, too. The stated image is that of the job that trains."""
    job = _changed(release, override)
    text = _TRAINING.replace("STEP", step).replace("TRAINER", job).replace("amd:1", image)
    output = edited(text.encode())
    before, after = (one.partition(b"---\n")[2] for one in (text.encode(), output.data))
    assert (b"kubernetes.io/arch" in after) is bool(written)
    assert (after == before) is not bool(written)


@pytest.mark.parametrize(
    ("step", "targeted", "written"),
    [
        pytest.param("trainer", "node", "arm64", id="stated"),
        pytest.param("other", "node", "amd64", id="not-stated"),
        pytest.param("other", "report", "", id="another-job"),
    ],
)
@pytest.mark.parametrize("release", ["2.1", "2.2"])
def test_an_override_is_placed_by_the_images_of_the_jobs_that_it_names(release, step, targeted, written):
    job = f"trainer: {{image: 'arm:1'}}\n  {_changed(release, _TERMS, targeted)}"
    output = edited(_TRAINING.replace("STEP", step).replace("TRAINER", job).encode())
    after = output.data.partition(b"---\n")[2].decode()
    assert (written in after.partition("image: 'arm:1'")[2]) if written else "kubernetes.io/arch" not in after


def test_tolerations_without_a_place_for_terms_beside_them_are_left_and_named():
    """In Trainer 2.0, podSpecOverrides replace the tolerations of the runtime, and its terms hold."""
    job = _changed("2.0", f"tolerations: [{_TOLERATION}]")
    text = _TRAINING.replace("STEP", "other").replace("TRAINER", job).replace("amd:1", "arm:1").encode()
    output = edited(text)
    before, after = (one.partition(b"---\n")[2] for one in (text, output.data))
    assert after == before
    assert any("take the place of the tolerations" in str(one) for one in output.edits.messages)


@pytest.mark.parametrize("release", ["2.1", "2.2"])
def test_an_override_that_pins_a_job_to_nodes_that_cannot_run_it_is_a_conflict(release):
    job = _changed(release, "nodeSelector: {kubernetes.io/arch: arm64}")
    text = _TRAINING.replace("TRAINER", job).replace("STEP", "trainer")
    with pytest.raises(Failed, match="pinned to arm64 by its nodeSelector, but amd:1 offers only amd64"):
        edited(text.encode())
    able = text.replace("amd:1", "both:1").encode()
    assert edited(able).data.endswith(able.partition(b"---\n")[2])


def test_an_old_override_that_pins_a_job_is_named():
    job = _changed("2.0", "nodeSelector: {kubernetes.io/arch: arm64}")
    text = _TRAINING.replace("TRAINER", job).replace("STEP", "trainer").encode()
    named = [str(one) for one in edited(text).edits.messages if "not transformed" in str(one)]
    assert len(named) == 1
    assert "merged into that of the training runtime" in named[0]


@pytest.mark.parametrize("release", sorted(_CHANGES))
def test_an_image_volume_of_an_override_counts(release):
    job = _changed(release, "volumes: [{name: data, image: {reference: 'amd:2'}}]")
    text = _TRAINING.replace("TRAINER", job).replace("STEP", "trainer").replace("amd:1", "both:1").encode()
    results = edited(text).edits.messages
    assert any("spec.runtimePatches" in str(one) and "amd:2" in str(one) for one in results)


@pytest.mark.parametrize("release", ["2.1", "2.2"])
def test_an_override_of_a_runtime_elsewhere_is_left_alone_and_named(release):
    job = _changed(release, _TERMS)
    text = _TRAINING.replace("TRAINER", job).partition("---\n")[2].encode()
    output = edited(text)
    assert output.data == text
    assert any("its training runtime names it" in str(one) for one in output.edits.messages)


def test_the_advice_for_a_submitter_names_the_path_of_its_kind():
    pods = "headGroupSpec: {template: {spec: {containers: [{name: ray-head, image: 'amd:1'}]}}}"
    text = (
        "apiVersion: ray.io/v1\nkind: RayCronJob\nmetadata: {name: a}\n"
        f"spec: {{jobTemplate: {{rayClusterSpec: {{{pods}}}}}}}\n"
    )
    said = "".join(str(one) for one in edited(text.encode()).edits.messages)
    assert "write spec.jobTemplate.submitterPodTemplate, with its container" in said


def test_no_other_runtime_takes_the_place_of_those_that_differ():
    """A namespace's own runtime comes before the cluster's, also where nobody knows which of two it is."""
    (one, service), (two, _) = (_stream("ServingRuntime", "", image, "", "") for image in ("amd:1", "arm:1"))
    cluster, _ = _stream("ClusterServingRuntime", "", "amd:1", "", "")
    lent = edited("---\n".join((one, two, cluster + service)).encode())
    assert lent.data.decode().endswith(cluster + service)
    assert any("ServingRuntime.serving.kserve.io onnx" in message.text for message in lent.edits.messages)
