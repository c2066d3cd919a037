"""What is explained, as JSON: one object with `pods` and `passedOver`; docs/explain.schema.json describes it.

Each pod has the fields of its `Place` and its `Explanation` in one object, in camelCase.
"""

from __future__ import annotations

from typing import Any

from archfit import __version__
from archfit.cluster.audit_facts_json import record_value
from archfit.report.explained import Explained
from archfit.report.json_output import json_output


def as_json(found: Explained, exit_code: int) -> bytes:
    """One JSON object."""
    return json_output(
        {
            "archfit": __version__,
            "exit": exit_code,
            "pods": [{**record_value(pod.place), **record_value(pod.explanation)} for pod in found.pods],
            "passedOver": [_flat(record_value(one)) for one in found.passed_over],
        }
    )


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    place: dict[str, Any] = value.pop("place")
    return {**place, **value}
