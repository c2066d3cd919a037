"""Argo and Tekton: who else places and fills their pods, and whose images count."""

import pytest

from stream_edits import Failed, edited

STATED = "archfit.dev/image-platforms: 'linux/amd64,linux/arm64'"
CALLED = (
    "apiVersion: argoproj.io/v1alpha1\nkind: KIND\nmetadata: {name: lib}\n"
    f"spec:\n  templates:\n  - name: build\n    metadata: {{annotations: {{{STATED}}}}}\n"
    "    container: {image: 'both:1'}\n"
)
CALLER = (
    "---\napiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: nightly}\nspec:\n  workflowSpec:\n"
    "    tolerations: [{key: ci, operator: Exists, effect: NoSchedule}]\n    templates:\n"
    "    - {name: main, steps: [[{name: a, templateRef: {name: lib, template: build}}]]}\n"
)


@pytest.mark.parametrize("kind", ["WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"])
def test_a_template_of_argo_gets_no_toleration_that_hides_those_of_others(kind):
    """Its own list replaces that of every caller, and of the controller's workflowDefaults."""
    text = CALLED.replace("KIND", kind)
    if kind == "CronWorkflow":
        text = text.replace("\nspec:\n", "\nspec:\n workflowSpec:\n")
    data = (text + CALLER).encode()
    assert edited(data).data == data


def test_a_template_of_argo_that_has_tolerations_gets_one_more():
    own = CALLED.replace("KIND", "WorkflowTemplate").replace(
        "    container", "    tolerations: [{key: ci, operator: Exists}]\n    container"
    )
    data = own.replace("    container", "    affinity: {}\n    container").encode()
    assert b"value: arm64" in edited(data).data


@pytest.mark.parametrize(
    ("kind", "says"), [("WorkflowTemplate", "workflows that call this template"), ("Workflow", "")]
)
def test_an_affinity_that_hides_those_of_others_is_said(kind, says):
    text = CALLED.replace("KIND", kind).replace(STATED, "a: b").replace("both:1", "amd:1")
    output = edited(text.encode())
    assert b"nodeAffinity" in output.data
    (warning,) = [one for one in output.edits.messages if one.severity == "warning"]
    assert warning.field == "spec.templates[0].affinity"
    assert "workflowDefaults" in warning.text
    assert says in warning.text


@pytest.mark.parametrize(
    "text",
    [
        CALLED.replace("KIND", "WorkflowTemplate").replace(STATED, "a: b"),
        "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {generateName: a-}\n"
        "spec: {podTemplate: {affinity: {}, tolerations: [{key: ci}]}, "
        "taskSpec: {steps: [{name: a, image: 'both:1'}]}}\n",
    ],
    ids=["argo", "tekton"],
)
def test_what_runs_beside_every_step_is_unknown(text):
    """argoexec; Tekton's entrypoint."""
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any("adds its" in one.text for one in output.edits.messages if one.severity == "info")


RUN = (
    "apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {generateName: a-, annotations: {STATED}}\nspec:\n"
    "  pipelineSpec:\n    tasks:\n    - {name: a, taskSpec: {steps: [{name: a, image: 'IMAGE'}]}}\n"
)


def test_a_run_of_tekton_keeps_the_defaults_of_its_controller():
    """Tekton takes a field from default-pod-template only where the run has none."""
    multi = RUN.replace("STATED", STATED).replace("IMAGE", "both:1").encode()
    assert edited(multi).data == multi
    own = (
        multi
        + b"  taskRunTemplate: {podTemplate: {affinity: {}, tolerations: [{key: ci, operator: Exists}]}}\n"
    )
    assert b"arm64" in edited(own).data.removeprefix(multi)
    amd = edited(RUN.replace("STATED", "a: b").replace("IMAGE", "amd:1").encode())
    assert b"nodeAffinity" in amd.data
    (warning,) = [one for one in amd.edits.messages if one.severity == "warning"]
    assert warning.field == "spec.taskRunTemplate.podTemplate.affinity"
    assert "default-pod-template" in warning.text


