"""Objects in templates hold placeholders, also where Kubernetes has a mapping or a list: left alone, and no error."""

import pytest
import yaml

from stream_edits import Failed, edited

POD = "containers: [{name: a, image: 'amd:1'}]"
IN_TERMS = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "{nodeSelectorTerms: [{matchExpressions: '${x}'}]}}}"
)
LATER = [
    pytest.param(f"{POD}\nnodeSelector: ${{spec.where}}", "nodeSelector (${spec.where})", id="nodeSelector"),
    pytest.param(f"{POD}\ntolerations: << inputs.all >>", "tolerations (<< inputs.all >>)", id="tolerations"),
    pytest.param(f"{POD}\ntolerations: ['${{x}}']", "tolerations[0] (${x})", id="a toleration"),
    pytest.param(f"{POD}\naffinity: $(tt.params.a)", "affinity ($(tt.params.a))", id="affinity"),
    pytest.param(f"{POD}\n{IN_TERMS}", "matchExpressions (${x})", id="expressions"),
    pytest.param("containers: ${spec.all}", "containers (${spec.all})", id="all containers"),
    pytest.param("containers: [{image: 'both:1'}, '${x}']", "containers[1] (${x})", id="a container"),
]
HEAD = "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: a}\n"


def graph(pod_spec: str) -> bytes:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "${schema.spec.name}"}}
    deployment["spec"] = {"template": {"spec": yaml.safe_load(pod_spec)}}
    return (HEAD + yaml.safe_dump({"spec": {"resources": [{"id": "a", "template": deployment}]}})).encode()


@pytest.mark.parametrize(("pod_spec", "reason"), LATER)
def test_what_is_filled_in_later_is_left_alone(pod_spec, reason):
    data = graph(pod_spec)
    output = edited(data)
    assert output.data == data
    ((_, decision),) = output.edits.decisions
    assert decision.outcome == "OptedOut"
    assert reason in decision.reason


def test_a_text_with_a_placeholder_is_no_reason():
    """Values of labels, commands, names of volumes."""
    spec = "containers: [{name: '${a}', image: 'amd:1', args: ['${b}']}]\nnodeSelector: {zone: '${c}'}"
    output = edited(graph(spec))
    assert b"nodeAffinity" in output.data


def test_the_same_in_a_plain_object_is_an_error():
    """Nothing fills it in there: it is a template that was not rendered."""
    text = f"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec: {{{POD}, tolerations: '${{x}}'}}\n"
    with pytest.raises(Failed, match="has to be a list"):
        edited(text.encode())
