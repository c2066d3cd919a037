"""Images that OpenShift replaces: what stands in the stream decides nothing, and the other images still narrow."""

import json

import pytest

from archfit.base.results import Message
from archfit.options.architectures import image_platforms
from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.workloads.operators.openshift import RESOLVE_NAMES, TRIGGERS
from archfit.yaml import stream
from stream_edits import Failed, edited, placed

pytestmark = pytest.mark.usefixtures("twins_for_read")

WEB = 'spec.template.spec.containers[?(@.name=="web")].image'
IN_CRON_JOB = WEB.replace("spec.template", "spec.jobTemplate.spec.template", 1)
ADDED = ", tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]"
NARROWED = (
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}"
)
STATED = Options(
    image_platforms=tuple(map(image_platforms, ("*/both=linux/amd64,linux/arm64", "*/amd=linux/amd64")))
)


def trigger(path: str = WEB, name: object = "web:latest", **more: object) -> dict[str, object]:
    return {"from": {"kind": "ImageStreamTag", "name": name}, "fieldPath": path, **more}


def workload(
    triggers: object,
    *,
    kind: str = "apps/v1 Deployment",
    containers: str = "{name: web, image: 'both:1'}",
    more: str = "",
) -> str:
    """A manifest. triggers: of the annotation, as they are or as text. more: members of the pod spec."""
    version, _, name = kind.partition(" ")
    text = triggers if isinstance(triggers, str) else json.dumps(triggers)
    template = f"{{template: {{spec: {{containers: [{containers}]{more}}}}}}}"
    spec = f"{{jobTemplate: {{spec: {template}}}}}" if name == "CronJob" else template
    head = f"apiVersion: {version}\nkind: {name}\nmetadata:\n  name: web\n"
    return f"{head}  annotations: {{{TRIGGERS}: {json.dumps(text)}}}\nspec: {spec}\n"


def said(text: str, options: Options = STATED) -> list[str]:
    """What is said of a stream that does not change."""
    output = edited(text.encode(), options)
    assert output.data == text.encode()
    return [f"{one.severity}: {one.text}" for one in output.edits.messages if "stated by" not in one.text]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *[(f"apps/v1 {kind}", WEB) for kind in ("Deployment", "StatefulSet", "DaemonSet")],
        ("apps/v1beta1 Deployment", WEB),
        ("extensions/v1beta1 Deployment", WEB),
        ("batch/v1 CronJob", IN_CRON_JOB),
    ],
    ids=lambda value: value if " " in value else "",
)
@pytest.mark.parametrize("image", ["both:1", "amd:1", " ", "registry.example/team/Web"], ids=repr)
def test_a_container_that_a_trigger_names_is_unasked(kind, path, image):
    text = workload([trigger(path)], kind=kind, containers=f"{{name: web, image: {image!r}}}")
    (message,) = said(text)
    assert message.startswith(f"info: {image}: its platforms cannot be looked up: OpenShift replaces it with")
    assert "the ImageStreamTag web:latest (image trigger)" in message
    pieces = stream.read_stream(text.encode(), "pass").pieces
    assert scan(text.encode(), pieces, STATED).texts == ()


@pytest.mark.parametrize("kind", ["apps/v1 ReplicaSet", "batch/v1 Job", "argoproj.io/v1alpha1 Rollout"])
def test_openshift_reads_no_triggers_of_other_kinds(judge, kind):
    text = workload([trigger()], kind=kind)
    expected = text.replace("'both:1'}]", f"'both:1'}}]{ADDED}")
    assert placed(judge, text.encode(), Options(immutable="full")).decode() == expected


@pytest.mark.parametrize(
    ("path", "unasked"),
    [
        (WEB, 0),
        ("spec.template.spec.containers[0].image", 0),
        ("spec.template.spec.containers[+1].image", 1),
        ("spec.template.spec.containers[1]image", 1),
        ("spec.template.spec.initContainers[0].image", 2),
        ('spec.template.spec.initContainers[?(@.name=="web")].image', 0),
        ('spec.template.spec.containers[?(@.name=="init")].image', 2),
    ],
)
def test_a_field_path_is_read_as_library_go_reads_it(path, unasked):
    containers = "{name: web, image: 'all:1'}, {name: log, image: 'all:1'}"
    text = workload(
        [trigger(path)], containers=containers, more=", initContainers: [{name: init, image: 'all:1'}]"
    )
    (document,) = scan(text.encode(), stream.read_stream(text.encode(), "pass").pieces, Options()).documents
    assert [bool(use.unasked) for use in document.pods[0].images] == [
        number == unasked for number in range(3)
    ]


