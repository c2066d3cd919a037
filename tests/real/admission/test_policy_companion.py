"""The companion of a policy names what the policy does not place, and refuses only what it is told to."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import pytest

from archfit.options.settings import Options
from archfit.policy.objects import left_alone
from archfit.webhook.added_record import NAME, entry, record_text
from control_plane import Refused
from drawn_pods import at_creation
from mutating_webhooks import INJECT, injecting, webhook
from pod_decisions import GKE, found
from policy_runs import decision

ALONE, UNFIT, UNKNOWN = "archfit leaves pod ", " may go to ", "archfit does not know where "
_UNKNOWN = "no toleration and no preference is added (--on-"
OLD = "archfit wrote its policy on "
LOCKED = at_creation.platforms()
OPTIONS = Options(cluster_architectures=("amd64", "arm64", "s390x"))


def of(plain, name):
    return {**plain, "metadata": {**plain["metadata"], "namespace": name}}


def expected(installed, pod, reason):
    """What the companion has to say of a pod: words of its messages. reason: why the policy leaves it alone."""
    if reason is None:
        return set()
    decided = decision(pod, installed.name, installed.images, installed.options)
    unknown = any(_UNKNOWN in result.message for result in decided.results)
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get(
        "nodeSelectorTerms", [None]
    )
    # To a pod of empty terms alone no node is open.
    unfit = decided.outcome == "Conflict" and terms != [{}] * len(terms)
    said = {ALONE} if reason else {UNFIT} if unfit else set()
    return said | ({UNKNOWN} if unknown else set())


def said(plane, pod):
    """The kinds of the companion's messages."""
    messages = [text for text in plane.warnings(pod) if "archfit" in text]
    assert all(ALONE not in text or any(f"({one})" in text for one in left_alone()) for text in messages)
    return {kind for kind in (ALONE, UNFIT, UNKNOWN) for text in messages if kind in text}


@pytest.mark.load
@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_it_names_what_the_policy_does_not_place(carrier, policies, drawn):
    plane = policies.plane
    installed = policies.install(f"warned-{carrier}", LOCKED, OPTIONS, companion=True, carrier=carrier)
    plain = drawn(5, 200, elsewhere=0.5)
    looked = policies.look(installed, "variables.leftAlone", plain)
    pods = [of(pod, installed.name) for pod in plain]
    wanted = [expected(installed, pod, reason) for pod, reason in zip(pods, looked, strict=True)]
    policies.await_change(installed, pods)
    unknown = pods[wanted.index({UNKNOWN})]
    plane.until("the companion warns", lambda: said(plane, unknown) == {UNKNOWN})
    found = [said(plane, pod) for pod in pods]
    errors = policies.errors(installed)
    policies.remove(installed)
    assert {kind for one in wanted for kind in one} == {ALONE, UNFIT, UNKNOWN}
    pairs = zip(pods, looked, wanted, found, strict=True)
    # An image that is no reference is unknown to archfit by an error of its own.
    assert [
        row for row in pairs if row[2] - {UNKNOWN} != row[3] - {UNKNOWN} or (not row[1] and row[2] != row[3])
    ] == []
    assert errors == 0


def test_with_deny_it_refuses_a_pod_that_no_node_can_run_and_no_other(policies, drawn):
    plane = policies.plane
    installed = policies.install("denied", LOCKED, OPTIONS, companion=True, deny=True)
    plain = drawn(5, 200, elsewhere=0.5)
    looked = policies.look(installed, "variables.leftAlone", plain)
    pods = [of(pod, installed.name) for pod in plain]
    conflicts = [
        pod for pod, reason in zip(pods, looked, strict=True) if UNFIT in expected(installed, pod, reason)
    ]
    assert conflicts
    plane.until("the companion refuses", lambda: isinstance(plane.dry_all(conflicts[:1])[0], Refused))
    made = plane.dry_all(pods)
    policies.remove(installed)
    refused = [pod for pod, one in zip(pods, made, strict=True) if isinstance(one, Refused)]
    assert refused == conflicts
    assert {one.status for one in made if isinstance(one, Refused)} == {422}
    assert all(UNFIT in str(one) for one in made if isinstance(one, Refused))


