"""What was measured, as Markdown tables in the pages: fixtures/whole/PART/measured.json of `make -C lab whole`, and
fixtures/bench/PROGRAM.json of benchmarks/.

<!-- whole -->       a row for each part        docs/proof.md
<!-- karpenter -->   the turns of that part     docs/clouds.md
<!-- tools -->       the tools of that part     docs/tools.md
<!-- undo -->        the ways out               docs/undo.md
<!-- bench PROGRAM -->   what it measured       docs/proof.md
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from archfit.cli.page_text import anchor

_FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
MEASURED, BENCHMARKS = _FIXTURES / "whole", _FIXTURES / "bench"
_POOLS = {
    "one-pool": "one NodePool for both",
    "tainted": "one for each, arm64 with a taint",
    "arm-first": "one for each, arm64 with more weight",
}
_WRITTEN = "as written"
UNDO_WAYS = {
    "helm3": "Helm 3: `helm upgrade` without `--post-renderer`",
    "helm4": "Helm 4: the same",
    "helm3, then helm4 --server-side": "a release of Helm 3 that Helm 4 took over with `--server-side=true`: the same",
    "kubectl apply": "`archfit web.yaml \\| kubectl apply`; then `kubectl apply` of the file itself",
    "kubectl apply --server-side": "the same with `--server-side`",
    "kubectl apply, then --server-side": "applied without `--server-side`; then `--server-side`",
    "another field manager": "applied with `--server-side --field-manager=pipeline`; then without that field manager",
    "files with --stamp": "files with `--stamp`; then `--affinity=never --tolerate=none`, and applied",
    "files with --stamp, --server-side": "the same with `--server-side`",
    "kustomize": "the KRM function; then out of the kustomization, and applied",
    "policy": "`archfit policy`; then its objects deleted",
    "webhook": "`archfit serve`; then its configuration deleted",
}
_RUNS = {"runs of Jobs": "turns", "nights": "nights"}
# Steps and doors of flux.
_NOTHING, _OUT = "as-written", "taken out"


def measured(part: str) -> Mapping[str, Any]:
    """The newest record of a part."""
    found: Mapping[str, Any] = json.loads((MEASURED / part / "measured.json").read_text(encoding="utf-8"))
    return found


def bench_table(program: str) -> str:
    """What a program of benchmarks/ measured, as it printed it."""
    path = BENCHMARKS / f"{program}.json"
    if not path.exists():
        return "Not measured yet.\n"
    record = json.loads(path.read_text(encoding="utf-8"))
    return f"Measured on {record['on']}.\n\n{_table(record['head'], record['rows'])}"


def karpenter_table() -> str:
    """The turns of Karpenter: nodes, price, and what is wrong."""
    record = measured("karpenter")
    head = (
        "NodePools",
        "Workloads",
        "Nodes amd64, arm64",
        "USD an hour",
        "Pods on an architecture that an image lacks",
        "Pods without a node",
        "DaemonSet pods that are missing",
    )
    rows = [
        (
            _POOLS[turn["pools"]],
            turn["workloads"] + ("" if turn["policy"] == "Respect" else f", {turn['policy']}"),
            ", ".join(str(turn["nodes"].get(one, 0)) for one in ("amd64", "arm64")),
            f"{turn['dollars']:.2f}",
            *(", ".join(turn[key]) or "none" for key in ("wrong", "pending", "missing")),
        )
        for turn in record["turns"]
    ]
    return f"Measured on {record['date']} with {_versions(record)}.\n\n{_table(head, rows)}"


def undo_table() -> str:
    """What the ways out leave, what rolls, and where pods are then: a row for those that leave the same.

    Where pods are then is the scheduler's draw, so a row has those of all its ways.
    """
    record = measured("undo")
    left: dict[tuple[str, ...], list[str]] = {}
    for name, way in record["ways"].items():
        left.setdefault((*way["stays"], "", *way["rolled"]), []).append(name)
    rows = [
        (
            "<br>".join(UNDO_WAYS[name] for name in names),
            *(
                ", ".join(sorted({one for name in names for one in record["ways"][name][key]})) or "nothing"
                for key in ("stays", "rolled", "pods")
            ),
        )
        for names in left.values()
    ]
    head = ("Way in, and way out", "Stays in objects", "Gets other pods", "Pods on a wrong node then")
    return f"Measured on {record['date']} with {_versions(record)}.\n\n{_table(head, rows)}"


def parts_table() -> str:
    """A row for each part that was measured."""
    rows = [
        (name, _versions(record), record["date"], str(record["seconds"]), RESULTS[name](record))
        for name, record in (
            (path.parent.name, measured(path.parent.name))
            for path in sorted(MEASURED.glob("*/measured.json"))
        )
    ]
    return _table(("Part", "With", "Date", "Seconds", "Result"), rows)


def _of_karpenter(record: Mapping[str, Any]) -> str:
    """How many pods were wrong without archfit and with it."""

    def words(turns: Sequence[Mapping[str, Any]]) -> str:
        pods, wrong, pending = (
            sum(_number(turn[key]) for turn in turns) for key in ("pods", "wrong", "pending")
        )
        return f"{wrong} where an image cannot run, {pending} without a node, of {pods} in {len(turns)} turns"

    written = [turn for turn in record["turns"] if turn["workloads"] == _WRITTEN]
    placed = [turn for turn in record["turns"] if turn["workloads"] != _WRITTEN]
    return f"pods as written: {words(written)}; with archfit: {words(placed)}"


def _of_argocd(record: Mapping[str, Any]) -> str:
    """What was synced, and how much of it without a cause."""
    healing = record["acts"][-1]
    return (
        f"{record['applications']} applications with {record['objects']} objects, {record['syncs']} syncs; OutOfSync "
        f"{record['outOfSync']} times with a cause and {record['notReal']} without; {healing['drifts']} drifts healed "
        f"in {healing['median']} s at the median; {record['pods']} pods at the end, each where all its images run"
    )


def tools_table() -> str:
    """What became of the blocks of each tool, or after what they were written."""
    record = measured("tools")
    rows = [
        (
            f"[{row['tool']}](#{anchor(row['tool'])})",
            row.get("with") or f"not run; written after {row['read']}",
            row.get("date", ""),
        )
        for row in record["tools"]
    ]
    return _table(("Tool", "Its blocks", "Run on"), rows)


def _of_tools(record: Mapping[str, Any]) -> str:
    """How many tools and CI systems were run, of those on the page."""
    tools, systems = (sum(row.get("ran") == how for row in record["tools"]) for how in ("tool", "steps"))
    return (
        f"{tools} [tools](tools.md#what-was-run), and the steps of {systems} CI systems, ended with an error and"
        " deployed nothing where archfit failed, and deployed what archfit placed where it did not"
    )


def _of_fleet(record: Mapping[str, Any]) -> str:
    """How many runs there were, and how many did not end as they must."""
    runs = {name: len(record[key]) for name, key in _RUNS.items()}
    words = ", ".join(f"{number} {name}" for name, number in runs.items())
    return f"{words}, each disturbed in one way or not at all; {record['wrong']} things did not hold"


def _of_helm(record: Mapping[str, Any]) -> str:
    """How many steps, and in how many something did not hold."""
    steps = [step for steps in record["releases"].values() for step in steps]
    return _held(f"{len(record['releases'])} releases, {len(steps)} steps", steps)


def _of_helmfile(record: Mapping[str, Any]) -> str:
    """How many steps under how many Helms, and in how many something did not hold."""
    steps = record["steps"]
    return _held(f"{len({step['helm'] for step in steps})} Helms, {len(steps)} steps", steps)


def _of_undo(record: Mapping[str, Any]) -> str:
    """How many ways out, and in how many something did not hold."""
    return _held(f"{len(record['ways'])} ways out", record["ways"].values())


def _held(what: str, steps: Iterable[Mapping[str, Any]]) -> str:
    return f"{what}: in {sum(bool(step['wrong']) for step in steps)} something did not hold"


def _of_flux(record: Mapping[str, Any]) -> str:
    """Pods that were wrong where the patches were up to date, and how often Flux was asked to reconcile."""
    kustomizations = [one for one in record["kustomizations"] if one["door"] != _NOTHING]
    doors = [*kustomizations, *record["releases"]]
    (nothing,) = (one for one in record["kustomizations"] if one["door"] == _NOTHING)
    (first,) = nothing["steps"]
    steps = [step for door in doors for step in door["steps"] if step["step"] != _OUT]
    # A mode that only warns leaves what somebody has spoiled.
    spoiled = [step for step in steps if step["step"].startswith("edited by hand") and step["unlike"]]
    old = [step for step in steps if step["ready"] and "old patches" in step["step"]]
    current = [step for step in steps if step not in (*spoiled, *old)]
    asked = sum(door["requests"] for door in doors)
    return (
        f"pods as written: {_number(first['wrong'])} of {first['pods']} where an image cannot run; with archfit:"
        f" {sum(_number(step['wrong']) for step in current)} of {sum(step['pods'] for step in current)} after"
        f" {len(current)} steps with patches for these manifests ({len(spoiled)} more after an edit by hand that drift"
        f" detection only warned of), {asked} reconciliations of {len(kustomizations)} Kustomizations and"
        f" {len(record['releases'])} HelmReleases"
    )


def _number(value: int | Sequence[str]) -> int:
    """The pods of a list such as `legacy (3)`."""
    return value if isinstance(value, int) else sum(int(one.rpartition("(")[2].rstrip(")")) for one in value)


def _versions(record: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in record["versions"].items())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "".join(f"{line}\n" for line in lines)


RESULTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "argocd": _of_argocd,
    "fleet": _of_fleet,
    "flux": _of_flux,
    "helm": _of_helm,
    "helmfile": _of_helmfile,
    "karpenter": _of_karpenter,
    "tools": _of_tools,
    "undo": _of_undo,
}
TABLES: Mapping[str, Callable[[], str]] = {
    "whole": parts_table,
    "karpenter": karpenter_table,
    "tools": tools_table,
    "undo": undo_table,
    **{f"bench {name}": partial(bench_table, name) for name in ("rows", "webhook", "audit")},
}
