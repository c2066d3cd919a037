"""What a policy costs for one pod, in units of CEL: an estimate, fitted to what the API server's evaluator counts.

    base + containers * (each + overrides * of_override)

The number of images does not count: a table is looked up, not read. It is for images that are written in full, as the
table has them: a short name, as `nginx`, costs about 400 more. Terms and tolerations add less than a container.
The real costs are judged in tests/real/admission. A mutation may cost 10,000,000 (apiserver, pkg/apis/cel/config.go).
"""

from __future__ import annotations

from archfit.options.settings import Options

MAX_COST = 10_000_000
USUAL_CONTAINERS = 2
_BASE, _EACH, _OF_OVERRIDE = 1_700, 165, 64


def estimated_cost(options: Options, containers: int = USUAL_CONTAINERS) -> int:
    """For one pod with this number of containers."""
    return _BASE + containers * (_EACH + len(options.image_platforms) * _OF_OVERRIDE)
