"""The parameters that Argo CD's page of an application offers (ParameterAnnouncement).

    {name, title, tooltip, collectionType: string | array | map, itemType, string | array | map: the default}

Source: argo-cd v3.5.1, reposerver/repository/repository.proto. Argo CD does not send announced defaults back.
"""

from __future__ import annotations

from typing import Any

from archfit.integrations.argocd.source_parameters import ROWS
from archfit.options.describe import default_text
from archfit.options.option_types import SWITCH
from archfit.options.settings import Options
from archfit.options.table import SPEC, Option


def announcement(operators: Options) -> list[dict[str, Any]]:
    """All parameters.

    operators: the options where the application gives none; a default that the operator changed is not announced.
    """
    return [*_rendering(), *(_placement(option, operators) for option in SPEC)]


def _rendering() -> list[dict[str, Any]]:
    announced = []
    for row in ROWS:
        entry = {"name": row.name, "title": row.name, "tooltip": row.help}
        entry["collectionType"] = "string" if row.shape == "boolean" else row.shape
        announced.append(
            entry | ({"itemType": "boolean", "string": "false"} if row.shape == "boolean" else {})
        )
    return announced


def _placement(option: Option, operators: Options) -> dict[str, Any]:
    shape = (
        "array"
        if isinstance(option.default, list)
        else "map"
        if isinstance(option.default, dict)
        else "string"
    )
    if option.file_only:
        shape = "string"
    entry: dict[str, Any] = {"name": option.key, "title": option.name, "tooltip": option.help}
    entry["collectionType"] = shape
    if option.type is SWITCH:
        entry["itemType"] = "boolean"
    if getattr(operators, option.field) == getattr(Options(), option.field) and default_text(option):
        entry[shape] = option.default if shape == "array" else default_text(option)
    return entry
