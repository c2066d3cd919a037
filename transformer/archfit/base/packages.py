"""The command that adds Python packages to this installation of archfit, whatever put it there.

Sources: pipx, docs on `inject` and pipx_metadata.json; uv, concepts/tools and pip/environments (its tools have no pip).
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec

EXTRAS = {
    "audit": ("jinja2>=3.1.6",),
    "redis": ("redis>=7.2",),
    "zstd": ("zstandard>=0.23",),
    "serve": ("uvicorn>=0.48,<0.55", "httptools>=0.6.4", "uvloop>=0.21", "prometheus-client>=0.22"),
}
"""As pyproject.toml names them."""


def install_command(*packages: str) -> str:
    """What to type, or for the bundle to do. packages: names, with a version where one is needed."""
    if getattr(sys, "frozen", False):
        return "install archfit with Python instead of the bundle"
    names = shlex.join(packages)
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject {shlex.quote(os.path.basename(sys.prefix))} {names}"
    python = shlex.quote(sys.executable)
    if find_spec("pip") is None or os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"uv pip install --python {python} {names}"
    return f"{python} -m pip install {names}"


def missing(what: str, extra: str, name: str | None) -> str:
    """The message about an extra that is not there. what: needs it. name: of the module that cannot be imported."""
    return f"{what} needs packages that are not installed ({name}): {install_command(*EXTRAS[extra])}"
