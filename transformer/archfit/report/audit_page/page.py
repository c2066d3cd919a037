"""One HTML file from the findings of an audit: no request, no foreign code, the same bytes for the same findings.

    page.html.jinja   the structure; autoescape is on      page_tables    what is in the tables
    page.css          light, dark, narrow, print           page_charts    where the lines of the charts are
    page.js           sorts, filters, shows rows in parts; everything is readable without it

The page's own content security policy admits this script and this style by their hashes, and nothing else: what a name
from the cluster would smuggle in could neither run nor load anything. Needs the extra `audit` (Jinja2).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from functools import cache
from typing import Any

from archfit import __version__, packages
from archfit.cluster.audit_amount import cpu_text, memory_text
from archfit.cluster.audit_compare import AuditComparison
from archfit.cluster.audit_facts_json import SCHEMA
from archfit.cluster.audit_findings import AuditFindings
from archfit.errors import ArchfitError
from archfit.printable import visible
from archfit.report.audit_json import findings_value
from archfit.report.audit_page import page_charts, page_tables
from archfit.report.audit_words import (
    FORMULAS,
    amount_words,
    change_sentences,
    cluster_words,
    daemon_sentences,
    everything_runs,
    loss_sentence,
    not_known,
    of_cluster,
    ready_sentence,
    ready_share,
    several,
    snapshot_names,
    unknown_reasons,
)

_FOLDER = os.path.dirname(__file__)
_MOST_COLUMNS = 20
_DATA = ("clusters", "groups", "architectures", "daemonSets", "readiness", "workLists", "apart", "costs")


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """The page in UTF-8. since: changes since an earlier audit. Raises ArchfitError where Jinja2 is not installed."""
    style, script = _text("page.css"), _text("page.js")
    charts = [
        (
            work.architecture,
            page_charts.pareto(work, readiness, 880, _MOST_COLUMNS),
            page_charts.pareto(work, readiness, 340, 8),
        )
        for work, readiness in zip(findings.work_lists, findings.readiness, strict=True)
    ]
    names = snapshot_names(findings)
    first = findings.readiness[0]
    text: str = _template().render(
        cluster=of_cluster(findings),
        clusters=[(one.name, cluster_words(one)) for one in findings.clusters],
        version=__version__,
        style=_markup(style),
        script=_markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_markup(_data(findings)),
        first=first,
        share=ready_share(first),
        sentence=ready_sentence(first),
        bars=[page_charts.readiness_bar(one) for one in findings.readiness],
        pinned=[
            (one.architecture, amount_words(one.pinned)) for one in findings.readiness if one.pinned.pods
        ],
        charts={architecture: (wide, narrow) for architecture, wide, narrow in charts},
        daemons=list(daemon_sentences(findings)),
        daemon_sets=page_tables.daemon_sets(findings),
        everything_runs=everything_runs(findings),
        work=page_tables.work_tables(findings),
        work_lists=findings.work_lists,
        node_bars=page_charts.node_bars(findings.capacity.groups, names if several(findings) else {}),
        groups=page_tables.groups(findings),
        nodes=page_tables.nodes(findings),
        since=list(change_sentences(since)) if since else None,
        changes=page_tables.changes(since) if since else (),
        losses=[loss_sentence(one) for one in findings.capacity.losses],
        workloads=page_tables.workloads(findings),
        images=page_tables.images(findings),
        verdicts=findings.builds.verdicts,
        builds=page_tables.builds(findings),
        apart=page_tables.counted_apart(findings),
        costs=findings.costs,
        not_known=[*unknown_reasons(findings), *not_known(findings)],
        formulas=FORMULAS,
    )
    return text.encode()


def _data(findings: AuditFindings) -> str:
    """What programs may read from the page; no character of it ends the element that holds it."""
    value = findings_value(findings)
    text = json.dumps({"schema": SCHEMA, **{key: value[key] for key in _DATA}}, ensure_ascii=True)
    for one in "<>&":
        text = text.replace(one, f"\\u{ord(one):04x}")
    return text


def _text(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _markup(text: str) -> Any:
    """Text of archfit's own that is no text to be escaped."""
    _template()
    from markupsafe import Markup  # it comes with Jinja2

    return Markup(text)  # noqa: S704  # the page's own script and style, and JSON without any markup


@cache
def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ArchfitError(packages.missing("--format html", "audit", error.name)) from None

    def shown(value: Any) -> Any:
        return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)

    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=shown,
        keep_trailing_newline=True,
    )

    def parted(value: str) -> Markup:
        """A long name that may be broken after its slashes."""
        whole = re.sub(r"[/@](?=.)", lambda match: f"{match[0]}\0", visible(value))
        return Markup("<wbr>").join(whole.split("\0"))

    environment.filters |= {"cpu": cpu_text, "memory": memory_text, "parted": parted}
    return environment.from_string(_text("page.html.jinja"))
