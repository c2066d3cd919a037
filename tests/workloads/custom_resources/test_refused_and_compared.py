"""Objects that are compared and not created, that a webhook keeps as they are, and fields that are overwritten."""

import pytest

from archfit.options.settings import Options
from stream_edits import Failed, edited

POLICY = """\
apiVersion: policy.open-cluster-management.io/v1
kind: ConfigurationPolicy
metadata: {name: a}
spec:
  remediationAction: ACTION
  object-templates:
  - complianceType: TYPE
    objectDefinition:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {METADATA}
      spec: {template: {spec: {containers: [{name: a, image: 'amd:1'}]}}}
"""


def _policy(kind: str, action: str, metadata: str = "name: agent") -> bytes:
    return POLICY.replace("TYPE", kind).replace("ACTION", action).replace("METADATA", metadata).encode()


@pytest.mark.parametrize(
    ("kind", "action", "metadata", "created"),
    [
        ("musthave", "enforce", "name: agent", True),
        ("MustHave", "Enforce", "name: agent", True),
        ("mustonlyhave", "enforce", "name: agent", True),
        ("mustnothave", "enforce", "name: agent", False),
        ("mustnothave", "inform", "name: agent", False),
        ("musthave", "inform", "name: agent", False),
        ("musthave", "informOnly", "name: agent", False),
        ("musthave", "null", "name: agent", False),
        ("musthave", "enforce", "labels: {app: agent}", False),
        ("musthave", "enforce", "generateName: agent-", False),
    ],
)
def test_only_what_a_policy_creates_is_edited(kind, action, metadata, created):
    text = _policy(kind, action, metadata)
    output = edited(text)
    assert (b"nodeAffinity" in output.data) == created
    assert created == (not output.edits.messages)
    if not created:
        assert output.data == text
        (said,) = output.edits.messages
        assert "compares" in said.text


@pytest.mark.parametrize(
    ("around", "inside", "created"),
    [
        ("enforce", "inform", True),
        ("inform", "enforce", False),
        ("null", "enforce", True),
        ("null", "inform", False),
    ],
)
def test_the_action_of_a_policy_counts_before_that_of_what_it_holds(around, inside, created):
    inner = "".join(f"      {line}\n" for line in _policy("musthave", inside).decode().splitlines())
    text = (
        "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: a}\n"
        f"spec:\n  remediationAction: {around}\n  policy-templates:\n  - objectDefinition:\n{inner}"
    ).encode()
    output = edited(text)
    assert (b"nodeAffinity" in output.data) == created
    assert created or any("compares" in one.text for one in output.edits.messages)


@pytest.mark.parametrize(
    ("kind", "terms", "warned"),
    [
        ("musthave", "[{matchExpressions: [{key: zone, operator: Exists}]}]", True),
        ("mustonlyhave", "[{matchExpressions: [{key: zone, operator: Exists}]}]", False),
        ("musthave", "[]", False),
    ],
)
def test_terms_that_a_policy_adds_to_older_ones_are_warned_of(kind, terms, warned):
    """The operator keeps the items that the object has (configurationpolicy_controller.go, mergeArrays)."""
    own = (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: %s}}}"
    )
    written = f"{own % terms}, containers:" if terms != "[]" else "containers:"
    output = edited(_policy(kind, "enforce").replace(b"containers:", written.encode()))
    assert b"amd64" in output.data
    assert [one.severity for one in output.edits.messages] == ["warning"] * warned


def test_a_pattern_without_a_pod_is_not_worth_a_word():
    text = _policy("mustnothave", "inform").replace(b"kind: Deployment", b"kind: ConfigMap")
    assert edited(text).edits.messages == ()


def test_a_policy_of_text_is_named():
    text = (
        b"apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {name: a}\n"
        b"spec:\n  remediationAction: enforce\n  object-templates-raw: |\n    - complianceType: musthave\n"
    )
    (said,) = edited(text).edits.messages
    assert "spec.object-templates-raw is text that archfit does not read" in said.text


JOB = "{spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'both:1'}]}}}}"
FIXED = {
    "Kruise": f"""\
apiVersion: apps.kruise.io/v1alpha1
kind: AdvancedCronJob
metadata: {{name: a}}
spec: {{schedule: '* * * * *', template: {{jobTemplate: {JOB}}}}}
""",
    "Kruise, on every node": f"""\
apiVersion: apps.kruise.io/v1alpha1
kind: AdvancedCronJob
metadata: {{name: a}}
spec: {{schedule: '* * * * *', template: {{broadcastJobTemplate: {JOB}}}}}
""",
    "Agones": """\
apiVersion: agones.dev/v1
kind: GameServerSet
metadata: {name: a}
spec: {template: {spec: {template: {spec: {containers: [{name: a, image: 'both:1'}]}}}}}
""",
    "AppWrapper": """\
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: a}
spec:
  components:
  - template:
      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: b}
      spec: {pytorchReplicaSpecs: {Master: {template: {spec: {containers: [{name: pytorch, image: 'both:1'}]}}}}}
""",
}


