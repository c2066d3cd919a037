"""Small storms around the real server: the floods of a hostile tenant in a part of their size, and other trouble.

How long a good pod takes is no matter of these tests: the machine may be busy.
"""

import random
import signal
import threading
from dataclasses import replace

import pytest

from admission_reviews import pod
from campaign.scripts import faults
from campaign.webhook.good_tenant import GoodTenant, Tally
from campaign.webhook.served import Served
from campaign.webhook.storms import LATE, Storm, played
from fake_registry import FakeRegistry

STORMS = {
    "memory": Storm(1, 1, [("tolerations", 40, 0.0), ("long images", 4, 0.0), ("long names", 4, 0.0)]),
    "answers": Storm(
        2, 1, [("architectures", 1, 0.0), ("bodies", 15, 0.0), ("new images", 100, 0.0), ("queue", 1, 0.0)]
    ),
    "connections": Storm(3, 1, [("idle", 100, 0.0), ("idle after one", 100, 0.0), ("handshakes", 300, 0.0)]),
    "crumbs": Storm(5, 1, [("crumbs", 60, 0.0), ("continues", 60, 0.0), ("silent", 200, 0.0)]),
    "trouble": Storm(
        *(4, 1, [("odd requests", 200, 0.0), ("half bodies", 2, 0.0)]),
        troubles=[(0.1, "rotate"), (0.2, "mismatch"), (0.3, "KILL"), (0.4, "TERM"), (0.5, "expire")],
        servers=2,
        disk="nearly full",
        false={"faults": faults(random.Random(3), 3)},
    ),
}


@pytest.mark.parametrize("name", STORMS)
def test_good_pods_are_placed_and_the_server_stays_up(name):
    outcome = played(replace(STORMS[name], least=3.0, most=5.0))
    assert [text for text in outcome.broken if not text.startswith(LATE)] == []
    assert outcome.tally.judged["right known"]
    assert set(outcome.vectors) == {vector for vector, _, _ in STORMS[name].vectors}


def test_sigterm_ends_a_server_whose_log_nobody_reads(tmp_path):
    with FakeRegistry() as registry, Served(tmp_path, {"good.invalid": registry.port}) as server:
        server.listens(False)
        tenant = GoodTenant(server.port, "1 1 1", Tally(), threading.Lock(), lies=False)
        for _ in range(300):
            tenant.send(pod("good.invalid/team/amd:1", name="n" * 500), "known")
        tenant.close()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
