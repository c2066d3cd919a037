"""Counts and requested resources of a set of workloads, and how a person reads them."""

from __future__ import annotations

from archfit.facts.facts import WorkloadFacts
from archfit.startup.record import Record


class Amount(Record):
    """workloads and pods: how many. cpu in 1/1000 CPU, memory in bytes: what the pods request together.

    Of a sum, `readiness.total` tells how many workloads there are: one may have several rows.
    """

    workloads: int = 0
    pods: int = 0
    cpu: int = 0
    memory: int = 0
    without_cpu: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.workloads + other.workloads,
            self.pods + other.pods,
            self.cpu + other.cpu,
            self.memory + other.memory,
            self.without_cpu + other.without_cpu,
        )


NOTHING = Amount()


def amount_of(workload: WorkloadFacts, assume_cpu: int) -> Amount:
    """What a workload weighs. assume_cpu: 1/1000 CPU for each pod that requests none."""
    cpu = workload.cpu + assume_cpu * workload.without_cpu
    return Amount(1, workload.pods, cpu, workload.memory, workload.without_cpu)


def percent(part: int, whole: int) -> str:
    """The share with one decimal, rounded down, so that 100 % means all; `-` of nothing."""
    if whole <= 0:
        return "-"
    tenths = part * 1000 // whole
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def cpu_text(thousandths: int) -> str:
    """1/1000 CPU as CPUs: `0.25`, `12.5`, `1,250`."""
    sign, thousandths = ("-", -thousandths) if thousandths < 0 else ("", thousandths)
    whole, rest = divmod(thousandths, 1000)
    digits = f"{rest:03d}".rstrip("0")
    return f"{sign}{whole:,}.{digits}" if digits else f"{sign}{whole:,}"


def memory_text(count: int) -> str:
    """Bytes in powers of 1,024."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TiB"
