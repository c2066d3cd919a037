"""`archfit setup helm --check`: does this Helm run archfit? One chart with one Pod, rendered for real."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping

from yaml import YAMLError, safe_load

from archfit import __version__
from archfit.base.errors import ArchfitError
from archfit.base.external_program import run_program
from archfit.cli.setup.check_lines import CHECK_POD, Line, Wrong, up_to_wrong
from archfit.integrations.helm import setup_files
from archfit.integrations.helm.installed import Helm, ask, directories, on_path, reads
from archfit.reports.report import state_path

_CHART = "apiVersion: v2\nname: archfit-check\nversion: 0.1.0\n"
_SET_UP = "run `archfit setup helm`"
_INSTALL_AGAIN = "run `helm plugin uninstall archfit`, and install the plugin of this version"
_NO_PROGRAM = "put archfit on PATH, where this plugin looks for it"


def check_lines(named: str | None, own: str, environ: Mapping[str, str]) -> Iterator[Line]:
    """A line for each thing, as soon as it is known. named: the Helm to check, else PATH's first. own: the plugins
    directory that `setup helm` would write to.
    """
    try:
        helms, broken = ([ask(named, environ)], {}) if named else on_path(environ)
    except ArchfitError as error:
        yield False, str(error)
        return
    yield from up_to_wrong(_found(helms, broken, own, environ))
    yield from ((False, line) for line in shared_plugins(helms, own, environ))


def _found(
    helms: list[Helm], broken: Mapping[str, str], own: str, environ: Mapping[str, str]
) -> Iterator[str]:
    """What is right, up to the first thing that is wrong. Raises Wrong and ArchfitError."""
    if not helms:
        none = "no helm is on PATH: install Helm, or name it with --helm PATH"
        raise Wrong(next(iter(broken.values()), none))
    helm = helms[0]
    if helm.major not in {3, 4}:
        raise Wrong(f"{helm} is neither Helm 3 nor Helm 4: name another with --helm PATH")
    yield str(helm)
    if helm.major == 4:
        yield from _plugin(helm, own, environ, alone=all(other.major != 3 for other in helms))
    else:
        program = shutil.which("archfit", path=environ.get("PATH"))
        if program is None:
            raise Wrong("no archfit is on PATH, where Helm 3 looks for it: add it, or name its whole path")
        yield f"Helm 3 starts {program}"
    yield _rendered(helm, environ)


def _plugin(helm: Helm, own: str, environ: Mapping[str, str], *, alone: bool) -> Iterator[str]:
    """Whether Helm 4 sees the plugin, and can start what it starts. alone: there is no Helm 3 beside it."""
    visible = plugin_folders(directories(helm, environ))
    if not visible:
        if not plugin_folders([own]):
            raise Wrong(f"the plugin is neither in {own} nor where Helm looks: {_SET_UP}")
        state = "does not name it" if environ.get("HELM_PLUGINS") else "is not set in this shell"
        try_it = f"HELM_PLUGINS={shlex.quote(own)} archfit setup helm --check --helm {shlex.quote(helm.path)}"
        raise Wrong(
            f"the plugin is in {own}, but HELM_PLUGINS {state}: {_SET_UP} for the line to put in your profile"
            + ("" if alone else f", or, if your profile has that line for Helm 4 only, `{try_it}`")
        )
    folder = visible[0]
    version, command = _started(os.path.join(folder, "plugin.yaml"))
    program = command.replace("${HELM_PLUGIN_DIR}", folder)
    own_files = setup_files.ours(_bytes(os.path.join(folder, "plugin.yaml")))
    again = f"{_SET_UP} again" if own_files else _INSTALL_AGAIN
    repair = f"{_SET_UP} again" if own_files else _NO_PROGRAM
    if shutil.which(program, path=environ.get("PATH")) is None:
        raise Wrong(f"the plugin in {folder} starts {program!r}, which is not there: {repair}")
    answer = run_program([program, "--version"], environ)
    if answer.status:
        last_line = (answer.complaint.strip().splitlines() or [f"exit {answer.status}"])[-1]
        raise Wrong(f"the plugin in {folder} cannot start archfit ({last_line}): {repair}")
    yield f"the plugin is in {folder} and starts {answer.text.strip()}"
    if version != __version__:
        raise Wrong(f"the plugin in {folder} is of archfit {version}, and this is {__version__}: {again}")


def plugin_folders(listed: list[str]) -> list[str]:
    """The folders of plugins named archfit below the plugins directories, in the order in which Helm looks."""
    return [
        os.path.join(directory, name)
        for directory in listed
        for name in (sorted(os.listdir(directory)) if os.path.isdir(directory) else ())
        if setup_files.claims(_bytes(os.path.join(directory, name, "plugin.yaml")))
    ]


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _started(path: str) -> tuple[str, str]:
    """Version and command of a plugin.yaml. Raises Wrong if it is none that Helm 4 could load."""
    try:
        value = safe_load(_bytes(path))
        return str(value["version"]), str(value["runtimeConfig"]["platformCommand"][0]["command"])
    except (YAMLError, LookupError, TypeError):
        raise Wrong(f"{path} is not a plugin that Helm 4 can load: {_SET_UP} again") from None


def _rendered(helm: Helm, environ: Mapping[str, str]) -> str:
    """Renders the Pod and reads archfit's report of it, which is apart from the user's last one."""
    with tempfile.TemporaryDirectory(prefix="archfit-check-") as folder:
        os.mkdir(os.path.join(folder, "templates"))
        for name, text in (("Chart.yaml", _CHART), (os.path.join("templates", "pod.yaml"), CHECK_POD)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        apart = {**environ, "XDG_STATE_HOME": folder}
        done = run_program(
            [helm.path, "template", "archfit-check", folder, "--post-renderer", "archfit"], apart
        )
        try:
            report = json.loads(_bytes(state_path(apart)))
        except ValueError:
            report = None
    stderr = done.complaint.strip().splitlines()
    if report is None:
        why = next((line for line in stderr if line.startswith("Error")), stderr[-1] if stderr else "")
        raise Wrong(f"Helm did not run archfit: {why or 'it rendered the chart without it'}")
    if report["exit"] or done.status:
        errors = [result["message"] for result in report["results"] if result["severity"] == "error"]
        raise Wrong(f"archfit failed: {'; '.join(errors) or (stderr[-1] if stderr else 'it gave no reason')}")
    for decision in report["decisions"]:
        if decision["object"]["name"] == "archfit-check":
            return f"a chart with one Pod, rendered through it: {decision['outcome']}: {decision['reason']}"
    raise Wrong(
        "archfit ran and did not see the Pod of the chart: look for another post-renderer named archfit"
    )


def shared_plugins(helms: list[Helm], own: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Every Helm 3 that reads a plugin of Helm 4, and so none of its own."""
    for helm in (helm for helm in helms if helm.major == 3):
        for directory in dict.fromkeys((*directories(helm, environ), own)):
            if plugin_folders([directory]) and reads(helm, directory, environ):
                yield (
                    f"{helm} reads the plugin in {directory}, which is for Helm 4, so it loads none of its own "
                    "plugins: set HELM_PLUGINS for Helm 4 only, as `archfit setup helm` shows"
                )
