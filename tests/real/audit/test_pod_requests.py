"""What pods request is what the scheduler's own Go code says they request (tests/judges/requests)."""

import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.real.audit.drawn_requests import drawn_pod, drawn_quantity

import machine
from archfit.audit.running.pod_requests import pod_requests
from archfit.cluster.quantity import milli, nano, units

PODS = 6000
QUANTITIES = 5000
# Value() and MilliValue() of more than an int64 are not defined (resource.Quantity).
_EXACT = 2**63 // 1000


@pytest.fixture(scope="module")
def judge(real):
    return machine.go_build(machine.ROOT / "tests" / "judges" / "requests", "requests-judge")


def _asked(judge: Path, question: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [judge], input=json.dumps(question).encode() + b"\n", capture_output=True, check=True, timeout=120
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_drawn_pods_request_what_the_scheduler_counts(judge):
    pods = [drawn_pod(Random(seed)) for seed in range(PODS)]
    answers = _asked(judge, {"pods": pods})["requests"]
    assert len(answers) == PODS
    for seed, (pod, expected) in enumerate(zip(pods, answers, strict=True)):
        found = {
            name: {"milli": milli(amount), "value": units(amount)}
            for name, amount in pod_requests(pod).items()
        }
        assert found == expected, f"seed {seed}: {json.dumps(pod)}"


def test_drawn_quantities_are_read_as_kubernetes_reads_them(judge):
    texts = sorted({drawn_quantity(Random(seed)) for seed in range(QUANTITIES)} - {""})
    for text, expected in zip(texts, _asked(judge, {"quantities": texts})["parsed"], strict=True):
        try:
            amount = nano(text)
        except ValueError:
            assert "error" in expected, text
            continue
        assert "error" not in expected, text
        # A negative quantity of many digits is rounded towards zero and then up: no pod may have one.
        if 0 <= milli(amount) < _EXACT:
            assert {"milli": milli(amount), "value": units(amount)} == expected, text