@pytest.mark.parametrize("text", FIXED.values(), ids=FIXED)
def test_what_a_webhook_keeps_as_it_is_gets_what_it_needs_alone(text):
    unchanged = edited(text.encode())
    assert unchanged.data == text.encode()
    ((_, decision),) = unchanged.edits.decisions
    assert decision.immutable
    assert b"nodeAffinity" in edited(text.replace("both:1", "amd:1").encode()).data
    assert b"tolerations" in edited(text.encode(), Options(immutable="full")).data


def test_what_stands_in_a_wrapper_that_is_made_anew_can_be_changed():
    text = FIXED["AppWrapper"].replace("metadata: {name: a}", "metadata: {generateName: a-}")
    assert b"tolerations" in edited(text.encode()).data


RUN = "apiVersion: k6.io/v1alpha1\nkind: TestRun\nmetadata: {name: a}\nspec: {separate: SEPARATE, runner: RUNNER}\n"


def _run(separate: str, runner: str) -> bytes:
    return RUN.replace("SEPARATE", separate).replace("RUNNER", runner).encode()


def test_runners_that_k6_keeps_apart_have_another_affinity():
    """The operator writes its own over it (pkg/resources/jobs/runner.go)."""
    with pytest.raises(Failed, match="TestRun has no field for node affinity"):
        edited(_run("true", "{image: 'amd:1'}"))
    pinned = _run("true", "{image: 'amd:1', nodeSelector: {kubernetes.io/arch: amd64}}")
    assert edited(pinned).data == pinned
    assert b"nodeAffinity" in edited(_run("false", "{image: 'amd:1'}")).data
    assert b"tolerations" in edited(_run("true", "{image: 'both:1'}")).data


def test_terms_that_k6_writes_over_demand_nothing():
    term = "{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}"
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    own = f"{{nodeAffinity: {{{required}: {{nodeSelectorTerms: [{term}]}}}}}}"
    with pytest.raises(Failed, match="TestRun has no field for node affinity"):
        edited(_run("true", f"{{image: 'amd:1', affinity: {own}}}"))


UNITED = """\
apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: a}
spec:
  template: {deploymentTemplate: {spec: {template: {spec: {containers: [{name: a, image: 'IMAGE'}]}}}}}
  topology:
    subsets:
    - {name: one, nodeSelectorTerm: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [ONE]}]}}
    - {name: other}
"""


def _united(image: str, one: str) -> bytes:
    return UNITED.replace("IMAGE", image).replace("ONE", one).encode()


def test_a_subset_demands_architectures_of_its_own():
    """Kruise appends its expressions to each term of the template (adapter_util.go, attachNodeAffinity)."""
    with pytest.raises(
        Failed,
        match=r"subsets\[0\]\.nodeSelectorTerm: pinned to arm64 by this term, but amd:1 offers only amd64",
    ):
        edited(_united("amd:1", "arm64"))
    left = edited(_united("amd:1", "arm64"), Options(on_conflict="leave"))
    assert left.data == _united("amd:1", "arm64")
    assert b"nodeAffinity" in edited(_united("amd:1", "amd64")).data
    assert b"tolerations" in edited(_united("both:1", "arm64")).data


def test_a_subset_that_no_node_meets_together_with_the_template_is_a_conflict():
    pinned = _united("both:1", "arm64").replace(
        b"containers:", b"nodeSelector: {kubernetes.io/arch: amd64}, containers:"
    )
    with pytest.raises(Failed, match=r"subsets\[0\]\.nodeSelectorTerm"):
        edited(pinned)


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("{affinity: {nodeAffinity: {}}}", "spec.topology.subsets[1].patch.spec.affinity: it replaces"),
        ("{containers: [{name: a, image: 'both:1'}]}", ""),
    ],
)
def test_the_patch_of_a_subset_writes_last(patch, says):
    text = _united("amd:1", "amd64").replace(
        b"{name: other}", f"{{name: other, patch: {{spec: {patch}}}}}".encode()
    )
    if says:
        with pytest.raises(Failed) as failed:
            edited(text)
        assert says in str(failed.value)
    else:
        assert b"tolerations" not in edited(text.replace(b"amd:1", b"both:1")).data