def test_the_other_images_still_narrow(judge):
    text = workload([trigger()], containers="{name: web, image: 'both:1'}, {name: log, image: 'amd:1'}")
    expected = text.replace("'amd:1'}]", f"'amd:1'}}]{NARROWED}")
    assert placed(judge, text.encode()).decode() == expected


@pytest.mark.parametrize(
    ("triggers", "warning"),
    [
        ("[{", "OpenShift ignores this annotation: it is not JSON"),
        ("{}", "OpenShift ignores this annotation: it is not a list of triggers"),
        ("[1]", "OpenShift ignores this annotation: it is not a list of triggers"),
        ("[" * 3000, "OpenShift ignores this annotation: it is not JSON"),
        ([trigger(), trigger()], "OpenShift ignores this annotation: two triggers have the same fieldPath"),
        ([trigger(paused="false")], "fieldPath and from.name have to be strings, and paused true or false"),
        ([trigger(name=1)], "fieldPath and from.name have to be strings, and paused true or false"),
        ([{"fieldPath": WEB, "from": "web:latest"}], "fieldPath and from.name have to be strings"),
        (
            [trigger(name="web")],
            "from.name 'web' is no ImageStreamTag, so this trigger never fires: write NAME:TAG",
        ),
        ([trigger("spec.template.spec.containers[9].image")], "names no container of this pod"),
        ([trigger("spec.template.spec.containers[0].name")], "names no container of this pod"),
        ([trigger(IN_CRON_JOB)], "names no container of this pod"),
        ([trigger(paused=True)], ""),
        ("null", ""),
        ("", "OpenShift ignores this annotation: it is not JSON"),
    ],
)
def test_what_openshift_does_not_replace_counts_as_it_is_written(judge, triggers, warning):
    text = workload(triggers)
    assert placed(judge, text.encode()).decode() == text.replace("'both:1'}]", f"'both:1'}}]{ADDED}")
    messages = [one.text for one in warnings(text)]
    assert len(messages) == bool(warning)
    assert warning in "".join(messages)


def warnings(text: str) -> list[Message]:
    return [one for one in edited(text.encode()).edits.messages if one.severity == "warning"]


def test_a_key_that_only_the_console_writes_pauses_nothing():
    assert len(said(workload([trigger(pause="true")]))) == 1


def test_a_blank_image_is_an_error_where_the_trigger_is_paused():
    with pytest.raises(Failed, match="no node can pull it"):
        edited(workload([trigger(paused=True)], containers="{name: web, image: ' '}").encode())


CONFIG = """apiVersion: apps.openshift.io/v1
kind: DeploymentConfig
metadata: {{name: web}}
spec:
  triggers:
  - {{type: ConfigChange}}
  - type: ImageChange
    imageChangeParams: {{{automatic}containerNames: [web], from: {{kind: ImageStreamTag, name: 'web:latest'}}}}
  template: {{spec: {{containers: [{{name: web, image: '{image}'}}, {{name: log, image: '{other}'}}]}}}}
"""


@pytest.mark.parametrize("image", ["both:1", " ", ""])
def test_a_trigger_of_a_deployment_config_replaces_the_containers_it_names(image):
    (message,) = said(CONFIG.format(automatic="automatic: true, ", image=image, other="both:1"))
    assert "OpenShift replaces the image of a container when this trigger fires" in message


@pytest.mark.parametrize(
    ("automatic", "image"), [("automatic: true, ", "amd:1"), ("", " "), ("automatic: false, ", " ")]
)
def test_the_other_containers_of_a_deployment_config_narrow(judge, automatic, image):
    text = CONFIG.format(automatic=automatic, image=image, other="amd:1")
    assert placed(judge, text.encode()).decode() == text.replace("'amd:1'}]", f"'amd:1'}}]{NARROWED}")


