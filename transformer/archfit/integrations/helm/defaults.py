"""The defaults of `archfit helm`, which Helm 4's plugin starts: the main job, with two defaults of its own.

    onBlank: comment     Helm 4 fails a release whose post-renderer prints nothing, even if the chart renders nothing
    hooks: recreated     Helm creates hooks and never updates one

Flags, variables and the configuration file all win over them.
"""

from __future__ import annotations

from archfit.options.layers import Given, Layer

DEFAULTS = Layer(
    "defaults of archfit helm (onBlank, hooks)",
    {"onBlank": Given("comment", "archfit helm"), "hooks": Given("recreated", "archfit helm")},
)
