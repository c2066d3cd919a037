"""A real API server calls the webhook for each pod that is created."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from control_plane import ControlPlane, Refused, pod_in
from fake_registry import FakeRegistry
from mutating_webhooks import webhook
from pod_decisions import GKE
from program import archfit
from tcp_balancer import TcpBalancer
from webhook_server import WebhookServer, until

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(*architectures: str) -> dict[str, Any]:
    expression = {"key": "kubernetes.io/arch", "operator": "In", "values": list(architectures)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {REQUIRED: terms}}


def pod(image: str, namespace: str, **metadata: Any) -> dict[str, Any]:
    return pod_in(namespace, image, metadata={"generateName": "web-", **metadata})


def placement(value: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Affinity and tolerations, without those that the API server adds to every pod."""
    own = [
        one
        for one in value["spec"].get("tolerations", [])
        if not one["key"].startswith("node.kubernetes.io/")
    ]
    return value["spec"].get("affinity"), own


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        running.index("amd", "1", ["linux/amd64"])
        running.index("both", "1", ["linux/amd64", "linux/arm64"])
        running.index("arm", "1", ["linux/arm64"])
        yield running


@pytest.fixture
def server(fake, tmp_path):
    with WebhookServer(tmp_path / "server", "--mirror", f"*={fake.url}") as running:
        yield running


@pytest.fixture
def hooked(control_plane, server):
    control_plane.namespace("hooked")
    with webhook(control_plane, "hooked", server.url, "hooked"):
        acts(control_plane, "hooked")
        yield control_plane


def acts(plane: ControlPlane, namespace: str) -> None:
    plane.until("the webhook acts", lambda: placement(plane.dry(pod("quay.io/amd:1", namespace)))[0])


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param("quay.io/amd:1", (affinity("amd64"), []), id="amd64 alone"),
        pytest.param("quay.io/both:1", (None, [GKE]), id="both"),
        pytest.param("quay.io/arm:1", (affinity("arm64"), [GKE]), id="arm64 alone"),
        pytest.param("quay.io/none:1", (None, []), id="no such image"),
    ],
)
@pytest.mark.parametrize("dry", [False, True], ids=["create", "dry run"])
def test_a_pod_is_placed_as_it_is_created(hooked, image, expected, dry):
    made = (hooked.dry if dry else hooked.create)(pod(image, "hooked"))
    assert placement(made) == expected
    again = hooked.dry({**made, "metadata": {"name": "again", "namespace": "hooked"}})
    assert placement(again) == expected


def test_the_patch_is_the_one_that_archfit_patch_writes(control_plane, server, fake):
    plain = control_plane.dry({**pod("quay.io/arm:1", control_plane.namespace("plain"))})
    ran = archfit(
        json.dumps(plain).encode(),
        *("patch", "--format", "json", "--immutable", "full", "--mirror", f"*={fake.url}"),
    )
    *placing, absent, record = server.review(plain).patch or []
    assert json.loads(ran.ok())["patches"][0]["patch"] == placing
    assert {absent["path"], record["path"]} == {"/metadata/annotations"}


def test_a_hundred_pods_are_admitted_and_warned_while_the_registry_is_down(control_plane, tmp_path):
    name = control_plane.namespace("down")
    words = ("--mirror", "*=http://127.0.0.1:9", "--image-platforms", "quay.io/amd:1=amd64")
    with WebhookServer(tmp_path / "server", *words) as server, webhook(control_plane, name, server.url, name):
        acts(control_plane, name)
        start = time.monotonic()
        made = control_plane.dry_all(pod(f"quay.io/new:{number % 10}", name) for number in range(100))
        assert [placement(one) for one in made] == [(None, [])] * 100
        assert time.monotonic() - start < 100 * 3 / 4
        ran = control_plane.kubectl("run", "warned", "-n", name, "--image=quay.io/new:1", "--dry-run=server")
        assert "Warning: archfit: quay.io/new:1: its platforms are not known" in ran.stderr


def test_a_refusal_reaches_the_user_where_the_operator_asked_for_it(control_plane, fake, tmp_path):
    name = control_plane.namespace("refusing")
    words = ("--mirror", f"*={fake.url}", "--on-conflict", "fail")
    value = pod("quay.io/amd:1", name)
    value["spec"]["containers"].append({"name": "d", "image": "quay.io/arm:1"})
    with (
        WebhookServer(tmp_path / "refusing", *words) as server,
        webhook(control_plane, name, server.url, name),
    ):
        acts(control_plane, name)
        with pytest.raises(Refused, match="no architecture is left") as caught:
            control_plane.create(value)
        assert caught.value.status == 403


def test_with_one_of_two_replicas_killed_no_create_fails_and_the_survivor_places_the_pods(
    control_plane, fake, tmp_path
):
    name = control_plane.namespace("replicas")
    words = ("--mirror", f"*={fake.url}", "--cache", str(tmp_path / "shared.sqlite"))
    with (
        WebhookServer(tmp_path / "one", *words) as one,
        WebhookServer(tmp_path / "two", *words) as two,
        TcpBalancer([one.port, two.port]) as balancer,
        webhook(control_plane, name, f"https://127.0.0.1:{balancer.port}/mutate", name),
    ):
        acts(control_plane, name)
        killed = threading.Event()
        ends = threading.Event()

        def create(worker: int) -> list[tuple[bool, bool]]:
            """(made after the kill, placed) of each pod."""
            found = []
            number = 0
            while not ends.is_set():
                number += 1
                after = killed.is_set()
                value = pod("quay.io/amd:1", name, generateName=f"w{worker}-{number}-")
                found.append((after, placement(control_plane.dry(value))[0] is not None))
            return found

        with ThreadPoolExecutor(4) as threads:
            workers = [threads.submit(create, worker) for worker in range(4)]
            until("both replicas answer", lambda: one.metric(CHANGED) > 5 and two.metric(CHANGED) > 5)
            one.process.kill()
            one.process.wait()
            killed.set()
            before = two.metric(CHANGED)
            until("the survivor answers", lambda: two.metric(CHANGED) > before + 50)
            ends.set()
            made = [pair for worker in workers for pair in worker.result()]
        assert fake.count() == 1
        after = [placed for late, placed in made if late]
        assert after
        assert all(after), f"{after.count(False)} of {len(after)} pods were not placed"


CHANGED = 'archfit_admission_requests_total{outcome="changed"}'
