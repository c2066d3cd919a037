"""The companion of a policy warns of random pods where archfit does, and refuses only where it is told to."""

from __future__ import annotations

import pytest

from archfit.options.settings import Options
from control_plane import Refused
from drawn_pods import at_creation
from policy_runs import decision

UNKNOWN, NOWHERE = "archfit does not know the image ", "no node can run all images of this pod "
LOCKED = at_creation.platforms()
OPTIONS = Options(cluster_architectures=("amd64", "arm64", "s390x"))


def of(plain, name):
    return {**plain, "metadata": {**plain["metadata"], "namespace": name}}


def expected(installed, pod):
    """What the companion has to say of a pod: words of its messages."""
    decided = decision(pod, installed.name, installed.images, installed.options)
    if decided.outcome == "Conflict":
        return {NOWHERE}
    return {UNKNOWN} if decided.reason.endswith(" are not known") else set()


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
    conflicts = [pod for pod in pods if expected(installed, pod) == {NOWHERE}]
    assert conflicts
    plane.until("the companion refuses", lambda: isinstance(plane.dry_all(conflicts[:1])[0], Refused))
    made = plane.dry_all(pods)
    policies.remove(installed)
    refused = [pod for pod, one in zip(pods, made, strict=True) if isinstance(one, Refused)]
    assert refused == conflicts
    assert {one.status for one in made if isinstance(one, Refused)} == {422}
    assert all(NOWHERE in str(one) for one in made if isinstance(one, Refused))
