"""The architectures that a pod's own nodeSelector and required node affinity leave.

Only a demand on the node's architecture counts; everything else is taken as satisfiable (`placement.affinity`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from archfit.cluster.running.object_fields import mapping
from archfit.images.platforms import ARCHITECTURES
from archfit.placement.affinity import ARCH, allowed, demands
from archfit.placement.fields import Malformed
from archfit.results import Location, ObjectRef
from archfit.source.values import typed
from archfit.workloads.pods import Pod

_ALL = frozenset(ARCHITECTURES)


def demanded_architectures(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Sorted; () where the pod spec demands none, and where nothing meets what it demands."""
    asked = {
        "nodeSelector": mapping(spec.get("nodeSelector")),
        "affinity": {"nodeAffinity": mapping(mapping(spec.get("affinity")).get("nodeAffinity"))},
    }
    if not asked["nodeSelector"] and not asked["affinity"]["nodeAffinity"]:
        return ()
    written = json.dumps(asked, sort_keys=True)
    return _demanded(written) if ARCH in written else ()


@lru_cache(maxsize=1024)
def _demanded(written: str) -> tuple[str, ...]:
    spec = typed(json.loads(written))
    pod = Pod(ObjectRef("v1", "Pod", "", ""), "", Location(1, 1), ("spec",), spec, {}, {}, ())
    try:
        found = frozenset[str]().union(*(allowed(demand, _ALL) for demand in demands(pod)))
    except Malformed:
        return ()
    return () if found == _ALL else tuple(sorted(found))
