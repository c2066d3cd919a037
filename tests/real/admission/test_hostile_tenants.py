"""A good tenant's new image is looked up whatever others do with registries that hang.

A registry that hangs holds each request until the test ends. The good tenant's own request may take 24 seconds here,
for a busy machine; it takes well below one where nothing else runs.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from admission_reviews import Answered, pod
from fake_registry import Answer, Asked, FakeRegistry
from webhook_server import WebhookServer

PATIENCE = "30s"
Flood = list[tuple[str, list[str]]]


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        for number in range(4):
            running.index("good", str(number), ["linux/amd64"])
        hangs = threading.Event()

        def script(asked: Asked) -> Answer | None:
            return Answer(hold=hangs) if asked.repository == "slow" else None

        running.on(script)
        yield running
        hangs.set()


@pytest.fixture
def server(fake, tmp_path):
    with WebhookServer(tmp_path / "server", "--mirror", f"*={fake.url}") as running:
        yield running


FLOODS: dict[str, Flood] = {
    "4 pods of 256 images": [
        (f"bad{one}", [f"r{image}.bad{one}.example/slow:1" for image in range(256)]) for one in range(4)
    ],
    # They have answered before, so that they are known.
    "100 namespaces, 100 registries": [
        *((f"bad{one}", [f"bad{one}.example/good:0"]) for one in range(100)),
        *((f"bad{one}", [f"bad{one}.example/slow:{image}" for image in range(10)]) for one in range(100)),
    ],
}


def attack(server: WebhookServer, flood: Flood) -> None:
    """Create the pods; nobody waits for their answers any longer, and their lookups go on."""

    def create(one: tuple[str, list[str]]) -> Answered:
        return server.review(pod(*one[1]), timeout="1s", namespace=one[0])

    with ThreadPoolExecutor(16) as threads:
        assert all(answered.allowed for answered in threads.map(create, flood))
    assert server.metric("archfit_admission_deadlines_total") > 0


@pytest.mark.parametrize("name", FLOODS)
def test_a_new_image_of_another_tenant_is_looked_up(server, name):
    assert server.review(pod("hub.example/good:0"), PATIENCE, namespace="good").patch
    attack(server, FLOODS[name])
    assert server.review(pod("hub.example/good:1"), PATIENCE, namespace="good").patch
    assert server.review(pod("new.example/good:2"), PATIENCE, namespace="fine").patch