def test_an_image_that_is_replaced_by_hand_alone_narrows():
    """`oc rollout latest` replaces it, so that nothing is tolerated; until then it runs as it is written."""
    (message,) = said(CONFIG.format(automatic="automatic: false, ", image="both:1", other="both:1"))
    assert "OpenShift replaces the image of a container when this trigger fires" in message
    narrowed = CONFIG.format(automatic="", image="amd:1", other="both:1")
    assert edited(narrowed.encode()).data.decode() == narrowed.replace("'both:1'}]", f"'both:1'}}]{NARROWED}")


def test_a_blank_image_without_its_trigger_is_an_error():
    with pytest.raises(Failed, match="no node can pull it"):
        edited(CONFIG.format(automatic="automatic: true, ", image="amd:1", other=" ").encode())


STREAM = """apiVersion: image.openshift.io/v1
kind: ImageStream
metadata: {{name: both, namespace: {namespace}}}
spec: {{lookupPolicy: {{local: {local}}}}}
---
"""
POD = """apiVersion: {version}
kind: {kind}
metadata: {{name: web, namespace: a}}
spec: {{template: {{spec: {{containers: [{{name: web, image: '{image}'}}]}}}}}}
"""


def beside(
    image: str = "both:1", *, local: str = "true", namespace: str = "a", kind: str = "apps/v1 Deployment"
) -> str:
    version, _, name = kind.partition(" ")
    return STREAM.format(namespace=namespace, local=local) + POD.format(
        version=version, kind=name, image=image
    )


@pytest.mark.parametrize("image", ["both", "both:1"])
def test_the_name_of_an_image_stream_for_local_lookup_is_unasked(image):
    (message,) = said(beside(image))
    assert "OpenShift replaces it with that of the ImageStream both (lookupPolicy.local)" in message
    parts = [part.replace("\n", "\n  ").rstrip(" ") for part in beside(image).split("---\n")]
    (message,) = said("apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {part}" for part in parts))
    assert "OpenShift replaces it with that of the ImageStream both (lookupPolicy.local)" in message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(beside("docker.io/library/both:1"), id="a host in the name"),
        pytest.param(beside("library/both:1"), id="a path"),
        pytest.param(beside("both@sha256:" + "a" * 64), id="a digest"),
        pytest.param(beside(local="false"), id="no local lookup"),
        pytest.param(beside(namespace="b"), id="another namespace"),
        pytest.param(
            beside(kind="argoproj.io/v1alpha1 Rollout"), id="a kind that the admission plugin leaves"
        ),
    ],
)
def test_other_names_count_as_they_are_written(judge, text):
    added = ADDED if "'both:1'" in text else NARROWED
    assert placed(judge, text.encode()).decode() == text.replace("'}]}", f"'}}]{added}}}")


@pytest.mark.parametrize("at", ["metadata: {name: web, namespace: a", "template: {"])
@pytest.mark.parametrize("image", ["both:1", "registry.example/both:1"])
def test_resolve_names_makes_every_image_without_a_digest_unasked(at, image):
    note = f"annotations: {{{RESOLVE_NAMES}: '*'}}"
    text = POD.format(version="apps/v1", kind="Deployment", image=image)
    text = text.replace(at, f"{at}, {note}" if "name" in at else f"{at}metadata: {{{note}}}, ")
    (message,) = said(text)
    assert "OpenShift replaces it where an ImageStream has its name" in message
    assert edited(text.replace("'*'", "'yes'").encode(), STATED).data != text.encode()
    pinned = text.replace(":1'", "@sha256:" + "a" * 64 + "'")
    assert edited(pinned.encode(), STATED).data != pinned.encode()


def test_platforms_that_somebody_states_on_the_pod_template_still_count():
    text = workload([trigger()], containers="{name: web, image: ' '}").replace(
        "{template: {", "{template: {metadata: {annotations: {archfit.dev/image-platforms: linux/amd64}}, "
    )
    assert edited(text.encode()).data.decode() == text.replace("' '}]", f"' '}}]{NARROWED}")
