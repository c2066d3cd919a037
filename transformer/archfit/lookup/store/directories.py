"""The user's directory for the cache.

Linux and others    $XDG_CACHE_HOME/archfit, else ~/.cache/archfit     (XDG Base Directory: absolute paths only)
macOS               the same variable, else ~/Library/Caches/archfit
"""

from __future__ import annotations

import os
import sys

from archfit.base.typing_names import Mapping

FILE = "lookups.sqlite"


def default_path(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Where the cache file belongs, "" where the user has no directory for it. platform: as sys.platform."""
    xdg = environ.get("XDG_CACHE_HOME", "")
    if xdg and os.path.isabs(xdg):
        return os.path.join(xdg, "archfit", FILE)
    home = environ.get("HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):
        return ""
    caches = os.path.join("Library", "Caches") if platform == "darwin" else ".cache"
    return os.path.join(home, caches, "archfit", FILE)
