"""The MariaDB operator writes a required anti-affinity, where affinity.antiAffinityEnabled is true.

Up to 0.34 only while nothing stands beside the switch, since then while there is no podAntiAffinity (base_types.go).
"""

from __future__ import annotations

from archfit.workloads.operator_hooks import OperatorHooks
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _asks(affinity: Any) -> bool:
    return isinstance(affinity, dict) and {
        name: text_of(value) for name, value in affinity.items() if value is not None
    } == {"antiAffinityEnabled": "true"}


KINDS = dict.fromkeys(("MariaDB", "MaxScale"), OperatorHooks(has_default=_asks))
