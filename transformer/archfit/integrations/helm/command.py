"""`archfit helm`, which Helm 4's plugin starts: the main job, with two defaults of its own.

    onBlank: comment     Helm 4 fails a release whose post-renderer prints nothing, even if the chart renders nothing
    hooks: recreated     Helm creates hooks and never updates one

Flags, variables and the configuration file all win over them.
"""

from __future__ import annotations

from archfit.base.errors import UsageError
from archfit.options.settings import Given, Layer
from archfit.rewrite.command import transform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO, TextIO

DEFAULTS = Layer(
    "defaults of archfit helm (onBlank, hooks)",
    {"onBlank": Given("comment", "archfit helm"), "hooks": Given("recreated", "archfit helm")},
)


def post_render(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    if argv and argv[0][:1] not in ("", "-"):
        raise UsageError(
            f"{argv[0]!r} is not expected: archfit helm is the post-renderer of Helm 4, and reads standard input: run "
            "helm template CHART | archfit, or archfit FILE"
        )
    return transform(argv, stdin, stdout, stderr, environ, DEFAULTS)
