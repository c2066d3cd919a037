"""The Kubernetes objects of a policy."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import json
from typing import Any

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import ARCHITECTURES
from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options
from archfit.options.text_form import image_platforms
from archfit.policy.cel.match_conditions import MAX_EXCLUDES, MAX_RULES
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.cel.table_storage import MAX_LITERAL_IMAGES, MAX_STRANGE, fitting
from archfit.policy.stats import MAX_OBJECT_BYTES
from pod_decisions import found

IMAGES = {"docker.io/library/app:1": found("amd64"), "quay.io/team/tool:2": found("amd64 arm64")}
OPTED_OUT = {"key": "archfit.dev/webhook", "operator": "NotIn", "values": ["ignore", "disabled"]}
LITERAL, CRD = PolicySettings(), PolicySettings(carrier="crd")


def the(kind: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
    (one,) = (one for one in objects if one["kind"] == kind)
    return one


def many(number: int) -> dict[str, Any]:
    return {
        f"registry.example.com/team/service-{n:06}/application:1.2.3": found("amd64") for n in range(number)
    }


def test_the_policy_has_the_chosen_version_and_name():
    settings = PolicySettings(name="arch.example", api_version="v1beta1")
    for one in policy_objects(IMAGES, Options(), settings):
        assert one["apiVersion"] == "admissionregistration.k8s.io/v1beta1"
        assert one["metadata"]["name"] == "arch.example"


def test_a_failing_policy_never_stops_a_pod():
    spec = the("MutatingAdmissionPolicy", policy_objects(IMAGES, Options(), LITERAL))["spec"]
    assert (spec["failurePolicy"], spec["reinvocationPolicy"]) == ("Ignore", "IfNeeded")


def test_the_policy_is_about_new_pods_outside_of_kube_system_and_its_own_namespace():
    own = {"key": "team", "operator": "Exists"}
    settings = PolicySettings(namespace_selector=(own,))
    constraints = the("MutatingAdmissionPolicy", policy_objects(IMAGES, Options(), settings))["spec"][
        "matchConstraints"
    ]
    assert constraints["resourceRules"] == [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    ]
    assert constraints["namespaceSelector"]["matchExpressions"] == [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "archfit"]},
        OPTED_OUT,
        own,
    ]
    assert constraints["objectSelector"]["matchExpressions"] == [OPTED_OUT]


def test_more_images_than_literals_hold_are_refused_with_the_other_carrier_named():
    with pytest.raises(UsageError, match=r"5001 images.*5000.*--carrier crd"):
        policy_objects(many(MAX_LITERAL_IMAGES + 1), Options(), LITERAL)


@pytest.mark.parametrize(
    ("images", "carrier", "held"),
    [
        pytest.param(many(MAX_LITERAL_IMAGES), "literal", MAX_LITERAL_IMAGES, id="as-many-as-fit"),
        pytest.param(many(MAX_LITERAL_IMAGES + 100), "literal", MAX_LITERAL_IMAGES, id="one-hundred-more"),
        pytest.param(many(MAX_LITERAL_IMAGES + 100), "crd", MAX_LITERAL_IMAGES + 100, id="the-other-carrier"),
        pytest.param({f"registry.example.com/{'x' * 240}:{n:0120}": found("amd64") for n in range(5_000)}, "literal", range(3_000, 4_900), id="the-longest-names"),
        pytest.param({f"quay.io/a:{n}": found(f"amd64 odd{n}") for n in range(1_000)}, "literal", MAX_STRANGE, id="an-architecture-of-its-own-for-each"),
        pytest.param({"quay.io/a:1": found(f"amd64 {'x' * 90_000}")}, "crd", 0, id="a-name-of-90000-letters"),
        pytest.param(
            {f"quay.io/a:{n}": found(" ".join(a for i, a in enumerate(ARCHITECTURES) if n >> i & 1)) for n in range(1, 2 ** len(ARCHITECTURES))},
            "literal",
            range(500, 3_000),
            id="a-list-of-its-own-for-each",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_left_out_and_the_rest_is_a_policy(
    images: dict[str, Any], carrier: Any, held: int | range
):
    settings = PolicySettings(carrier=carrier)
    kept, left = fitting(images, Options(), settings)
    assert len(kept) in (held if isinstance(held, range) else [held])
    assert sorted([*kept, *left]) == sorted(images)
    assert list(kept) == [name for name in images if name in kept]
    assert fitting(kept, Options(), settings) == (kept, [])
    made = policy_objects(kept, Options(), settings)
    assert max(len(json.dumps(one)) for one in made) < MAX_OBJECT_BYTES


def test_more_images_than_etcd_takes_are_refused():
    with pytest.raises(UsageError, match=r"30000 images.*bytes"):
        policy_objects(many(30_000), Options(), CRD)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(Options(rules=tuple(Rule(Match(f"s{n}*"), only=("amd64",)) for n in range(MAX_RULES + 1))), f"{MAX_RULES + 1} rules choose the same option", id="rules"),
        pytest.param(
            Options(image_platforms=tuple(image_platforms(f"quay.io/{n:060}*=amd64") for n in range(1000))),
            "matchingOverrides of the policy has .* code points.*fewer entries of imagePlatforms",
            id="overrides",
        ),
        pytest.param(Options(exclude=tuple(Exclude("Pod", f"s{n}*") for n in range(MAX_EXCLUDES + 1))), f"{MAX_EXCLUDES + 1} entries of exclude", id="excludes"),
    ],
)  # fmt: skip
def test_more_entries_than_a_policy_holds_are_refused(options: Options, message: str):
    with pytest.raises(UsageError, match=message):
        policy_objects(IMAGES, options, LITERAL)


def test_rules_and_excludes_of_other_kinds_leave_no_trace():
    options = Options(
        rules=(Rule(Match(kind="Deployment"), only=("amd64",)),), exclude=(Exclude("Job", "shop"),)
    )
    assert policy_objects(IMAGES, options, LITERAL) == policy_objects(IMAGES, Options(), LITERAL)