STEPS = (
    "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {generateName: a-}\n"
    "spec:\n  taskSpec: {stepTemplate: {image: 'amd:1'}, steps: STEPS}\n"
)


def test_the_image_of_a_step_template_counts_for_steps_without_one():
    unused = STEPS.replace("STEPS", "[{name: a, image: 'both:1'}]").encode()
    assert edited(unused).data == unused
    used = STEPS.replace("STEPS", "[{name: a, image: 'both:1'}, {name: b}]").encode()
    assert b"nodeAffinity" in edited(used).data


PATCHED = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: a-}\nspec:\n"
    "  podSpecPatch: |\n    PATCH\n  templates:\n  - {name: build, container: {image: 'amd:1'}}\n"
)


def test_a_node_selector_in_a_patch_counts():
    pinned = PATCHED.replace("PATCH", "nodeSelector: {kubernetes.io/arch: ARCH}")
    same = pinned.replace("ARCH", "amd64").encode()
    assert edited(same).data == same
    with pytest.raises(Failed, match="pinned to arm64"):
        edited(pinned.replace("ARCH", "arm64").encode())
    left = pinned.replace("ARCH", "'{{workflow.parameters.arch}}'").encode()
    assert edited(left).data == left
    pool = PATCHED.replace("PATCH", '{"nodeSelector": {"pool": "ci"}}').encode()
    assert b"nodeAffinity" in edited(pool).data


def test_a_listener_of_tekton_is_left_and_said():
    text = (
        "apiVersion: triggers.tekton.dev/v1beta1\nkind: EventListener\nmetadata: {name: a}\n"
        "spec: {resources: {customResource: {spec: {template: {spec: {containers: [{name: a}]}}}}}}\n"
    )
    output = edited(text.encode())
    assert any("chooses its image" in one.text for one in output.edits.messages)


SENSOR = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata: {name: a}\nspec:\n  triggers:\n"
    "  - {template: {name: b, k8s: {source: {resource: JOB}}}}\n  - parameters: [{dest: OUTER}]\n"
    "    template: {name: a, k8s: {source: {resource: JOB}, parameters: [{dest: INNER}]}}\n"
).replace(
    "JOB",
    "{apiVersion: batch/v1, kind: Job, metadata: {generateName: j-}, spec: {template: {spec: "
    "{containers: [{name: a, image: 'both:1'}, {name: b, image: 'both:1'}]}}}}",
)
SPEC = "spec.template.spec"


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        (f"{SPEC}.containers.1.image", "x"),
        (f"{SPEC}.containers.0", "x"),
        (f"{SPEC}.containers.2", "x"),
        (f"{SPEC}.containers.3.image", "x"),
        (f"{SPEC}.initContainers.-1", "x"),
        (SPEC, "x"),
        ("x", f"k8s.source.resource.{SPEC}.containers.0.image"),
        ("x", "k8s.source"),
    ],
)
def test_an_image_that_an_event_fills_in_is_unknown(inner, outer):
    """In the trigger that says so, not in the others."""
    text = SENSOR.replace("INNER", inner).replace("OUTER", outer)
    output = edited(text.encode())
    assert output.data.count(b"tolerations") == 1
    assert output.data.endswith(text.encode()[-200:])
    assert any("fill it in" in one.text for one in output.edits.messages)


@pytest.mark.parametrize("inner", [f"{SPEC}.containers.0.args.0", "metadata.name"])
def test_what_an_event_fills_in_elsewhere_says_nothing_of_the_images(inner):
    text = SENSOR.replace("INNER", inner).replace("OUTER", "x")
    assert edited(text.encode()).data.count(b"tolerations") == 2


OBJECT = (
    "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {name: a}\nspec:\n  references:\n"
    "  - {patchesFrom: {kind: ConfigMap, fieldPath: data.image}, toFieldPath: 'PLACE'}\n"
    "  forProvider: {manifest: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
    "{containers: [{name: a, image: 'both:1'}]}}}}}\n"
)


