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
    words = list(argv)
    while words and words[0] in {"template", "install", "upgrade", "--install", "-i"}:
        words.pop(0)
    if words and words[0][:1] not in ("", "-"):
        import shlex  # a release is rendered without it

        flags = next((at for at, word in enumerate(words) if word[:1] == "-"), None)
        named = shlex.join(words[:flags])
        right = f"to render a chart, run helm template {named} | archfit"
        if words[0].endswith((".yaml", ".yml")):
            right = f"for files, run archfit {named}"
        raise UsageError(f"archfit helm is the post-renderer of Helm 4: {right}")
    return transform(argv, stdin, stdout, stderr, environ, DEFAULTS)
