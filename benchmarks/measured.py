"""What a program of this folder measures: a table in Markdown, line by line, and a record for the pages.

table = Table("rows", "What", "Value", "Stated")
table.row("argo-cd / yq .", "0.2", table.bound(0.2, 0.22))
table.keep()        fixtures/bench/rows.json, from which scripts/whole_tables.py writes docs/proof.md
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform

from inputs import ROOT

RECORDS = ROOT / "fixtures" / "bench"


class Table:
    """See the module. missed: how many values were beyond their bounds. python: the version that ran archfit."""

    def __init__(self, name: str, *head: str, python: str = platform.python_version()) -> None:
        machine = f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, Python {python}"
        self._name, self._head, self._rows = name, head, list[tuple[str, ...]]()
        self._on = f"{dt.datetime.now(tz=dt.UTC).date()} on {machine}, load {os.getloadavg()[0]:.1f}"
        self.missed = 0
        print(f"{self._on}\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)

    def row(self, *cells: str) -> None:
        self._rows.append(cells)
        print(f"| {' | '.join(cells)} |", flush=True)

    def bound(self, value: float, limit: float) -> str:
        """What the value must not exceed, in words; `-` for 0."""
        missed = 0 < limit < value
        self.missed += missed
        return f"≤ {limit:.3g}{' (missed)' * missed}" if limit else "-"

    def keep(self, but: str = "") -> None:
        """Writes the record. but: the first cell of rows that are only printed."""
        RECORDS.mkdir(exist_ok=True)
        rows = [row for row in self._rows if row[0] != but]
        record = {"on": self._on, "head": self._head, "rows": rows}
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        (RECORDS / f"{self._name}.json").write_text(text, encoding="utf-8")