def test_an_image_that_crossplane_copies_from_another_object_is_unknown():
    replaced = OBJECT.replace("PLACE", "spec.template.spec.containers[0].image").encode()
    assert edited(replaced).data == replaced
    beside = OBJECT.replace("PLACE", "spec.replicas").encode()
    assert b"tolerations" in edited(beside).data


def test_policies_of_karmada_that_replace_images_are_named():
    text = (
        "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: a}\n"
        "spec: {overrideRules: [{overriders: {imageOverrider: [{component: Tag, operator: replace}]}}]}\n"
    )
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any("member cluster" in one.text for one in output.edits.messages)


POOL = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: pool, operator: In, values: [NAME]}]}]}}}"
)
LIBRARY = (
    "apiVersion: argoproj.io/v1alpha1\nkind: KIND\nmetadata: {name: lib}\n"
    "spec:\n  templates:\n  - {name: build, container: {image: 'amd:1'}}\n"
    "  - {name: other, container: {image: 'amd:1'}}\n"
)
CALLING = (
    "---\napiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: a-}\nspec:\n  SPEC\n"
    "  templates:\n  - name: main\n    OWN\n"
    "    dag: {tasks: [{name: a, templateRef: {name: lib, template: build SCOPE}}]}\n"
)


def calling(spec: str, own: str = "x: y", scope: str = "") -> str:
    return CALLING.replace("SPEC", spec).replace("OWN", own).replace("SCOPE", scope)


@pytest.mark.parametrize(
    ("kind", "callers", "pools"),
    [
        ("WorkflowTemplate", calling(POOL), 2),
        ("ClusterWorkflowTemplate", calling(POOL, scope=", clusterScope: true"), 2),
        ("WorkflowTemplate", calling("x: y", POOL), 2),
        ("WorkflowTemplate", calling(POOL) + calling("x: y"), 1),
        ("WorkflowTemplate", calling(POOL) + calling(POOL.replace("NAME", "b")), 2),
        ("WorkflowTemplate", calling(POOL, scope=", clusterScope: true"), 1),
        (
            "WorkflowTemplate",
            f"---\napiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {{name: b}}\n"
            f"spec: {{workflowSpec: {{workflowTemplateRef: {{name: lib}}, {POOL}}}}}\n",
            3,
        ),
    ],
    ids=[
        "its workflow",
        "in the cluster",
        "its template",
        "another one",
        "two that differ",
        "another scope",
        "whole",
    ],
)
def test_the_affinity_of_callers_in_the_stream_is_written_along(kind, callers, pools):
    """Argo takes the caller's only while the template has none."""
    text = (LIBRARY.replace("KIND", kind) + callers).replace("NAME", "ci")
    output = edited(text.encode()).data
    assert output.count(b"kubernetes.io/arch") == 2
    assert output.count(b"key: pool") == pools


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            "metadata: {name: workflow-controller-configmap}\ndata:\n  workflowDefaults: |\n    spec:\n      POOL\n",
            "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: a}\n"
            "spec: {workflowSpec: {templates: [{name: a, container: {image: 'amd:1'}}]}}\n",
        ),
        (
            "metadata: {name: config-defaults}\ndata:\n  default-pod-template: |\n    POOL\n",
            RUN.replace("STATED", "a: b").replace("IMAGE", "amd:1"),
        ),
    ],
    ids=["argo", "tekton"],
)
def test_the_affinity_of_a_controllers_defaults_in_the_stream_is_written_along(config, text):
    pool = POOL.replace("NAME", "ci")
    data = f"apiVersion: v1\nkind: ConfigMap\n{config.replace('POOL', pool)}---\n{text}"
    output = edited(data.encode()).data
    assert output.count(b"pool") == 2
    assert output.count(b"kubernetes.io/arch") == 1
