"""The affinity that an operator writes as long as its object has none: the row's template with the object's values.

{"matchLabels": {"example.com/cluster": "{metadata.name}"}}  ->  {"matchLabels": {"example.com/cluster": "logs"}}
"""

from __future__ import annotations

from archfit.base.patch import undotted
from archfit.base.typing_names import Any
from archfit.options.settings import Workload
from archfit.workloads.patterns import get
from archfit.yaml.values import Typed, text_of


def default_affinity(row: Workload, value: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The affinity that the operator writes for an object that has none, or None and what to warn of."""
    if isinstance(row.default_affinity, str):
        return None, row.default_affinity
    try:
        return _filled(row.default_affinity, value), ""
    except LookupError as missing:
        return None, (
            f"{row.kind} would lose its operator's default affinity; archfit cannot write the default too, "
            f"because {missing.args[0]} is missing"
        )


def _filled(template: Any, value: dict[str, Any]) -> Any:
    if isinstance(template, int):
        return Typed("int", str(template))
    if isinstance(template, str):
        if template[:1] != "{":
            return template
        text = text_of(get(value, undotted(template[1:-1])))
        if not text:
            raise LookupError(template[1:-1])
        return text
    if isinstance(template, dict):
        return {key: _filled(member, value) for key, member in template.items()}
    return [_filled(item, value) for item in template]
