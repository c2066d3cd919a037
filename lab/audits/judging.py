"""One cluster through `archfit audit` and through the calculator.

differences(cluster, folder, registry)              lines, [] where both agree
changes(cluster, folder, registry, tolerate)        lines, [] where the plan is the same after it was followed
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from registry import Registry

import archfit
from archfit.audit.command import audit as run
from archfit.base.errors import ArchfitError
from audits.calculator import ARCH_LABELS, OWN, Image, Report, calculated
from audits.clusters import IMAGES, OFFERED, Cluster

TAINT = "kubernetes.io/arch=arm64:NoSchedule"
_AMOUNT = ("workloads", "pods", "cpu", "memory", "withoutCpu")


def registry() -> Registry:
    return Registry(OFFERED)


def differences(
    cluster: Cluster, folder: Path, served: Registry, images: Mapping[str, Image] = IMAGES
) -> list[str]:
    """`what: archfit's value, the calculator's` for each number that differs. images: what the calculator knows."""
    report, status, message = audited(cluster, folder, served)
    if report is None:
        return [message]
    wanted = calculated(
        cluster.objects,
        images,
        cluster.required,
        assume_cpu=cluster.assume_cpu,
        allow_unknown=cluster.allow_unknown,
        prices=cluster.prices,
        node_prices=cluster.node_prices,
    )
    return [
        f"{what}: {ours!r}, calculated {theirs!r}"
        for what, ours, theirs in _pairs(report, status, wanted)
        if ours != theirs
    ]


def audited(cluster: Cluster, folder: Path, served: Registry) -> tuple[dict[str, Any] | None, int, str]:
    """The findings of `archfit audit`, its exit code, and where there are no findings the reason."""
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
    if cluster.node_prices:
        table = folder / "prices.csv"
        table.write_text("".join(f"{name},{price}\n" for name, price in cluster.node_prices.items()))
        words += ["--prices", str(table)]
    stdout, stderr = io.BytesIO(), io.StringIO()
    environ = {"HOME": str(folder), "PATH": ""}
    try:
        status = run(words, io.BytesIO(json.dumps(listed).encode()), stdout, stderr, environ)
    except ArchfitError as error:
        return None, 1, f"archfit failed: {error}"
    if not stdout.getvalue():
        return None, status, f"no report, exit {status}: {stderr.getvalue()}"
    return json.loads(stdout.getvalue())["findings"], status, ""


def changes(cluster: Cluster, folder: Path, served: Registry, tolerate: Sequence[str]) -> list[str]:
    """`what: before, after` for each number of the plan that differs once archfit's own output is applied.

    tolerate: taints that it lets pods tolerate. What may differ then are the pods that may go (`allowed`, `done`).
    """
    before, _, message = audited(cluster, folder, served)
    after, _, later = audited(placed(cluster, folder, served, tolerate), folder, served)
    if before is None or after is None:
        return [message or later]
    return [
        f"{what}: {old!r}, then {new!r}"
        for (what, old), (_, new) in zip(_plan(before), _plan(after), strict=True)
        if old != new
    ]


def placed(cluster: Cluster, folder: Path, served: Registry, tolerate: Sequence[str]) -> Cluster:
    """The cluster after archfit's output was applied: its templates, and pods as their owners make them anew."""
    nodes = [value for value in cluster.objects if value["kind"] == "Node"]
    others = [value for value in cluster.objects if value["kind"] != "Node"]
    labels = [node["metadata"]["labels"] for node in nodes]
    architectures = {names[key] for names in labels for key in ARCH_LABELS if key in names}
    options: archfit.Options = {
        "clusterArchitectures": sorted({*architectures, *cluster.required, "arm64", "amd64"}),
        "tolerate": list(tolerate) or "none",
        "onAbsent": "leave",
        "onUnknown": "leave",
        "onConflict": "leave",
        "mirror": dict(word.split("=", 1) for word in served.mirrors() if "=" in word),
        "cache": str(folder / "cache.sqlite"),
    }
    return cluster._replace(objects=[*nodes, *(_applied(value, options) for value in others)])


def _applied(value: dict[str, Any], options: archfit.Options) -> dict[str, Any]:
    # archfit leaves a pod of a controller to its template: here it stands for what the controller makes of that.
    metadata = {name: part for name, part in value["metadata"].items() if name != "ownerReferences"}
    try:
        result = archfit.transform(json.dumps({**value, "metadata": metadata}), **options)
    except archfit.ArchfitError:
        return value
    return {**value, **{name: part for name, part in json.loads(result.manifests).items() if name == "spec"}}


def _plan(report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for row in report["readiness"]:
        yield f"readiness {row['architecture']}", row
    for plan in report["waves"]:
        for wave in [*plan["waves"], plan["unknown"]]:
            stays = {name: value for name, value in wave.items() if name not in ("allowed", "done")}
            yield f"wave {wave['number']} of {plan['architecture']}", stays
    yield "savings", report["costs"]["savings"]


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
    amounts = ("alone", "part", "together", "cumulative")
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
    savings = [
        {**_row(row, "source", "target", "when", "cpu"), "perHour": Fraction(row["perHour"].replace(",", ""))}
        for row in report["costs"]["savings"]
    ]
    yield "savings", savings, wanted.savings
    damaged = sorted((row["node"], row["image"]) for row in report["builds"]["damaged"])
    yield "damaged", damaged, wanted.damaged
    if report["required"]:
        yield "--require fails", status == 3, wanted.fails_require
