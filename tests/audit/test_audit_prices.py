"""The prices that the user states, and the arithmetic that the reports show."""

import re
from decimal import Decimal

import pytest
from tests.audit.audit_clusters import BOTH, facts_of, node

from archfit.audit.findings import findings
from archfit.audit.prices import Prices, parse_prices
from archfit.base.errors import UsageError
from archfit.images.platforms import parse_platform

ARM = [parse_platform("arm64")]


def cluster():
    return facts_of(
        ("ready", 4, 10_000, {"a": BOTH}),
        ("blocked", 4, 2_000, {"b": ("amd64",)}),
        nodes=(node("x", "amd64", 8000, instance_type="m6i"), node("y", "arm64", 4000, instance_type="m7g")),
        runs_on=(("amd64", 3), ("arm64", 1)),
    )


@pytest.mark.parametrize(
    ("stated", "table", "prices"),
    [
        pytest.param((), "", Prices(), id="none"),
        pytest.param(["amd64=0.5,arm64=0.25"], "", Prices((("amd64", Decimal("0.5")), ("arm64", Decimal("0.25")))), id="both"),
        pytest.param(["arm64=1", "amd64=2"], "", Prices((("amd64", Decimal(2)), ("arm64", Decimal(1)))), id="repeated-flag"),
        pytest.param((), 'instance-type,price\n# on demand\n\nm7g.large, 0.08 # eu\n"m6i",0.1\n', Prices((), (("m6i", Decimal("0.1")), ("m7g.large", Decimal("0.08")))), id="a-file"),
        pytest.param((), "\ufeffm6i,1\r\nm6i,1\r\n", Prices((), (("m6i", Decimal(1)),)), id="no-heading-and-a-mark"),
    ],
)  # fmt: skip
def test_prices_are_read_as_exact_decimals(stated, table, prices):
    assert parse_prices(stated, table) == prices


@pytest.mark.parametrize(
    ("stated", "table", "message"),
    [
        pytest.param(["armv8=1"], "", "write 'arm64'", id="another-name"),
        pytest.param(["amd64"], "", "--price 'amd64': write ARCHITECTURE=PRICE", id="no-number"),
        pytest.param(["0.04"], "", "--price '0.04': write ARCHITECTURE=PRICE", id="no-architecture"),
        pytest.param(["amd64="], "", "'' is not a price", id="an-empty-number"),
        pytest.param(["arm64=1,aarch64=2"], "", "--price names arm64 twice", id="one-in-two-spellings"),
        pytest.param(["amd64=-1"], "", "'-1' is not a price", id="negative"),
        pytest.param(["amd64=1e3"], "", "'1e3' is not a price", id="exponent"),
        pytest.param(["amd64=NaN"], "", "'NaN' is not a price", id="not-a-number"),
        pytest.param(["amd64=1,amd64=2"], "", "names amd64 twice", id="twice"),
        pytest.param((), "m6i,1\nm7g\n", "FILE line 2: write `instance-type,price`", id="a-cell-is-missing"),
        pytest.param((), "m6i,1\nm7g,1,2\n", "FILE line 2", id="a-cell-too-many"),
        pytest.param((), "m6i,1\nm7g,free\n", "FILE line 2: 'free' is not a price", id="a-word"),
        pytest.param((), "m6i,1\nm6i,2\n", "FILE line 2: 'm6i' has two prices", id="two-prices"),
    ],
)
def test_a_wrong_price_is_an_error_that_says_where(stated, table, message):
    with pytest.raises(UsageError) as caught:
        parse_prices(stated, table, "FILE")
    assert message in str(caught.value)


def test_without_prices_nothing_is_calculated():
    assert findings(cluster(), ARM).costs.savings == ()


def test_the_saving_is_cpu_elsewhere_that_is_ready_times_the_difference():
    costs = findings(cluster(), ARM, parse_prices(["amd64=0.04,arm64=0.03"])).costs
    now, done = costs.savings
    assert (now.when, now.cpu, now.per_hour, now.per_month) == ("now", 7500, "0.075", "54.75")
    assert (done.when, done.cpu, done.per_hour, done.per_month) == ("work list done", 9000, "0.09", "65.70")
    assert now.arithmetic == (
        "7.5 CPU x (0.04 amd64 - 0.03 arm64) = 0.075 per hour; x 730 hours = 54.75 per month"
    )


def test_what_stays_is_worth_nothing_and_is_said():
    stays = facts_of(
        ("gpu", 1, 29_000, {"x": BOTH}), ("web", 1, 5_000, {"x": BOTH}), nodes=(node("n", "amd64", 64_000),),
        runs_on=(("amd64", 1),),
    )  # fmt: skip
    rows = tuple(
        one.replace(devices=("nvidia.com/gpu",)) if one.name == "gpu" else one for one in stays.workloads
    )
    costs = findings(
        stays.replace(workloads=rows), prices=parse_prices(["amd64=0.048546,arm64=0.041264"])
    ).costs
    assert [(one.when, one.cpu) for one in costs.savings] == [("now", 5000), ("work list done", 5000)]
    assert costs.notes == ("29 CPU on amd64 is in wave 5: it stays, and is worth nothing here",)


@pytest.mark.parametrize("cpu", [1, 34_000, 5_700_050, 25_210_900])
def test_the_digits_that_are_shown_multiply(cpu):
    prices = parse_prices(["amd64=0.048546,arm64=0.041264"])
    facts = facts_of(("web", 1, cpu, {"x": BOTH}), runs_on=(("amd64", 1),))
    now, _ = findings(facts, prices=prices).costs.savings
    numbers = [
        Decimal(word)
        for word in re.findall(r"[0-9][0-9,.]*[0-9]|[0-9]", re.sub(r"(amd|arm)64|,", "", now.arithmetic))
    ]
    amount, here, there, hour, hours, month = numbers
    assert amount * (here - there) == hour
    assert round(hour * hours, 2) == month


def test_instance_prices_become_prices_of_a_cpu():
    costs = findings(cluster(), ARM, parse_prices((), "m6i,0.4\nm7g,0.1\n")).costs
    assert costs.prices == (
        ("amd64", "0.05", "nodes: 0.4 per hour / 8 allocatable CPU"),
        ("arm64", "0.025", "nodes: 0.1 per hour / 4 allocatable CPU"),
    )


def test_what_has_no_price_is_said():
    costs = findings(cluster(), ARM, parse_prices((), "m6i,0.4\n")).costs
    assert costs.savings == ()
    assert costs.notes == (
        "no price for: m7g",
        "the move from amd64 to arm64 has no price: state --price arm64=..",
    )
