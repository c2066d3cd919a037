"""The companion of a policy warns of random pods where archfit does, and refuses only where it is told to."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import pytest

from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.cel.validating_policy import validating_policy_objects
from archfit.webhook.added_record import NAME, entry, text_of_lines
from control_plane import Refused
from drawn_pods import at_creation
from mutating_webhooks import INJECT, injecting, webhook
from pod_decisions import found
from policy_runs import decision, policy_options

UNKNOWN, NOWHERE = "archfit does not know the image ", "no node can run all images of this pod "
LOCKED = at_creation.platforms()
OPTIONS = Options(cluster_architectures=("amd64", "arm64", "s390x"))


def of(plain, name):
    return {**plain, "metadata": {**plain["metadata"], "namespace": name}}


def expected(installed, pod):
    """What the companion has to say of a pod: words of its messages."""
    decided = decision(pod, installed.name, installed.images, installed.options)
    unknown = any("its platforms are not known" in result.message for result in decided.results)
    return ({NOWHERE} if decided.outcome == "Conflict" else set()) | ({UNKNOWN} if unknown else set())


def comparable(policies, installed, plain):
    """The pods that archfit finds no error in, and that the policy does not leave alone for a reason of its own."""
    pods = [of(pod, installed.name) for pod in plain]
    looked = policies.look(installed, "variables.leftAlone.join(', ')", plain)
    decided = [decision(pod, installed.name, installed.images, installed.options) for pod in pods]
    return [
        pod
        for pod, reason, one in zip(pods, looked, decided, strict=True)
        if reason in {None, "", "unlisted-image"}
        and not any(result.severity == "error" for result in one.results)
    ]


def said(plane, pod):
    """The companion's messages, each as one of the two kinds. An API server cuts longer ones off."""
    messages = [text for text in plane.warnings(pod) if "archfit" in text]
    assert all(len(text) <= 256 for text in messages), messages
    return {kind for kind in (UNKNOWN, NOWHERE) for text in messages if kind in text}


@pytest.mark.load
@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_it_warns_where_archfit_does(carrier, policies, drawn):
    plane = policies.plane
    installed = policies.install(f"warned-{carrier}", LOCKED, OPTIONS, companion=True, carrier=carrier)
    pods = comparable(policies, installed, drawn(5, 200, elsewhere=0.5))
    unknown = next(pod for pod in pods if expected(installed, pod) == {UNKNOWN})
    policies.await_change(installed, pods)
    plane.until("the companion warns", lambda: said(plane, unknown) == {UNKNOWN})
    found = [(pod, expected(installed, pod), said(plane, pod)) for pod in pods]
    policies.remove(installed)
    assert {kind for _, wanted, _ in found for kind in wanted} == {UNKNOWN, NOWHERE}
    assert [(pod["spec"], wanted, words) for pod, wanted, words in found if wanted != words] == []


def test_with_deny_it_refuses_a_pod_that_no_node_can_run_and_no_other(policies, drawn):
    plane = policies.plane
    installed = policies.install("denied", LOCKED, OPTIONS, companion=True, deny=True)
    pods = comparable(policies, installed, drawn(5, 200, elsewhere=0.5))
    conflicts = [pod for pod in pods if NOWHERE in expected(installed, pod)]
    assert conflicts
    plane.until("the companion refuses", lambda: isinstance(plane.dry_all(conflicts[:1])[0], Refused))
    made = plane.dry_all(pods)
    policies.remove(installed)
    refused = [pod for pod, one in zip(pods, made, strict=True) if isinstance(one, Refused)]
    assert refused == conflicts
    assert {one.status for one in made if isinstance(one, Refused)} == {422}
    assert all(NOWHERE in str(one) for one in made if isinstance(one, Refused))


LOCK = {
    f"quay.io/team/{name}:1": found(offers, origin="lock")
    for name, offers in (("both", "amd64 arm64"), ("amd", "amd64"), ("arm", "arm64"))
}
LATE = "the placement of this pod does not fit its images ("
OWN_TERMS = (
    "this pod is applied with its own node affinity, which does not fit its images (quay.io/team/amd:1)"
)
OLD = "archfit wrote its policy on "


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
    installed = in_force(policies, name, late_changes=choice)
    cases = {
        ("both", "amd"): True,
        ("both", "arm"): True,
        ("amd", "arm"): True,
        ("both", "new"): True,
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
    assert {pair: LATE in said for pair, said in outcomes.items()} == cases
    assert all(said.startswith("refused 422") for said in outcomes.values() if LATE in said) == (
        choice == "deny"
    )
    assert "refused" not in "".join(said for said in outcomes.values() if LATE not in said)


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
    assert OWN_TERMS in said
    assert said.startswith("refused 422") == deny
    assert outcomes == dict.fromkeys(outcomes, "")


def webhook_record(images):
    taint = {"effect": "NoSchedule", "key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64"}
    line = entry("webhook", ("spec", "tolerations", "-"), taint)
    return {NAME: text_of_lines([line.replace('"webhook",', f'"webhook","images":{images},', 1)])}


@pytest.mark.parametrize(
    ("images", "seen", "expected"),
    [
        pytest.param(["both"], 1, set(), id="all-known"),
        pytest.param(["both", "amd"], 1, set(), id="all-known-and-the-policy-decides-too"),
        pytest.param(["new"], 1, set(), id="unknown-and-seen-by-the-webhook"),
        pytest.param(["both", "new"], 2, set(), id="one-unknown-and-seen-by-the-webhook"),
        pytest.param(["both", "new"], 1, {LATE}, id="one-unknown-that-the-webhook-did-not-see"),
        pytest.param(["new"], 2, {LATE}, id="one-taken-away-since"),
        pytest.param(["new"], None, {UNKNOWN}, id="without-the-webhook"),
    ],
)
def test_what_the_webhook_wrote_is_judged_as_far_as_it_can_be_known(in_shop, images, seen, expected):
    plane, name = in_shop
    taint = {"effect": "NoSchedule", "key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64"}
    pod = web(
        name, *images, annotations=webhook_record(seen) if seen else {}, tolerations=[taint] if seen else []
    )
    said = words(plane, pod)
    assert {kind for kind in (UNKNOWN, NOWHERE, LATE) for text in said if text.startswith(kind)} == expected


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


def test_where_no_policy_can_be_in_force_its_companion_says_nothing(policies):
    """v1beta1 is not served by this API server, as in 1.34 and 1.35 without the feature gate."""
    plane, name = policies.plane, "unserved"
    plane.namespace(name)
    selector = ({"key": "kubernetes.io/metadata.name", "operator": "In", "values": [name]},)
    settings = PolicySettings(
        name="beta.tests.archfit.dev", api_version="v1beta1", namespace_selector=selector
    )
    objects = policy_objects(LOCK, policy_options(Options()), settings)
    objects += validating_policy_objects(objects, settings)
    done = plane.kubectl(
        "apply", "--server-side", "-f", "-", stdin="\n---\n".join(map(json.dumps, objects)), check=False
    )
    assert 'no matches for kind "MutatingAdmissionPolicy"' in done.stderr
    assert "validatingadmissionpolicybinding" in done.stdout
    installed = in_force(policies, name)  # what is applied later acts: so would the other
    said = plane.warnings(web(name, "new"))
    policies.remove(installed)
    policies.remove(installed._replace(objects=objects[2:]))
    assert [text.split("'")[1] for text in said] == [f"{name}.tests.archfit.dev"]
