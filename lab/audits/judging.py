"""One cluster through `archfit audit` and through the calculator.

differences(cluster, folder, registry)      lines, [] where both agree
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from registry import Registry

from archfit.audit.command import run
from archfit.base.errors import ArchfitError
from audits.calculator import OWN, calculated
from audits.clusters import IMAGES, OFFERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from audits.calculator import Image, Report
    from audits.clusters import Cluster

_AMOUNT = ("workloads", "pods", "cpu", "memory", "withoutCpu")


def registry() -> Registry:
    """It serves the images that there are."""
    return Registry(OFFERED)


def differences(
    cluster: Cluster, folder: Path, served: Registry, images: Mapping[str, Image] = IMAGES
) -> list[str]:
    """`what: archfit's value, the calculator's` for each number that differs. images: what the calculator knows."""
    listed = {"apiVersion": "v1", "kind": "List", "items": cluster.objects}
    words = [
        *cluster.words,
        "--own",
        OWN,
        "--format",
        "json",
        "--cache",
        str(folder / "cache.sqlite"),
        *served.mirrors(),
    ]
    stdout, stderr = io.BytesIO(), io.StringIO()
    environ = {"HOME": str(folder), "PATH": ""}
    try:
        status = run(words, io.BytesIO(json.dumps(listed).encode()), stdout, stderr, environ)
    except ArchfitError as error:
        return [f"archfit failed: {error}"]
    if not stdout.getvalue():
        return [f"no report, exit {status}: {stderr.getvalue()}"]
    wanted = calculated(
        cluster.objects,
        images,
        cluster.required,
        assume_cpu=cluster.assume_cpu,
        allow_unknown=cluster.allow_unknown,
    )
    report = json.loads(stdout.getvalue())["findings"]
    return [
        f"{what}: {ours!r}, calculated {theirs!r}"
        for what, ours, theirs in _pairs(report, status, wanted)
        if ours != theirs
    ]


def _amount(value: dict[str, Any]) -> tuple[int, ...]:
    return tuple(value[name] for name in _AMOUNT)


def _row(value: dict[str, Any], *names: str, amounts: tuple[str, ...] = ()) -> dict[str, Any]:
    return {**{name: value[name] for name in names}, **{name: _amount(value[name]) for name in amounts}}


def _pairs(report: dict[str, Any], status: int, wanted: Report) -> Iterator[tuple[str, Any, Any]]:
    """(what, archfit's, the calculator's)."""
    states = ("ready", "blocked", "unknown", "pinned")
    ours: Any = [_row(row, "architecture", "share", "by", amounts=states) for row in report["readiness"]]
    for mine, theirs in zip(ours, wanted.readiness, strict=True):
        yield f"readiness {mine['architecture']}", mine, theirs
    for row, theirs in zip(report["daemonSets"], wanted.daemon_sets, strict=True):
        mine = _row(row, "architecture", "ready", "blocked", "unknown", "elsewhere")
        mine["notReady"] = [
            (one["namespace"], one["kind"], one["name"], one["state"]) for one in row["notReady"]
        ]
        yield f"daemonSets {row['architecture']}", mine, theirs
    amounts = ("alone", "part", "together", "cumulative", "cumulativeUnknown")
    for row, theirs in zip(report["workLists"], wanted.work_lists, strict=True):
        where = f"workLists {row['architecture']}"
        items = [_row(item, "reference", "state", "partner", amounts=amounts) for item in row["items"]]
        yield (
            f"{where} order",
            [item["reference"] for item in items],
            [item["reference"] for item in theirs["items"]],
        )
        for item, their_item in zip(items, theirs["items"], strict=False):
            yield f"{where} item", item, their_item
        pairs = {(pair["first"], pair["second"]): _amount(pair["amount"]) for pair in row["pairs"]}
        yield f"{where} pairs", pairs, theirs["pairs"]
        yield f"{where} remaining", _amount(row["remaining"]), theirs["remaining"]
    for plan, their_waves in zip(report["waves"], wanted.waves, strict=True):
        for row, their_wave in zip([*plan["waves"], plan["unknown"]], their_waves, strict=True):
            mine = _row(row, *(name for name in their_wave if name != "amount"), amounts=("amount",))
            yield f"waves {plan['architecture']} {row['number']}", mine, their_wave
    yield "apart", {row["standing"]: _amount(row["amount"]) for row in report["apart"]}, wanted.apart
    names = ("os", "architecture", "nodes", "cordoned", "notReady", "virtual", "reserved")
    groups = [
        {**_row(row, *names), "free": (row["freeCpu"], row["freeMemory"], row["freePods"])}
        for row in report["capacity"]["groups"]
    ]
    yield "groups", groups, wanted.groups
    losses = [
        {
            **_row(row, "architecture", amounts=("stranded", "uncertain")),
            "moving": _amount(row["moving"])[:4],
            "room": (row["freeCpu"], row["freeMemory"], row["freePods"]),
        }
        for row in report["capacity"]["losses"]
    ]
    yield "losses", losses, wanted.losses
    if report["required"]:
        yield "--require fails", status == 3, wanted.fails_require
