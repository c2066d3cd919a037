"""One HTML file from the findings of an audit: no request, no foreign code, the same bytes for the same findings.

The page's own content security policy admits this script and this style by their hashes, and nothing else: what a name
from the cluster would smuggle in could neither run nor load anything. Everything is readable without the script. Needs
the extra `audit` (Jinja2): only `command` imports it, and says what to install.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from archfit import __version__
from archfit.audit.amount import cpu_text, memory_text
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.readiness import WorkloadFinding
from archfit.audit.report import page_charts, tables, words
from archfit.audit.report.json import summary_value
from archfit.audit.report.open_questions import not_known, unknown_reasons
from archfit.audit.report.pool_words import pool_table, unread_pools
from archfit.audit.report.table import Table
from archfit.base.printable import visible
from archfit.facts.facts import SCHEMA

_FOLDER = os.path.dirname(__file__)
_CHARTS = ((880, 20), (340, 8))
"""Width of a chart of the work list, and its columns: on a screen, and on a small one."""
_ON_PAPER = 20
"""Rows of a table on paper, as page.css and page.js have it."""
_DATA = (
    *("clusters", "groups", "architectures", "daemonSets"),
    *("readiness", "workLists", "waves", "apart", "costs"),
)


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """The page in UTF-8. since: changes since an earlier audit."""
    style, script = _text("page.css"), _text("page.js")
    first = findings.readiness[0]
    text = _template().render(
        cluster=words.of_cluster(findings),
        clusters=[(cluster.name, words.cluster_words(cluster)) for cluster in findings.clusters],
        version=__version__,
        style=Markup(style),  # noqa: S704 - archfit's own
        script=Markup(script),  # noqa: S704 - archfit's own
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=Markup(_data(findings)),  # noqa: S704 - JSON without any markup
        first=first,
        share=words.ready_share(first),
        sentence=words.ready_sentence(first),
        upgrade=words.upgrade_sentence(findings),
        bars=[
            page_charts.readiness_bar(row, findings.upgrades if row is first else None)
            for row in findings.readiness
        ],
        pinned=[
            (row.architecture, words.amount_words(row.pinned))
            for row in findings.readiness
            if row.pinned.pods
        ],
        charts={
            work.architecture: [page_charts.pareto(work, row, *size) for size in _CHARTS]
            for work, row in zip(findings.work_lists, findings.readiness, strict=True)
        },
        there=words.has_nodes(findings, first.architecture),
        daemons=list(words.daemon_sentences(findings)),
        ready_daemons=_ready_daemons(findings),
        waves=_shown(map(tables.waves, words.plans(findings))),
        next_wave=words.next_wave(findings.waves[0]),
        wave_bar=page_charts.wave_bar(findings.waves[0], first),
        on_paper=_ON_PAPER,
        daemon_sets=tables.daemon_sets(findings).of("page"),
        everything_runs=words.everything_runs(findings),
        work=_shown(map(tables.work_list, findings.work_lists, findings.readiness)),
        work_left=[
            f"{work.architecture}: {words.several_at_once(work.remaining.pods)}"
            for work in findings.work_lists
            if work.remaining.pods
        ],
        node_bars=page_charts.node_bars(findings.capacity.groups, words.several(findings)),
        groups=tables.groups(findings).of("page"),
        nodes=_shown((tables.nodes(findings), tables.instances(findings), tables.mislabelled(findings))),
        pools=_shown((pool_table(findings),)),
        since=list(words.change_sentences(since)) if since else None,
        changes=_shown(map(tables.changes, since.changes)) if since else [],
        losses=words.loss_sentences(findings),
        workloads=tables.workloads(findings, sorted(findings.workloads, key=_urgency)).of("page"),
        images=tables.images(findings).of("page"),
        verdicts=findings.builds.verdicts,
        builds=_shown(tables.builds(findings)),
        apart=tables.counted_apart(findings).of("page"),
        costs=findings.costs,
        not_known=[*unknown_reasons(findings), *unread_pools(findings), *not_known(findings)],
    )
    return text.encode()


def _ready_daemons(findings: AuditFindings) -> list[str]:
    """The names of the DaemonSets that start on the first architecture's nodes and are ready, each once."""
    waiting = {(row.snapshot, row.namespace, row.name) for row in findings.daemon_sets[0].not_ready}
    at = {snapshot: f" in {name}" for snapshot, name in words.several(findings).items()}
    rows = [row.facts for row in findings.workloads if row.waves[0] is not None]
    ready = (
        f"{facts.namespace}/{facts.name}{at.get(facts.snapshot, '')}"
        for facts in rows
        if facts.standing == "daemonset" and (facts.snapshot, facts.namespace, facts.name) not in waiting
    )
    return list(dict.fromkeys(ready))


def _shown(those: Iterable[Table]) -> list[Table]:
    return [table.of("page") for table in those if table.rows]


def _urgency(row: WorkloadFinding) -> tuple[bool, bool, int]:
    """What could move and is not ready comes first, the largest of it before all."""
    return not row.movable, row.states[0] == "ready", -row.amount.cpu


def _data(findings: AuditFindings) -> str:
    """What programs may read from the page; no character of it ends the element that holds it."""
    value = summary_value(findings)
    text = json.dumps({"schema": SCHEMA, **{key: value[key] for key in _DATA}}, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _text(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _parted(value: str) -> Markup:
    whole = re.sub(r"[/@](?=.)", lambda match: f"{match[0]}\0", visible(value))
    return Markup("<wbr>").join(whole.split("\0"))


def _visible(value: Any) -> Any:
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_visible,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cpu": cpu_text, "memory": memory_text, "parted": _parted}
    return environment.from_string(_text("page.html.jinja"))
