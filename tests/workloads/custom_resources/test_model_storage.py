"""What KServe adds to a pod to get its model, to log and to batch (`operators/kserve.py`).

Source: kserve v0.16.0, pkg/webhook/admission/pod and pkg/controller/v1beta1/inferenceservice/components.
"""

import pytest

from stream_edits import edited

# An arm64-only image: the pod needs a toleration, unless another image of it is not known.
_RUNTIME = """apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: server}
spec:
  nodeSelector: {kubernetes.io/arch: arm64}
  containers: [{name: kserve-container, image: 'arm:1'}]
  workerSpec:
    nodeSelector: {kubernetes.io/arch: arm64}
    containers: [{name: worker-container, image: 'arm:1'}]
---
"""
_SERVICE = """apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: flowers}
spec:
"""
_OWN = "nodeSelector: {kubernetes.io/arch: arm64}, containers: [{name: kserve-container, image: 'arm:1'%s}]%s"
_URI = ", env: [{name: STORAGE_URI, value: 's3://bucket/model'}]"
_URIS = ", storageUris: [{uri: 's3://bucket/model'}]"
_INITIALIZER, _AGENT = "storage initializer", "its agent"


def _own(component: str, env: str = "", more: str = "") -> str:
    other = "" if component == "predictor" else "  predictor: {containers: [{name: a, image: 'both:1'}]}\n"
    return f"{_SERVICE}{other}  {component}: {{{_OWN % (env, more)}}}\n"


def _model(model: str, more: str = "") -> str:
    return f"{_RUNTIME}{_SERVICE}  predictor: {{model: {{runtime: server, {model}}}{more}}}\n"


_ONNX, _FACE = "modelFormat: {name: onnx}", "modelFormat: {name: huggingface}"
_FETCHED = "storageUri: 's3://bucket/model'"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(_own("predictor", _URI), _INITIALIZER, id="predictor-env"),
        pytest.param(_own("predictor", "", _URIS), _INITIALIZER, id="predictor-uris"),
        pytest.param(_own("predictor", "", ", logger: {mode: all}"), _AGENT, id="predictor-logger"),
        pytest.param(_own("predictor", "", ", batcher: {maxLatency: 9}"), _AGENT, id="predictor-batcher"),
        pytest.param(_own("transformer", _URI), _INITIALIZER, id="transformer-env"),
        pytest.param(_own("transformer", "", _URIS), _INITIALIZER, id="transformer-uris"),
        pytest.param(_own("transformer", "", ", logger: {mode: all}"), _AGENT, id="transformer-logger"),
        pytest.param(_own("transformer", "", ", batcher: {maxLatency: 9}"), _AGENT, id="transformer-batcher"),
        pytest.param(_own("explainer", _URI), _INITIALIZER, id="explainer-env"),
        pytest.param(_own("explainer", "", _URIS), _INITIALIZER, id="explainer-uris"),
        pytest.param(_own("explainer", "", ", logger: {mode: all}"), _AGENT, id="explainer-logger"),
        pytest.param(_model(f"{_ONNX}, {_FETCHED}"), _INITIALIZER, id="model"),
        pytest.param(_model(f"{_ONNX}, storage: {{path: model}}"), _INITIALIZER, id="model-storage"),
        pytest.param(_model(f"{_FACE}, {_FETCHED}"), _INITIALIZER, id="model-of-hugging-face"),
        pytest.param(_model(_ONNX), _AGENT, id="model-that-the-agent-gets"),
    ],
)
def test_a_container_that_kserve_adds_leaves_the_toleration_out(text, says):
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any(says in str(one) for one in output.edits.messages)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_own("predictor"), id="predictor"),
        pytest.param(_own("transformer"), id="transformer"),
        pytest.param(_own("explainer"), id="explainer"),
        # KServe takes the batcher of an explainer and does nothing with it.
        pytest.param(_own("explainer", "", ", batcher: {maxLatency: 9}"), id="explainer-batcher"),
        pytest.param(_own("predictor", _URI.replace("s3:", "pvc:")), id="volume-env"),
        pytest.param(_own("predictor", "", _URIS.replace("s3:", "pvc:")), id="volume-uris"),
        pytest.param(
            _own("predictor", "", _URIS.replace("s3://bucket/model", "oci://arm:1")), id="image-uris"
        ),
        pytest.param(_model(f"{_ONNX}, storageUri: 'pvc://claim/model'"), id="model-of-a-volume"),
        pytest.param(_model(f"{_ONNX}, storageUri: 'oci://arm:1'"), id="model-image"),
        pytest.param(
            _model(f"{_ONNX}", ", storageUris: [{uri: 'pvc://claim/model'}]"), id="model-of-volumes"
        ),
        pytest.param(_model(_FACE), id="hugging-face-gets-it-itself"),
    ],
)
def test_a_pod_of_known_images_gets_its_toleration(text):
    assert b"tolerations" in edited(text.encode()).data


@pytest.mark.parametrize(
    ("more", "tolerates"),
    [
        pytest.param(f"{_FETCHED}}}, workerSpec: {{", False, id="initializer"),
        pytest.param("storageUri: 'pvc://claim/model'}, workerSpec: {", True, id="volume"),
        pytest.param(
            "storageUri: 'pvc://claim/model'}, logger: {mode: all}, workerSpec: {", False, id="agent"
        ),
    ],
)
def test_workers_have_the_same_containers(more, tolerates):
    text = f"{_RUNTIME}{_SERVICE}  predictor: {{model: {{runtime: server, {_ONNX}, {more}}}}}\n"
    written = edited(text.encode()).data.decode().rpartition("workerSpec")[2]
    assert ("tolerations" in written) is tolerates


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_own("predictor", _URI), id="env"),
        pytest.param(_own("transformer", "", _URIS), id="uris"),
        pytest.param(_model(f"{_FACE}, {_FETCHED}"), id="model"),
    ],
)
def test_the_image_of_a_model_narrows(text):
    """KServe runs it beside the server (modelcar)."""
    plain = text.replace("nodeSelector: {kubernetes.io/arch: arm64}", "labels: {}").replace("arm:1", "both:1")
    output = edited(plain.replace("s3://bucket/model", "oci://amd:1").encode())
    assert b"[amd64]" in output.data or b"- amd64" in output.data
    assert edited(plain.encode()).data == plain.encode()


def test_a_stated_image_counts_whatever_kserve_adds():
    text = _own("predictor", "", _URIS).replace(
        "{name: flowers}", "{name: flowers, annotations: {archfit.dev/image-platforms: 'linux/arm64'}}"
    )
    assert b"tolerations" in edited(text.encode()).data
