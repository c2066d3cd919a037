"""The objects of a policy: what they are about, what they say, and that a person can read them."""

from typing import Any

import pytest

from archfit.options.settings import Exclude, Options
from archfit.policy.objects import policy_objects, policy_text
from archfit.policy.settings import PolicySettings

TABLE = {"docker.io/library/app:1": ["amd64"], "quay.io/team/tool:2": ["amd64", "arm64"]}
OPTED_OUT = {"key": "archfit.dev/webhook", "operator": "NotIn", "values": ["ignore", "disabled"]}
DEFAULTS = Options()
POLICY, COMPANION = "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"


def made(options: Options = DEFAULTS, **settings: Any) -> dict[tuple[str, str], dict[str, Any]]:
    objects = policy_objects(TABLE, options, PolicySettings(**settings))
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def parts(number: int, **settings: Any) -> list[list[str]]:
    """The lines of each object of a policy for that many images."""
    table = {f"quay.io/team/app:{n}": ["amd64", "arm64"] for n in range(number)}
    text = policy_text(table, Options(), PolicySettings(**settings))
    return [part.splitlines() for part in text.split("---\n")]


def test_a_policy_for_one_image_is_a_page_and_each_further_image_a_line():
    policy, binding, companion, companions_binding = parts(1)
    assert len(policy) + len(binding) <= 150
    assert len(companion) <= 80
    assert sum(map(len, parts(1, deny=True))) - sum(map(len, parts(1))) <= 50
    for options in (Options(), Options(prefer=(("amd64", 1), ("arm64", 100)))):
        text = policy_text(TABLE, options, PolicySettings(deny=True))
        assert max(map(len, text.splitlines())) <= 160
    sizes = [len(policy) + 8, len(binding), len(companion) + 8, len(companions_binding)]
    assert list(map(len, parts(9))) == sizes


def test_every_variable_of_the_policy_has_a_comment():
    text = policy_text(TABLE, Options(prefer=(("arm64", 1),)), PolicySettings()).partition("\n---\n")[0]
    named = [line for line in text.splitlines() if line.startswith("  - name: ")]
    assert len(named) > 20
    assert [line for line in named if " # " not in line] == []


def test_the_policy_has_the_chosen_version_and_name():
    objects = made(name="arch.example", api_version="v1beta1", deny=True)
    assert {kind: one["apiVersion"].rpartition("/")[2] for (kind, _), one in objects.items()} == {
        POLICY: "v1beta1", f"{POLICY}Binding": "v1beta1", COMPANION: "v1", f"{COMPANION}Binding": "v1",
    }  # fmt: skip
    assert {name for _, name in objects} == {"arch.example", "arch.example-deny"}
    assert all(
        one["spec"]["policyName"] == "arch.example"
        for (kind, _), one in objects.items()
        if kind.endswith("Binding")
    )


def test_a_failing_policy_never_stops_a_pod():
    objects = made()
    assert {
        one["spec"]["failurePolicy"] for (kind, _), one in objects.items() if kind in (POLICY, COMPANION)
    } == {"Ignore"}
    assert objects[POLICY, "archfit.dev"]["spec"]["reinvocationPolicy"] == "IfNeeded"
    actions = objects[f"{COMPANION}Binding", "archfit.dev"]["spec"]["validationActions"]
    assert actions == ["Warn", "Audit"]


@pytest.mark.parametrize("kind", [POLICY, COMPANION])
def test_both_are_about_new_pods_outside_of_kube_system_and_their_own_namespace(kind):
    own = {"key": "team", "operator": "Exists"}
    constraints = made(namespace_selector=(own,))[kind, "archfit.dev"]["spec"]["matchConstraints"]
    assert constraints["resourceRules"] == [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    ]
    assert constraints["namespaceSelector"]["matchExpressions"] == [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "archfit"]},
        OPTED_OUT,
        own,
    ]
    assert constraints["objectSelector"]["matchExpressions"] == [OPTED_OUT]


@pytest.mark.parametrize(
    ("globs", "patterns"),
    [
        pytest.param(
            [Exclude("*", "shop"), Exclude("Pod", "web-*")], "['^shop$', '^web-.*$']", id="namespaces"
        ),
        pytest.param([Exclude("po", "a?c.d")], "['^a.c[.]d$']", id="a mark of its own"),
        pytest.param([Exclude("*", "A^"), Exclude("Job", "shop")], "", id="what means no namespace"),
    ],
)
def test_excluded_namespaces_are_a_condition(globs, patterns):
    conditions = made(Options(exclude=tuple(globs)))[POLICY, "archfit.dev"]["spec"]["matchConditions"]
    excluded = [
        " ".join(one["expression"].split())
        for one in conditions
        if one["name"] == "not-of-an-excluded-namespace"
    ]
    assert excluded == ([f"!{patterns}.exists(glob, request.namespace.matches(glob))"] if patterns else [])


def test_a_refusal_is_one_more_binding_to_the_companion_with_the_action_as_its_own_parameter():
    denying = made(deny=True)[f"{COMPANION}Binding", "archfit.dev-deny"]["spec"]
    assert denying["validationActions"] == ["Deny"]
    assert denying["paramRef"]["name"] == "archfit.dev-deny"
    refusing = [
        one["expression"]
        for one in made(deny=True)[COMPANION, "archfit.dev"]["spec"]["validations"]
        if "'Deny' in params.spec.validationActions" not in one["expression"]
    ]
    assert refusing == ["variables.unfit.size() == 0"]


def test_the_date_changes_bindings_and_the_table_alone_which_cost_no_compilation():
    for carrier in ("literal", "crd"):
        plain, dated = made(carrier=carrier), made(carrier=carrier, date="2026-11-23T06:17:00Z")
        stated = {
            kind: one["metadata"].pop("annotations")
            for (kind, _), one in dated.items()
            if "annotations" in one["metadata"]
        }
        assert dated == plain
        notes = {
            "archfit.dev/date": "2026-11-23T06:17:00Z",
            "archfit.dev/renew-before": "2026-11-30T06:17:00Z",
        }
        assert all(one == notes for one in stated.values())
        assert set(stated) == {f"{POLICY}Binding", f"{COMPANION}Binding"} | (
            {"PlatformTable"} if carrier == "crd" else set()
        )
    undying = made(date="2026-11-23T06:17:00Z", max_age=0)[f"{COMPANION}Binding", "archfit.dev"]
    assert list(undying["metadata"]["annotations"]) == ["archfit.dev/date"]
