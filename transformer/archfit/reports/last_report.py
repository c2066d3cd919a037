"""Where a run leaves its report for `archfit last`.

Linux, macOS    $XDG_STATE_HOME/archfit/last.json, else ~/.local/state/archfit/last.json    (XDG Base Directory)

It is no part of `store`, which a stream without pods does not load.
"""

from __future__ import annotations

import os

from archfit.base.typing_names import Mapping

REPORT = "last.json"


def state_path(environ: Mapping[str, str]) -> str:
    """The path, "" where the user has no directory for it; XDG's has to be absolute."""
    xdg = environ.get("XDG_STATE_HOME", "")
    if xdg and os.path.isabs(xdg):
        return os.path.join(xdg, "archfit", REPORT)
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".local", "state", "archfit", REPORT) if os.path.isabs(home) else ""
