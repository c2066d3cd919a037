"""Custom resources: what archfit adds to each family, line by line, judged by Kubernetes' own readers.

Images that nobody knows offer linux/amd64 alone (`stream_edits`), so that every pod needs an affinity; `both:1` needs
the toleration of GKE's taint. AFFINITY and its kin stand for the lines that are added; {n} is their indent.
"""

import pytest
from tests.workloads.added_blocks import FLOW, diff

from archfit.options.settings import Options
from case_files import diffs, rows
from custom_pods import placed_as_read
from stream_edits import Failed, edited, placed, sides

ROWS = diffs("custom_resources/rows.diff")


@pytest.mark.parametrize("text", ROWS)
def test_what_is_added(judge, text):
    before, after = sides(diff(text))
    assert placed(judge, before).decode() == after.decode()


@pytest.mark.usefixtures("nothing_seen")
@pytest.mark.parametrize("text", ROWS)
def test_what_is_added_by_rows_that_were_not_seen(judge, text):
    placed_as_read(judge, sides(diff(text))[0])


def test_empty_tolerations_inherit_too():
    text = (
        b"apiVersion: pingcap.com/v1alpha1\nkind: DMCluster\nmetadata: {name: a}\nspec:\n"
        b"  tolerations: [{key: ci, operator: Exists}]\n"
        b"  worker:\n    tolerations: []\n    image: both:1\n"
    )
    expected = text.replace(
        b"tolerations: []",
        b"tolerations: [{key: ci, operator: Exists}, "
        b"{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]",
    )
    assert edited(text).data == expected
    assert edited(expected).data == expected


SHARED = diffs("custom_resources/shared.diff")


@pytest.mark.parametrize("text", SHARED)
def test_shared_nodes(judge, text):
    before, after = sides(diff(text.replace("GKE", FLOW)).replace("\n -    ", "\n-    "))
    assert placed(judge, before).decode() == after.decode()


@pytest.mark.usefixtures("nothing_seen")
@pytest.mark.parametrize("text", SHARED)
def test_shared_nodes_of_rows_that_were_not_seen(judge, text):
    placed_as_read(judge, sides(diff(text.replace("GKE", FLOW)).replace("\n -    ", "\n-    "))[0])


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param(
            "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nspec:\n  tolerations: [{operator: Exists}]\n"
            "  templates:\n  - tolerations: {}\n    container: {image: 'app:1'}\n",
            "spec.templates[0].tolerations: has to be a list",
            id="tolerations that are a mapping do not inherit",
        ),
        pytest.param(
            "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nspec: {image: 'app:1', affinity: [a]}\n",
            "spec.affinity: has to be a mapping",
            id="a list where an affinity belongs",
        ),
    ],
)
def test_a_field_of_the_wrong_shape_is_an_error_at_its_place(text, field):
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    assert field in str(failed.value)


def test_containers_of_the_wrong_shape_are_no_containers():
    text = (
        b"apiVersion: kibana.k8s.elastic.co/v1\nkind: Kibana\nspec:\n  image: app:1\n"
        b"  podTemplate: {spec: {containers: 3}}\n"
    )
    assert b"nodeAffinity" in edited(text).data


UNTOUCHED = rows("custom_resources/untouched.yaml", "stream", "says")


@pytest.mark.parametrize(("text", "said"), UNTOUCHED)
def test_what_is_left_alone_is_named_with_its_reason(text, said):
    output = edited(text.encode())
    assert output.data == text.encode()
    assert [str(result) for result in output.edits.messages] == [said]


def test_an_annotation_says_what_an_operators_own_image_runs_on(judge):
    """On the object, as the kind has no pod metadata of its own."""
    before, after = sides(
        diff(
            """
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: db
  annotations:
    archfit.dev/image-platforms: linux/amd64
spec:
  instances: 3
  image: x
+2 AFFINITY
"""
        )
    )
    assert placed(judge, before) == after


