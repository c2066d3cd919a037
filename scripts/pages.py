"""Renews what is made from the code and read in the repository itself: `make pages`.

In Markdown, a part stands between `<!-- NAME -->` and `<!-- /NAME -->`, in Python between `# <NAME>` and `# </NAME>`,
each on a line of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import command_pages
import custom_kinds
import whole_tables
import yaml

from archfit.api.options import NOT_FOR_PROGRAMS
from archfit.options.settings import GKE, Options
from archfit.options.table import OPERATOR, SPEC, TABLE, Option
from archfit.policy.objects import policy_text
from archfit.policy.settings import PolicySettings

ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = ROOT / "transformer" / "archfit"


def fields(options: Iterable[Option]) -> str:
    """The fields of `Options` or of `Operator`, with their defaults."""
    return "".join(f"    {option.field}: {option.type.field} = {_default(option)}\n" for option in options)


def keys() -> str:
    """The keys of the TypedDict for programs."""
    rows = [option for option in TABLE if option.key not in NOT_FOR_PROGRAMS]
    return "".join(f"    {option.key}: {option.type.written} | None\n" for option in rows)


def policy() -> str:
    """The policy for one image, as `archfit policy` writes it."""
    text = policy_text({"quay.io/team/app:1": ["amd64", "arm64"]}, Options(), PolicySettings())
    return "```yaml\n" + text.partition("---\n")[0] + "```\n"


def _default(option: Option) -> str:
    value = "" if option.default is None else option.type.data(option.default)
    if value == (GKE,):
        return "(GKE,)"
    return json.dumps(value) if isinstance(value, str) else repr(value).replace("'", '"')


def python_options() -> str:
    """For the chart: what `archfit policy` refuses, with its defaults."""
    defaults = {option.key: option.default for option in TABLE if option.admission == "python"}
    return f"{{{{- $python := fromJson `{json.dumps(defaults)}` }}}}\n"


def chart_defaults() -> str:
    """For the chart: its own values.yaml, which a template cannot read."""
    values = yaml.safe_load((ROOT / "charts" / "archfit" / "values.yaml").read_text(encoding="utf-8"))
    kept = {key: value for key, value in values.items() if key not in {"configuration", "mode", "audit"}}
    return f"{{{{- $defaults := fromJson `{json.dumps(kept)}` }}}}\n"


PARTS: Mapping[str, Callable[[], str]] = {
    "<!-- options -->": command_pages.options_table,
    "<!-- exits -->": command_pages.exits_table,
    "<!-- rows -->": custom_kinds.markdown_table,
    **{f"<!-- {name} -->": table for name, table in whole_tables.TABLES.items()},
    "<!-- policy -->": policy,
    "    # <spec fields>": lambda: fields(SPEC),
    "    # <operator fields>": lambda: fields(OPERATOR),
    "    # <keys>": keys,
    "{{- /* # <python> */}}": python_options,
    "{{- /* # <defaults> */}}": chart_defaults,
    "<!-- admission -->": command_pages.admission_table,
}


def marked(text: str) -> str:
    """A file with the parts between its markers renewed. Raises ValueError where a marker has no end."""
    for marker, content in PARTS.items():
        before, begin, rest = text.partition(f"{marker}\n")
        if begin:
            last = marker.replace("<!-- ", "<!-- /").replace("# <", "# </")
            _old, end, after = rest.partition(f"{last}\n")
            if not end:
                raise ValueError(f"there is no line {last.strip()}")
            text = f"{before}{begin}{content()}{end}{after}"
    return text


def stale() -> dict[Path, str]:
    """The files that are not as the code has them, and what they would be."""
    places = [
        *sorted((ROOT / "docs").glob("*.md")),
        _PACKAGE / "options" / "settings.py",
        _PACKAGE / "api" / "options.py",
        ROOT / "charts" / "archfit" / "templates" / "values.yaml",
    ]
    found = {path: marked(path.read_text(encoding="utf-8")) for path in places}
    chart = ROOT / "charts" / "archfit" / "values.schema.json"
    found[chart] = command_pages.values_schema(chart.read_text(encoding="utf-8"))
    return {path: text for path, text in found.items() if text != path.read_text(encoding="utf-8")}


if __name__ == "__main__":
    for path, text in stale().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
