"""Images that parameters of the object itself name: `check --require` and the transform know them where nothing else
can choose another value, and leave every other one unasked.
"""

import pytest
import yaml

from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.yaml.stream import split

ARGUMENTS = {"parameters": [{"name": "img", "value": "amd:1"}, {"name": "tag", "value": "1"}]}


def workflow(templates, kind="Workflow", **spec):
    spec = {"entrypoint": "main", "arguments": ARGUMENTS, "templates": templates, **spec}
    spec = {"workflowSpec": spec} if kind == "CronWorkflow" else spec
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def main(image, **more):
    return {"name": "main", "container": {"image": image}, **more}


def steps(*calls):
    return {"name": "main", "steps": [list(calls)]}


def call(name="t", **arguments):
    passed = [{"name": key, "value": value} for key, value in arguments.items()]
    return {"name": "s", "template": name, "arguments": {"parameters": passed}}


def template(image="{{inputs.parameters.x}}", **default):
    return {"name": "t", "inputs": {"parameters": [{"name": "x", **default}]}, "container": {"image": image}}


def run(kind="TaskRun", image="$(params.img)", tasks=None, **spec):
    step = {"steps": [{"name": "s", "image": image}]}
    if kind == "TaskRun":
        inside = {"taskSpec": {"params": [{"name": "img", "default": "amd:1"}], **step}}
    else:
        task = {"name": "t", "taskSpec": step, **(tasks or {})}
        inside = {"pipelineSpec": {"params": [{"name": "img", "default": "amd:1"}], "tasks": [task]}}
    spec = {**inside, **spec}
    return {"apiVersion": "tekton.dev/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def named(value, **more):
    return {"params": [{"name": "img", "value": value, **more}]}


W = "{{workflow.parameters.img}}"
KNOWN = [
    pytest.param(workflow([main(W)]), "amd:1", id="a workflow's own argument"),
    pytest.param(workflow([main("amd:{{ workflow.parameters.tag }}")]), "amd:1", id="a part of the image"),
    pytest.param(workflow([main(W)], kind="CronWorkflow"), "amd:1", id="a CronWorkflow"),
    pytest.param({"apiVersion": "v1", "kind": "List", "items": [workflow([main(W)])]}, "amd:1", id="in a list"),
    pytest.param(workflow([steps(call()), template(value="amd:1")]), "amd:1", id="the default of an input"),
    pytest.param(workflow([steps(call(x="amd:1")), template(value="arm:1")]), "amd:1", id="what the caller passes"),
    pytest.param(workflow([steps(call(x="amd:1"), call(x=W)), template()]), "amd:1", id="what both callers pass"),
    pytest.param(
        workflow([main("{{inputs.parameters.img}}", inputs={"parameters": [{"name": "img", "value": "arm:1"}]})]),
        "amd:1",
        id="the entrypoint gets the arguments of the workflow",
    ),
    pytest.param(run(), "amd:1", id="the default of an embedded task"),
    pytest.param(run(params=[{"name": "img", "value": "arm:1"}]), "arm:1", id="the value of a TaskRun"),
    pytest.param(run(image="$(params['img'])"), "amd:1", id="in brackets"),
    pytest.param(run("PipelineRun"), "amd:1", id="the default of an embedded pipeline"),
    pytest.param(run("PipelineRun", params=[{"name": "img", "value": "arm:1"}]), "arm:1", id="the value of a PipelineRun"),
]  # fmt: skip
NOT_KNOWN = [
    pytest.param(workflow([main(W)], kind="WorkflowTemplate"), id="a WorkflowTemplate, which callers fill in"),
    pytest.param(workflow([main(W)], workflowTemplateRef={"name": "b"}), id="a template of another object"),
    pytest.param(workflow([main(W)], arguments={"parameters": [{"name": "img"}]}), id="no value"),
    pytest.param(
        workflow([main(W)], arguments={"parameters": [{"name": "img", "value": "a", "valueFrom": {"configMapKeyRef": {}}}]}), id="a value from a ConfigMap"
    ),
    pytest.param(workflow([main(W)], arguments={"parameters": [*ARGUMENTS["parameters"], {"name": "img", "value": "arm:1"}]}), id="a name that stands twice"),
    pytest.param(workflow([main(W)], arguments={"parameters": [{"name": "img", "value": "{{workflow.name}}"}]}), id="a value that is a placeholder itself"),
    pytest.param(workflow([main("{{=workflow.parameters.img}}")]), id="an expression"),
    pytest.param(workflow([main("{{workflow.parameters.img}}{{workflow.uid}}")]), id="a part that nobody knows"),
    pytest.param(workflow([steps(call(x="a:1"), call(x="b:1")), template()]), id="callers that differ"),
    pytest.param(workflow([steps(call(x="a:1"), call()), template(value="b:1")]), id="a caller and the default"),
    pytest.param(workflow([steps({**call(x="{{item}}"), "withItems": ["a"]}), template()]), id="a loop"),
    pytest.param(workflow([steps(call("{{item}}")), template(value="a:1")]), id="a caller with a name to fill in"),
    pytest.param(workflow([steps(call(x="a:1"), call(W, x="b:1")), template()]), id="a caller beside one with a name to fill in"),
    pytest.param(workflow([steps(call("u")), template(value="a:1")]), id="a template that nothing calls"),
    pytest.param(
        workflow([steps(call(x="a:1")), template(value="a:1")], onExit="t", arguments={}, hooks={"e": call(x="b:1")}), id="a hook that passes another one"
    ),
    pytest.param(workflow([{"name": "main", "steps": [[{"name": "s", "inline": template(value="a:1")}]]}]), id="an inline template"),
    pytest.param(run("Task"), id="a Task, which callers fill in"),
    pytest.param(run(params=[{"name": "img", "value": ["a"]}]), id="an array"),
    pytest.param(run(params=[{"name": "img", "value": "$(context.taskRun.name)"}]), id="a variable"),
    pytest.param(run("PipelineRun", tasks=named("b:1")), id="the scope of a task"),
    pytest.param(run("PipelineRun", tasks={"matrix": named(["b:1"])}), id="a matrix"),
    pytest.param(run("PipelineRun", image="$(tasks.a.results.img)"), id="a result"),
    pytest.param(
        {
            "apiVersion": "template.openshift.io/v1",
            "kind": "Template",
            "metadata": {"name": "a"},
            "parameters": [{"name": "IMG", "value": "amd:1"}],
            "objects": [{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "${IMG}"}]}}],
        },
        id="a Template, which `oc process` fills in",
    ),
]  # fmt: skip


def images(value):
    data = yaml.safe_dump(value).encode()
    found = scan(data, split(data), Options())
    return [
        use.text for document in found.documents for pod in document.pods for use in pod.images if use.text
    ], found.texts


@pytest.mark.parametrize(("value", "image"), KNOWN)
def test_an_image_whose_parameters_the_object_says_is_known(value, image):
    assert images(value) == ([image], (image,))


@pytest.mark.parametrize("value", NOT_KNOWN)
def test_noop_any_other_stays_a_placeholder(value):
    texts, asked = images(value)
    assert texts or value["kind"] == "Task"
    assert all("{" in text or "$(" in text for text in texts)
    assert asked == ()


@pytest.mark.parametrize(("kind", "unknown"), [("Workflow", 1), ("CronWorkflow", 0)])
def test_a_parameter_that_may_be_submitted_with_another_value_is_not_known_to_the_gate(kind, unknown):
    data = yaml.safe_dump(workflow([main(W)], kind=kind)).encode()
    found = scan(data, split(data), Options())
    uses = [use for document in found.documents for pod in document.pods for use in pod.images]
    assert sum("submitted with another value" in use.unasked for use in uses) == unknown
