"""A failure on the controlling terminal, for callers that throw standard error away.

Helm 4 shows `plugin "archfit" exited with error` and no word of the plugin's own (helm/helm issue 31843). Where the
user sits at a terminal, the last error is written there; elsewhere `archfit last` has it.
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.printable import visible
from archfit.typing_names import TextIO

TERMINAL = "/dev/tty"


def say_on_terminal(text: str, stderr: TextIO, environ: Mapping[str, str]) -> None:
    """Writes a line to the controlling terminal, if a plugin of Helm's has one and does not write to it anyway."""
    if not environ.get("HELM_PLUGIN_NAME") or stderr.isatty():
        return
    try:
        with open(TERMINAL, "w", encoding="utf-8", errors="replace") as terminal:
            shown = visible(text.replace("\n", " "))
            terminal.write(f"archfit: {shown} (archfit last shows the whole report)\n")
    except OSError:
        return
