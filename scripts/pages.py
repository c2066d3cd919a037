"""Renews what is made from the code and read in the repository itself: `make pages`.

In Markdown, a part stands between `<!-- NAME -->` and `<!-- /NAME -->`, each on a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import command_pages
import custom_kinds
import whole_tables

ROOT = Path(__file__).resolve().parents[1]
PARTS: Mapping[str, Callable[[], str]] = {
    "options": command_pages.options_table,
    "commands": command_pages.markdown_list,
    "reference": command_pages.markdown_reference,
    "rows": custom_kinds.markdown_table,
    **whole_tables.TABLES,
}


def marked(text: str) -> str:
    """A page with the parts between its markers renewed. Raises ValueError where a marker has no end."""
    for name, content in PARTS.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        if begin:
            _old, end, after = rest.partition(f"<!-- /{name} -->\n")
            if not end:
                raise ValueError(f"the page has no line <!-- /{name} -->")
            text = f"{before}{begin}{content()}{end}{after}"
    return text


def stale() -> dict[Path, str]:
    """The files that are not as the code has them, and what they would be."""
    found = {page: marked(page.read_text(encoding="utf-8")) for page in sorted((ROOT / "docs").glob("*.md"))}
    chart = ROOT / "charts" / "archfit" / "values.schema.json"
    found[chart] = command_pages.values_schema(chart.read_text(encoding="utf-8"))
    return {path: text for path, text in found.items() if text != path.read_text(encoding="utf-8")}


if __name__ == "__main__":
    for path, text in stale().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
