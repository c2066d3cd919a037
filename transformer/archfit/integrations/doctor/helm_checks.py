"""Helm 3 and Helm 4 on PATH, and the plugin of Helm 4: where it is, whether it is current, and whether it renders.

A plugin that is installed is checked as `archfit setup helm --check` does: a chart with one Pod is rendered through it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping

from archfit.errors import ArchfitError, UsageError
from archfit.integrations.helm.installed import Helm, ask, directories, on_path
from archfit.integrations.helm.setup import home
from archfit.integrations.helm.setup_check import check_lines, plugin_folders, shared_plugins
from archfit.report.doctor_findings import MISSING, NOTE, OK, WRONG, Finding

_PLUGIN = "helm plugin"


def helm(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Each Helm of PATH, then the plugin."""
    found = on_path(environ)
    first = shutil.which("helm", path=environ.get("PATH"))
    if first and os.path.realpath(first) not in {os.path.realpath(one.path) for one in found}:
        try:
            ask(first, environ)
        except ArchfitError as error:
            yield Finding("helm", WRONG, str(error), f"{first} version")
    for major in (3, 4):
        some = [one for one in found if one.major == major]
        for one in some:
            yield Finding(f"helm {major}", OK, f"{one.version} at {one.path}")
        if not some:
            yield Finding(f"helm {major}", MISSING, "is not on PATH", "https://helm.sh/docs/intro/install")
    for one in found:
        if one.major not in {3, 4}:
            yield Finding("helm", NOTE, f"{one} is neither Helm 3 nor Helm 4")
    try:
        own = home(environ)
    except UsageError:
        own = ""
    four = next((one for one in found if one.major == 4), None)
    if four:
        yield from _plugin(four, own, environ)
    for line in shared_plugins(found, own, environ):
        yield Finding(_PLUGIN, WRONG, line, "archfit setup helm")


def _plugin(four: Helm, own: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    visible = plugin_folders(directories(four, environ))
    if not visible:
        written = bool(own) and bool(plugin_folders([own]))
        text = (
            f"is in {own}, and HELM_PLUGINS of this shell does not name it" if written else "is not installed"
        )
        yield Finding(_PLUGIN, MISSING, text, 'eval "$(archfit setup helm)"')
        return
    right = True
    for is_right, line in check_lines(four.path, own, environ):
        if not is_right:
            right = False
            yield Finding(_PLUGIN, WRONG, line, "archfit setup helm --check")
    if right:
        yield Finding(_PLUGIN, OK, f"{visible[0]}; it rendered a chart with one Pod")
