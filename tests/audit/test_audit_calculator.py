"""`archfit audit` on random clusters, beside a calculator that was written from docs/audit-numbers.md alone."""

from random import Random

import pytest

from audits.calculator import Image
from audits.clusters import IMAGES, drawn
from audits.judging import TAINT, changes, differences, registry

COUNT = 100
FEW = 15
"""Of a run without the tests that take long."""


@pytest.fixture(scope="module")
def served():
    with registry() as images:
        yield images


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(FEW), id="a few clusters"),
        pytest.param(range(FEW, COUNT), id="many", marks=pytest.mark.load),
    ],
)
def test_every_number_can_be_calculated_from_the_page(served, tmp_path, numbers):
    lines = [
        f"{number}: {line}"
        for number in numbers
        for line in differences(drawn(Random(f"test/{number}")), tmp_path, served)
    ]
    assert lines == []


@pytest.mark.load
@pytest.mark.parametrize(
    "tolerate", [pytest.param((), id="affinities"), pytest.param((TAINT,), id="tolerations")]
)
def test_the_plan_stays_when_it_is_followed(served, tmp_path, tolerate):
    lines = [
        f"{number}: {line}"
        for number in range(COUNT)
        for line in changes(drawn(Random(f"test/{number}")), tmp_path, served, tolerate)
    ]
    assert lines == []


def test_a_difference_is_seen(served, tmp_path):
    others = {**IMAGES, "x.example/both:1": Image(("linux/amd64",))}
    clusters = [drawn(Random(f"test/{number}")) for number in range(20)]
    assert [lines for cluster in clusters if (lines := differences(cluster, tmp_path, served, others))] != []
