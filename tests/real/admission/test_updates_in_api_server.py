"""Pods that a door changed are applied, replaced and edited again: the real API server refuses none of it.

door    policy, archfit's own webhook with the rules that its manifests have, or both

Every Pod states its own lists, which are atomic: an apply writes them without archfit's entries. One namespace has no
door, and shows that the API server refuses the same there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from admission_doors import admission_door
from archfit.admission.added_record import NAME, TERMS, entry, text_of_lines
from control_plane import ControlPlane, Refused
from pod_decisions import ARCH, GKE, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from policy_runs import Policies

OWN = {"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}
NEW = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
POOL = {"key": "pool", "operator": "In", "values": ["a"]}


class Door(NamedTuple):
    """A namespace whose pods one door sees, or both."""

    plane: ControlPlane
    namespace: str

    def manifest(self, name: str, *expressions: dict[str, Any], **spec: Any) -> dict[str, Any]:
        """A Pod for arm64 with a toleration of its own, and a required term of these expressions, if any."""
        terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
        affinity = {"affinity": {"nodeAffinity": {REQUIRED: terms}}} if expressions else {}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "containers": [{"name": "c", "image": "quay.io/team/arm:1"}],
                "tolerations": [OWN],
                **affinity,
                **spec,
            },
        }

    def run(self, *words: str, stdin: Any = None, check: bool = True, **environ: str) -> str:
        """kubectl, its words on both outputs."""
        given = None if stdin is None else json.dumps(stdin)
        done = self.plane.kubectl(*words, "-n", self.namespace, stdin=given, check=check, **environ)
        return done.stdout + done.stderr

    def apply(self, pod: dict[str, Any], *words: str) -> str:
        return self.run("apply", *words, "-f", "-", stdin=pod)

    def get(self, name: str) -> dict[str, Any]:
        made: dict[str, Any] = self.plane.get(f"/api/v1/namespaces/{self.namespace}/pods/{name}")
        return made


def placement(pod: dict[str, Any]) -> tuple[Any, ...]:
    spec = pod["spec"]
    return spec.get("affinity"), spec["tolerations"], pod["metadata"]["annotations"].get(NAME)


def expressions(pod: dict[str, Any]) -> list[dict[str, Any]]:
    (term,) = pod["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    found: list[dict[str, Any]] = term["matchExpressions"]
    return found


@pytest.fixture(scope="module", params=["policy", "webhook", "both"])
def door(request: pytest.FixtureRequest, policies: Policies, tmp_path_factory: Any) -> Iterator[Door]:
    kind = request.param
    folder: Path = tmp_path_factory.mktemp(f"updates-{kind}")
    plane, name = policies.plane, f"updates-{kind}"
    made = Door(plane, name)
    with admission_door(policies, kind, name, folder, shipped=True):
        yield made
        plane.delete(f"/api/v1/namespaces/{name}/pods")


def test_without_a_door_the_api_server_refuses_it(policies: Policies):
    bare = Door(policies.plane, policies.plane.namespace("updates-none"))
    pod = bare.manifest("web", POOL)
    made = {**pod, "spec": {**pod["spec"], "tolerations": [OWN, GKE]}}
    bare.plane.create(made)
    with pytest.raises(Refused, match="existing toleration can not be modified"):
        bare.plane.request("PUT", f"/api/v1/namespaces/{bare.namespace}/pods/web", pod)


def test_labels_annotations_and_images_change_as_ever(door: Door):
    door.apply(door.manifest("labelled"))
    first = door.get("labelled")
    door.run("label", "pod", "labelled", "tier=front")
    door.run("annotate", "pod", "labelled", "note=a")
    door.run("set", "image", "pod/labelled", "c=quay.io/team/amd:1")
    second = door.get("labelled")
    assert second["spec"]["containers"][0]["image"] == "quay.io/team/amd:1"
    assert (second["metadata"]["labels"], second["metadata"]["annotations"]["note"]) == (
        {"tier": "front"},
        "a",
    )
    assert placement(second) == placement(first)


def test_the_record_stays_as_long_as_the_pod_has_what_it_says(door: Door):
    door.apply(door.manifest("recorded"))
    first = door.get("recorded")
    forged = json.dumps([{"by": "policy", "images": 1, "path": "/spec/tolerations/-", "value": NEW}])
    for word in (f"{NAME}-", f"{NAME}={forged}"):
        door.run("annotate", "--overwrite", "pod", "recorded", word)
        assert placement(door.get("recorded")) == placement(first)
    door.run("annotate", "--overwrite", "pod", "recorded", "archfit.dev/skip=true", f"{NAME}-")
    assert placement(door.get("recorded")) == (*placement(first)[:2], None)


def test_a_forged_record_gives_a_pod_nothing(door: Door):
    line = json.dumps(
        {"by": "webhook", "images": 1, "path": "/spec/tolerations/-", "value": NEW}, separators=(",", ":")
    )
    pod = door.manifest("forged", nodeSelector={ARCH: "arm64"})
    pod["metadata"]["annotations"] = {NAME: f"[{line}]"}
    door.apply(pod)
    first = door.get("forged")
    door.apply({**pod, "metadata": {**pod["metadata"], "labels": {"tier": "front"}}})
    assert door.get("forged")["spec"]["tolerations"] == first["spec"]["tolerations"]
    assert NEW not in first["spec"]["tolerations"]


def pinned(door: Door, name: str) -> dict[str, Any]:
    """A Pod that pins itself to amd64 beside a forged record of that, with an image that nobody knows."""
    pin = {"key": ARCH, "operator": "In", "values": ["amd64"]}
    path = (*TERMS, 0, "matchExpressions", "-")
    lines = [entry(by, path, pin).replace(",", ',"images":2,', 1) for by in ("policy", "webhook")]
    pod = door.manifest(name, POOL, pin, tolerations=[OWN, GKE])
    pod["metadata"]["annotations"] = {NAME: text_of_lines(lines)}
    images = ("quay.io/team/amd:1", "quay.io/team/new:1")
    pod["spec"]["containers"] = [
        {"name": f"c{number}", "image": image} for number, image in enumerate(images)
    ]
    return pod


@pytest.mark.parametrize("managed", ["null", "[]", "[{}]", '[{"manager": "me"}]'])
def test_a_record_of_the_request_takes_no_expression_away(door: Door, managed: str):
    """However the request fills managedFields: the API server adds to them what the request has."""
    pod = pinned(door, "pinned")
    expected = expressions(pod)
    pod["metadata"]["managedFields"] = json.loads(managed)
    assert expressions(door.plane.dry(pod)) == expected


def test_a_record_that_is_applied_takes_no_expression_away(door: Door):
    pod = pinned(door, "pinned-applied")
    expected = expressions(pod)
    door.apply(pod, "--server-side")
    assert expressions(door.get("pinned-applied")) == expected


def test_a_pod_that_is_being_deleted_is_left_as_it_is(door: Door):
    pod = door.manifest("leaving")
    pod["metadata"]["finalizers"] = ["tests.archfit.dev/wait"]
    door.apply(pod)
    door.run("delete", "pod", "leaving", "--wait=false", "--grace-period=1")
    leaving = door.get("leaving")
    assert leaving["metadata"]["deletionTimestamp"]
    assert "existing toleration can not be modified" in door.run("apply", "-f", "-", stdin=pod, check=False)
    door.run("annotate", "pod", "leaving", f"{NAME}-")
    assert NAME not in door.get("leaving")["metadata"].get("annotations", {})
    door.run("patch", "pod", "leaving", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    with pytest.raises(Refused, match="not found"):
        door.plane.until("the pod is gone", lambda: not door.get("leaving"))
