"""Dashboards of Grafana and rules of Prometheus: what they ask for, and whether somebody has it.

read(path)                     a dashboard
queries(dashboard, **values)   its expressions, with what Grafana puts for its variables
wrong(expression, exposed)     metrics, labels and values that nobody exposes
exposed_by(text)               of Prometheus' text format
complaints(dashboard, folder)  of the TypeScript compiler, with Grafana's own schema; "" for none
promtool(folder, verb, value)  `promtool VERB rules`
"""

import json
import re
from pathlib import Path
from typing import Any

import machine

# What others expose: Prometheus itself; kube-state-metrics, docs/metrics/workload/cronjob-metrics.md.
OF_OTHERS = {
    "up": {"job", "namespace"},
    "kube_cronjob_spec_suspend": {"cronjob", "namespace"},
    "kube_cronjob_status_last_schedule_time": {"cronjob", "namespace"},
    "kube_cronjob_status_last_successful_time": {"cronjob", "namespace"},
}
_OF_A_TARGET = {"job", "namespace", "pod"}
_WORDS = {"and", "or", "unless", "by", "on", "ignoring", "group_left"}


# Label -> the values that are always there, empty where they come with requests.
Labels = dict[str, set[str]]


def read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def queries(dashboard: dict[str, Any], **values: str) -> list[str]:
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    put = {"__rate_interval": "5m", **values}
    return [re.sub(r"\$(\w+)", lambda name: put[name[1]], expression) for expression in found]


def exposed_by(text: str) -> dict[str, Labels]:
    """The samples by their names."""
    found: dict[str, Labels] = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            found[name + suffix] = {}
    for name, labels in re.findall(r"^(\w+)\{(.*)\} \S+$", text, re.MULTILINE):
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            found[name].setdefault(label, set()).add(value)
    return found


def promtool(folder: Path, verb: str, value: Any) -> str:
    """What it says. Raises AssertionError where it complains."""
    path = folder / f"{verb}.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    done = machine.run([machine.tool("promtool"), verb, "rules", path])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def recorded(expressions: list[str]) -> dict[str, Any]:
    """A file of rules that asks each."""
    found = [{"record": f"a:{number}", "expr": one} for number, one in enumerate(expressions)]
    return {"groups": [{"name": "a", "rules": found}]}


def selectors(expression: str) -> list[tuple[str, dict[str, tuple[str, str]]]]:
    """(metric, label -> (operator, value)) of each selector."""
    found = re.findall(r"\b([a-z]\w*)\{([^}]*)\}", expression)
    return [
        (
            name,
            {label: (sign, value) for label, sign, value in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', text)},
        )
        for name, text in found
    ]


def names(expression: str) -> set[str]:
    """The metrics of an expression, also without a selector."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|ignoring)\s*\([^)]*\)', " ", expression)
    return {name for name in re.findall(r"\b[a-zA-Z_]\w*\b(?!\s*\()", bare) if name not in _WORDS}


def wrong(expression: str, exposed: dict[str, Labels]) -> list[str]:
    """What the expression asks for and nobody has: metrics, labels, values of labels."""
    found = [name for name in names(expression) if name not in exposed and name not in OF_OTHERS]
    for name, matchers in selectors(expression):
        known = exposed[name] if name in exposed else {label: set() for label in OF_OTHERS.get(name, ())}
        for label, (sign, value) in matchers.items():
            if label not in known and label not in _OF_A_TARGET and known:
                found.append(f"{name}{{{label}}}")
            words = value.split("|") if sign.endswith("~") else [value]
            there = known.get(label) or set(words)
            found += [f"{name}{{{label}={word}}}" for word in words if word not in there]
    return found


_PLAIN = """\
type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[]
  : T extends object ? {[K in keyof T]: Plain<T[K]>} : T;
type Some<T> = T extends (infer U)[] ? Some<U>[] : T extends object ? {[K in keyof T]?: Some<T[K]>} : T;
"""


def complaints(dashboard: dict[str, Any], folder: Path) -> str:
    """A dashboard as literals of the types of @grafana/schema: an unknown field or value is an error."""
    tsc = Path(machine.tool("tsc")).resolve()
    (folder / "node_modules").symlink_to(tsc.parents[2])
    schema = "./node_modules/@grafana/schema/dist/types/raw"
    lines = [f"import type {{Dashboard, Panel}} from '{schema}/dashboard/x/types.gen';", _PLAIN]
    lines += [
        f"import type {{Options as {kind}}} from '{schema}/composable/{kind}/panelcfg/x/types.gen';"
        for kind in sorted({panel["type"] for panel in dashboard["panels"]})
    ]
    lines.append(f"export const dashboard: Plain<Dashboard> = {json.dumps({**dashboard, 'panels': []})};")
    for number, panel in enumerate(dashboard["panels"]):
        lines.append(f"export const panel{number}: Plain<Panel> = {json.dumps(panel)};")
        options = json.dumps(panel.get("options", {}))
        lines.append(f"export const options{number}: Some<Plain<{panel['type']}>> = {options};")
    (folder / "dashboard.ts").write_text("\n".join(lines), encoding="utf-8")
    words = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "dashboard.ts")
    done = machine.run([tsc, *words], cwd=folder)
    assert (done.returncode == 0) == (not done.stdout), done.stderr
    return done.stdout