LOCK = {
    f"quay.io/team/{name}:1": found(offers, origin="lock")
    for name, offers in (("both", "amd64 arm64"), ("amd", "amd64"), ("arm", "arm64"))
}


def web(namespace, *images, labels=None, annotations=None, **spec):
    containers = [{"name": f"c{n}", "image": f"quay.io/team/{image}:1"} for n, image in enumerate(images)]
    metadata = {"generateName": "web-", "namespace": namespace}
    metadata |= {"labels": labels or {}, "annotations": annotations or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def words(plane, pod):
    return [text.partition("': ")[2] for text in plane.warnings(pod) if "archfit" in text]


def in_force(policies, name, **settings):
    """The policy and its companion, once both act."""
    plane = policies.plane
    installed = policies.install(name, LOCK, Options(), companion=True, **settings)

    def acts():
        try:
            return "affinity" in plane.dry(web(name, "amd"))["spec"]
        except Refused:  # what refuses late changes came into force first
            return False

    plane.until("the policy acts", acts)
    plane.until("the companion warns", lambda: words(plane, web(name, "new")))
    return installed


def _refuses(plane, name, numbers):
    """Whether a pod that is changed too late is refused. numbers: the injector counts by names."""
    pod = web(name, "both", annotations={INJECT: "quay.io/team/amd:1"})
    pod["metadata"] |= {"name": f"probe-{next(numbers)}"}
    try:
        plane.dry(pod)
    except Refused:
        return True
    return False


@pytest.mark.parametrize("choice", ["warn", "deny"])
def test_a_pod_that_is_changed_after_the_last_pass_is_warned_of_or_refused(policies, choice):
    plane, name = policies.plane, f"late-{choice}"
    installed = in_force(policies, name, deny=choice == "deny")
    cases = {
        ("both", "amd"): True,
        ("both", "arm"): True,
        ("amd", "arm"): True,
        ("both", "new"): False,
        ("both", "both"): False,
        ("amd", "both"): False,
        ("amd", "amd"): False,
        ("new", "amd"): True,
        ("new", "both"): False,
    }
    with contextlib.ExitStack() as stack:
        # The first makes the API server evaluate the policy again; the second injects after that.
        late, other = (
            stack.enter_context(injecting(second=True)),
            stack.enter_context(injecting("quay.io/team/both:1", name="other")),
        )
        stack.enter_context(webhook(plane, f"aa-{name}", late, name))
        stack.enter_context(webhook(plane, f"bb-{name}", other, name))
        probe = web(name, "new", annotations={INJECT: "quay.io/team/both:1"})
        plane.until("a sidecar is injected", lambda: len(plane.dry(probe)["spec"]["containers"]) > 1)
        if choice == "deny":  # by a policy of its own, which may come into force last
            plane.until("late changes are refused", partial(_refuses, plane, name, count()))
        outcomes = {}
        for image, sidecar in cases:
            pod = web(name, image, annotations={INJECT: f"quay.io/team/{sidecar}:1"})
            pod["metadata"] |= {
                "name": f"{image}-{sidecar}"
            }  # the injector counts by names, and each is sent once
            try:
                outcomes[image, sidecar] = " ".join(words(plane, pod))
            except Refused as refused:
                outcomes[image, sidecar] = f"refused {refused.status}: {refused}"
    policies.remove(installed)
    assert {pair: UNFIT in said for pair, said in outcomes.items()} == cases
    refused = {pair for pair, said in outcomes.items() if said.startswith("refused 422")}
    assert refused == ({pair for pair, unfit in cases.items() if unfit} if choice == "deny" else set())
    assert UNKNOWN in outcomes["both", "new"]


POOL = [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
AMD = [{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}]


@pytest.mark.parametrize("deny", [False, True], ids=["warn", "deny"])
def test_an_applied_pod_whose_own_terms_do_not_fit_is_warned_of_or_refused(policies, deny):
    plane, name = policies.plane, f"own-terms-{'deny' if deny else 'warn'}"
    installed = in_force(policies, name, deny=deny)
    conflict = web(name, "amd", "arm")
    if deny:
        plane.until("the companion refuses", lambda: isinstance(plane.dry_all([conflict])[0], Refused))
    outcomes = {}
    for case, image, terms, mark in (
        ("does not fit", "amd", POOL, True),
        ("fits", "amd", AMD, True),
        ("runs everywhere", "both", POOL, True),
        ("nobody applies it", "amd", POOL, False),
    ):
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        marked = {"kubectl.kubernetes.io/last-applied-configuration": "{}"} if mark else {}
        pod = web(name, image, annotations=marked, affinity={"nodeAffinity": required})
        try:
            outcomes[case] = " ".join(words(plane, pod))
        except Refused as refused:
            outcomes[case] = f"refused {refused.status}: {refused}"
    policies.remove(installed)
    said = outcomes.pop("does not fit")
    assert f"{UNFIT}arm64 nodes, where not all its images run (quay.io/team/amd:1)" in said
    assert said.startswith("refused 422") == deny
    assert outcomes == dict.fromkeys(outcomes, "")


@pytest.mark.parametrize(
    ("images", "pull", "recorded", "named"),
    [
        pytest.param(["both"], "Always", False, False, id="all known"),
        pytest.param(["new"], "Always", False, True, id="one unknown"),
        pytest.param(["new"], "Never", True, True, id="one that nobody can know, after archfit's last pass"),
    ],
)
def test_an_image_that_nobody_knows_is_named(in_shop, images, pull, recorded, named):
    plane, name = in_shop
    annotations = (
        {NAME: record_text("policy", 1, [entry(("spec", "tolerations", "-"), GKE)])} if recorded else {}
    )
    pod = web(name, *images, annotations=annotations, tolerations=[GKE] if recorded else [])
    pod["spec"]["containers"][0]["imagePullPolicy"] = pull
    assert any(text.startswith(UNKNOWN) for text in words(plane, pod)) is named


@pytest.fixture(scope="module")
def in_shop(policies):
    """A policy that is in force, and its namespace."""
    installed = in_force(policies, "judged-shop")
    yield policies.plane, "judged-shop"
    policies.remove(installed)


@pytest.mark.parametrize(
    ("labels", "opted_out"),
    [
        ({"archfit.dev/webhook": "ignore"}, True),
        ({"archfit.dev/webhook": "disabled"}, True),
        ({"archfit.dev/webhook": "on"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_the_label_that_opts_out_of_the_webhook_opts_out_of_the_policy(in_shop, labels, opted_out):
    plane, name = in_shop
    assert ("affinity" in plane.dry(web(name, "amd", labels=labels))["spec"]) != opted_out
    assert bool(words(plane, web(name, "new", labels=labels))) != opted_out


def test_the_label_of_a_namespace_opts_out_its_pods(policies):
    plane, name = policies.plane, "opted-out"
    installed = in_force(policies, name)
    plane.kubectl("label", "namespace", name, "archfit.dev/webhook=ignore")
    plane.until(
        "nothing is placed",
        lambda: "affinity" not in plane.dry(web(name, "amd"))["spec"] and not words(plane, web(name, "new")),
    )
    policies.remove(installed)


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_a_policy_that_is_too_old_is_warned_of(policies, carrier):
    plane, name = policies.plane, f"aged-{carrier}"
    today = datetime.now(UTC)
    moments = {days: (today - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ") for days in (1, 6, 8)}
    installed = in_force(policies, name, date=moments[8], carrier=carrier)
    (said,) = words(plane, web(name, "both"))
    assert said == f"{OLD}{moments[8]}, too long ago: run archfit policy again"
    for settings in ({"date": moments[6]}, {"date": ""}, {"date": moments[8], "max_age": 0}):
        policies.install(name, LOCK, Options(), companion=True, carrier=carrier, **settings)
        plane.until("nothing is said", lambda: not words(plane, web(name, "both")))
        policies.install(name, LOCK, Options(), companion=True, carrier=carrier, date=moments[8])
        plane.until("it is too old again", lambda: words(plane, web(name, "both")))
    policies.remove(installed)
