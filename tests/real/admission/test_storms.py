"""Small storms around the real server: the floods of a hostile tenant in a part of their size, and other trouble.

How long a good pod takes is no matter of these tests: the machine may be busy.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from campaign.scripts import faults
from campaign.webhook.storms import LATE, Storm, played

STORMS = {
    "memory": Storm(1, 1, [("tolerations", 40, 0.0), ("long images", 4, 0.0)]),
    "answers": Storm(2, 1, [("architectures", 1, 0.0), ("new images", 100, 0.0), ("queue", 1, 0.0)]),
    "connections": Storm(3, 1, [("idle", 100, 0.0), ("idle after one", 100, 0.0), ("handshakes", 300, 0.0)]),
    "trouble": Storm(
        *(4, 1, [("odd requests", 200, 0.0), ("half bodies", 2, 0.0)]),
        troubles=[(0.1, "rotate"), (0.2, "mismatch"), (0.3, "KILL"), (0.4, "TERM"), (0.5, "expire")],
        servers=2,
        disk="nearly full",
        false={"faults": faults(random.Random(3), 3)},
    ),
}


@pytest.mark.parametrize("name", STORMS)
def test_good_pods_are_placed_and_the_server_stays_up(name: str) -> None:
    outcome = played(replace(STORMS[name], least=3.0, most=5.0))
    assert [text for text in outcome.broken if not text.startswith(LATE)] == []
    assert outcome.tally.judged["right known"]
    assert set(outcome.vectors) == {vector for vector, _, _ in STORMS[name].vectors}
