"""Savings of the findings, from user-supplied prices. No price is built in.

--prices FILE has lines `instance-type,price`, per node and hour. A first line that holds no number is a heading; empty
lines and lines from # on are passed over. Amounts are exact decimals in the unit of the user's prices; a month is 730
hours. What their own placement keeps off the target, and wave 5, which no change of an image alone moves, is worth
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from archfit.audit.amount import cpu_text
from archfit.audit.capacity import Capacity, share_on
from archfit.audit.plan.waves import STAYS
from archfit.audit.readiness import WorkloadFinding
from archfit.base.errors import UsageError
from archfit.base.printable import few, visible
from archfit.images.platforms import ALIASES, ARCHITECTURES, no_architecture
from archfit.startup.record import Record

_HOURS = 730
_LONGEST_CURRENCY = 12
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class Prices(Record):
    """cpu: (architecture, price of one CPU for an hour). nodes: (instance type, price of one node for an hour).

    currency: the user's own word for their unit, "" where none is stated.
    """

    cpu: tuple[tuple[str, Decimal], ...] = ()
    nodes: tuple[tuple[str, Decimal], ...] = ()
    currency: str = ""

    def __bool__(self) -> bool:
        return bool(self.cpu or self.nodes)


class Saving(Record):
    """What the move from one architecture to another is worth. arithmetic: the whole calculation as a sentence.

    when: "now" (what is ready) or "work list done" (all that could move). per_hour: may be negative. cpu: 1/1000 CPU.
    """

    source: str
    target: str
    when: str
    cpu: int
    per_hour: str
    per_month: str
    arithmetic: str


class Costs(Record):
    """prices: (architecture, price per CPU-hour, where it comes from). notes: what could not be calculated, and why.

    currency: as in Prices.
    """

    prices: tuple[tuple[str, str, str], ...] = ()
    savings: tuple[Saving, ...] = ()
    notes: tuple[str, ...] = ()
    currency: str = ""


def with_currency(prices: Prices, currency: str) -> Prices:
    """The prices in what --currency names. Raises UsageError."""
    if not prices:
        raise UsageError("--currency: of what? Add --price ARCH=PRICE or --prices FILE")
    if not currency or len(currency) > _LONGEST_CURRENCY or visible(currency) != currency or " " in currency:
        raise UsageError(
            f"--currency: {currency[:40]!r} is no currency: write a word of 1 to {_LONGEST_CURRENCY} characters, "
            "such as EUR"
        )
    return prices.replace(currency=currency)


def parse_prices(stated: Sequence[str], table: str = "", name: str = "--prices") -> Prices:
    """The prices of --price and of the text of a file. name: of the file, for messages. Raises UsageError."""
    cpu: dict[str, Decimal] = {}
    for word in filter(None, map(str.strip, ",".join(stated).split(","))):
        architecture, equals, cost = word.partition("=")
        if not equals:
            raise UsageError(f"--price {word!r}: write ARCHITECTURE=PRICE, as in amd64=0.0425")
        architecture = ALIASES.get(architecture, architecture)
        if architecture not in ARCHITECTURES:
            raise UsageError(f"--price {word!r}: {no_architecture(architecture)}")
        if architecture in cpu:
            raise UsageError(f"--price names {architecture} twice")
        cpu[architecture] = _price(cost, f"--price {word!r}", "as in amd64=0.0425")
    nodes: dict[str, Decimal] = {}
    first = True
    for number, line in enumerate(table.removeprefix("\ufeff").splitlines(), 1):
        cells = [cell.strip().strip('"') for cell in line.partition("#")[0].split(",")]
        if cells == [""]:
            continue
        heading, first = first and not any(_NUMBER.fullmatch(cell) for cell in cells[1:]), False
        if heading:
            continue
        if len(cells) != 2 or not cells[0]:
            raise UsageError(f"{name} line {number}: write `instance-type,price`, as in `m7g.large,0.0816`")
        price = _price(cells[1], f"{name} line {number}", "as in `m7g.large,0.0816`")
        if nodes.setdefault(cells[0], price) != price:
            raise UsageError(f"{name} line {number}: {cells[0]!r} has two prices")
    return Prices(tuple(sorted(cpu.items())), tuple(sorted(nodes.items())))


def costs(
    prices: Prices, architectures: Sequence[str], workloads: Sequence[WorkloadFinding], nodes: Capacity
) -> Costs:
    """What the prices say of moves to these architectures, the first ones of the findings. Without prices: nothing."""
    if not prices:
        return Costs()
    known, notes = _known(prices, nodes)
    running = {name for workload in workloads for name, _ in workload.facts.runs_on if name}
    if not running:
        notes.append(
            "it is not known where anything runs, so nothing is priced: pass kubectl get nodes,pods, too"
        )
    savings = []
    running.update(name for name, _ in prices.cpu)
    for index, target in enumerate(architectures):
        for source in sorted(running - {target}):
            cpu = {"now": 0, "work list done": 0}
            stays = 0
            for workload in workloads:
                if workload.movable and workload.goes_to(target):
                    part = share_on(workload, source).cpu
                    if workload.waves[index] == STAYS:
                        stays += part
                        continue
                    cpu["work list done"] += part
                    cpu["now"] += part if workload.states[index] == "ready" else 0
            if stays:
                notes.append(
                    f"{cpu_text(stays)} CPU on {source} is in wave {STAYS}: it stays, and is worth nothing here"
                )
            if not cpu["work list done"]:
                continue
            lacking = [f"--price {name}=.." for name in (source, target) if name not in known]
            if lacking:
                words = " and ".join(lacking)
                notes.append(f"the move from {source} to {target} has no price: state {words}")
                continue
            savings += [_saving(source, target, when, cpu[when], known, prices.currency) for when in cpu]
    stated = tuple((name, _plain(price), origin) for name, (price, origin) in sorted(known.items()))
    return Costs(stated, tuple(savings), tuple(dict.fromkeys(notes)), prices.currency)


def _known(prices: Prices, nodes: Capacity) -> tuple[dict[str, tuple[Decimal, str]], list[str]]:
    """Of each architecture its price and where it is from, and what has none."""
    by_type = dict(prices.nodes)
    groups = [group for group in nodes.instances if by_type and group.os == "linux"]
    unpriced = {group.instance_type for group in groups} - by_type.keys()
    known = {}
    for architecture in dict.fromkeys(group.architecture for group in groups):
        own = [
            group for group in groups if group.architecture == architecture and group.instance_type in by_type
        ]
        money = sum((by_type[group.instance_type] * group.nodes for group in own), Decimal())
        if cpu := sum(group.cpu for group in own):
            price = (money * 1000 / cpu).quantize(Decimal("0.000001")).normalize()
            known[architecture] = price, f"nodes: {_plain(money)} per hour / {cpu_text(cpu)} allocatable CPU"
    known |= {architecture: (price, "stated") for architecture, price in prices.cpu}
    shown = sorted(name or "nodes without an instance type" for name in unpriced)
    return known, [f"no price for: {few(shown, 10)}"] if shown else []


def _saving(
    source: str, target: str, when: str, cpu: int, known: dict[str, tuple[Decimal, str]], currency: str
) -> Saving:
    unit = f" {currency}" if currency else ""
    here, there = known[source][0], known[target][0]
    per_hour = (here - there) * cpu / 1000
    per_month = per_hour * _HOURS
    hour, month = _plain(per_hour), f"{per_month.quantize(Decimal('0.01')):,f}"
    arithmetic = (
        f"{cpu_text(cpu)} CPU x ({_plain(here)} {source} - {_plain(there)} {target}) = {hour}{unit} per hour; "
        f"x {_HOURS} hours = {month}{unit} per month"
    )
    return Saving(source, target, when, cpu, hour, month, arithmetic)


def _price(text: str, where: str, example: str) -> Decimal:
    if not _NUMBER.fullmatch(text.strip()):
        raise UsageError(f"{where}: {text!r} is not a price: write a number with a point, {example}")
    return Decimal(text.strip())


def _plain(number: Decimal) -> str:
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