def test_an_architecture_that_a_template_fills_in_is_left_alone():
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n  - name: a\n"
        b"    nodeSelector: {kubernetes.io/arch: '{{inputs.parameters.arch}}'}\n    container: {image: 'arm:1'}\n"
    )
    output = edited(text)
    ((_, decision),) = output.edits.decisions
    assert output.data == text
    assert (decision.outcome, decision.reason) == (
        "OptedOut",
        "its nodeSelector's kubernetes.io/arch is filled in later ({{inputs.parameters.arch}})",
    )


def test_a_required_architecture_that_a_template_fills_in_is_left_alone():
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n  - name: a\n"
        b"    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{\n"
        b"      matchExpressions: [\n"
        b"      {key: kubernetes.io/arch, operator: In, values: ['{{inputs.parameters.arch}}']}]}]}}}\n"
        b"    container: {image: 'arm:1'}\n"
    )
    output = edited(text)
    ((_, decision),) = output.edits.decisions
    assert output.data == text
    assert (decision.outcome, decision.reason) == (
        "OptedOut",
        "its node affinity's kubernetes.io/arch is filled in later ({{inputs.parameters.arch}})",
    )


def test_knative_and_spark_say_what_has_to_be_enabled():
    text = (
        b"apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        b"      containers: [{image: 'app:1'}]\n"
    )
    spread, flags = map(str, edited(text).edits.messages)
    assert spread.startswith("warning: ")
    assert "default-affinity-type" in spread
    assert flags.startswith("warning: ")
    assert "kubernetes.podspec-affinity" in flags


def test_a_key_twice_on_the_way_to_a_placement_is_an_error():
    text = (
        b"apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec:\n  imageName: app:1\n"
        b"  affinity: {}\n  affinity: {}\n"
    )
    with pytest.raises(Failed, match=r"spec\.affinity: the key stands twice"):
        edited(text)


LACKING = b"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {image: 'app:1', tolerations: []}\n"


def test_an_affinity_that_the_kind_has_no_field_for_is_an_error():
    """Or a warning with --on-conflict leave; it is never written where the API server would drop it."""
    from archfit.options.workload_rows import workloads

    rows = workloads(
        [
            {
                "group": "example.com",
                "kind": "Widget",
                "podSpec": "spec",
                "images": ["spec.image"],
                "affinity": "none",
            }
        ]
    )
    with pytest.raises(Failed) as failed:
        edited(LACKING, Options(workloads=rows))
    assert [str(result) for result in failed.value.messages] == [
        "error: example.com/v1/Widget/a spec: it has to run on amd64 (arm64 is not offered by app:1), but Widget has "
        "no field for node affinity; restrict its namespace or nodes by other means, or leave such pods as they are "
        "with --on-conflict leave (document 1, line 4)"
    ]
    output = edited(LACKING, Options(workloads=rows, on_conflict="leave"))
    assert output.data == LACKING
    assert [result.severity for result in output.edits.messages] == ["warning"]
    both = LACKING.replace(b"app:1", b"both:1")
    assert b"tolerations: [{key: kubernetes.io/arch" in edited(both, Options(workloads=rows)).data


def test_a_toleration_that_the_kind_has_no_field_for_is_an_error_where_nothing_else_is_left():
    from archfit.options.workload_rows import workloads

    row = {"group": "example.com", "kind": "Widget", "podSpec": "spec", "images": ["spec.image"]}
    rows = Options(workloads=workloads([{**row, "tolerations": "none"}]))
    with pytest.raises(
        Failed, match=r"needs a toleration of kubernetes\.io/arch=arm64:NoSchedule, but Widget has no"
    ):
        edited(LACKING.replace(b"app:1", b"arm:1"), rows)
    both = LACKING.replace(b"app:1", b"both:1")
    output = edited(both, rows)
    assert output.data == both
    assert [str(result) for result in output.edits.messages] == [
        "info: example.com/v1/Widget/a spec: a toleration of kubernetes.io/arch=arm64:NoSchedule would be added, but "
        "Widget has no field for tolerations (document 1, line 4)"
    ]
