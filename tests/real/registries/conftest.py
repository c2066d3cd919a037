"""The runtimes' own code, as a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.real.registries.runtime_judge import RuntimeJudge

import machine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def runtimes() -> Iterator[RuntimeJudge]:
    binary = machine.go_build(machine.ROOT / "tests" / "judges" / "runtime", "runtime_judge")
    with RuntimeJudge(binary) as judge:
        yield judge
