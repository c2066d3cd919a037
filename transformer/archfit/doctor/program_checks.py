"""Other programs on PATH (Helm, kustomize, kpt, kubectl, container runtimes), and how all checks are run.

An installed plugin of Helm 4 renders a chart with one Pod. kubectl is asked for its own version and for the name of its
context, which it reads from a file.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TypeAlias

from archfit.base.errors import ArchfitError, UsageError
from archfit.base.external_program import run_program, until
from archfit.doctor.findings import Diagnostic, missing, note, ok, wrong
from archfit.integrations.helm.installed import Helm, directories, on_path
from archfit.integrations.helm.setup import home
from archfit.integrations.helm.setup_check import check_lines as helm_lines
from archfit.integrations.helm.setup_check import plugin_folders, shared_plugins

_VERSION = re.compile(r"v?(\d+)\.\d+\.\d+[\w.+-]*")
_RUNTIMES = ("docker", "podman", "nerdctl")
_OLDEST_KUSTOMIZE = 4


def kustomize(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Its version; `archfit setup kustomize --check` builds with it."""
    program, version = yield from _version("kustomize", ("version",), "https://kustomize.io", environ)
    if not version:
        return
    if int(version.removeprefix("v").partition(".")[0]) < _OLDEST_KUSTOMIZE:
        yield wrong(
            "kustomize",
            f"{version} at {program} is too old: archfit needs kustomize {_OLDEST_KUSTOMIZE} or later",
            "https://kustomize.io",
        )
    else:
        yield ok("kustomize", f"{version} at {program}")


def kpt(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Whether it is there, and its version."""
    program, version = yield from _version("kpt", ("version",), "https://kpt.dev/installation", environ)
    if version:
        yield ok("kpt", f"{version} at {program}")


def containers(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Programs that start a container function."""
    runtimes = {name: program for name in _RUNTIMES if (program := _which(name, environ))}
    if not runtimes:
        yield missing(
            "containers", f"none of {', '.join(_RUNTIMES)} is on PATH", "https://docs.docker.com/get-started"
        )
        return
    text = ", ".join(runtimes.values())
    if "docker" not in runtimes:
        yield note("containers", f"{text}; kustomize starts docker alone, kpt needs KRM_FN_RUNTIME")
    else:
        yield ok("containers", f"{text}; no daemon was asked")


def kubectl(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Its version and context."""
    place = "https://kubernetes.io/docs/tasks/tools"
    program, version = yield from _version("kubectl", ("version", "--client"), place, environ)
    if not version:
        return
    yield ok("kubectl", f"{version} at {program}")
    files = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    gone = [path for path in files if not os.path.exists(path)]
    if files and len(gone) == len(files):
        yield wrong("context", f"KUBECONFIG names {', '.join(gone)}, which is not there", "unset KUBECONFIG")
        return
    done = run_program([program, "config", "current-context"], environ)
    name = done.text.strip()
    if done.status and "current-context is not set" not in done.complaint:
        yield wrong(
            "context",
            f"kubectl cannot read its configuration: {_last(done.complaint)}",
            "kubectl config view",
        )
    elif done.status or not name:
        yield missing("context", "kubectl has no current context", "kubectl config use-context NAME")
    else:
        yield ok("context", f"{name}; the cluster was not asked")


def _version(
    name: str, words: tuple[str, ...], place: str, environ: Mapping[str, str]
) -> Generator[Diagnostic, None, tuple[str, str]]:
    """Returns (path, version) of a program, with why in a finding where there is no version.

    place: where to get it.
    """
    program = _which(name, environ)
    if not program:
        yield missing(name, "is not on PATH", place)
        return "", ""
    try:
        done = run_program([program, *words], environ)
    except ArchfitError as error:
        problem = f"gave no version: {error}"
    else:
        version = _VERSION.search(done.text)
        if version and not done.status:
            return program, version[0]
        problem = f"printed no version: {_last(done.complaint or done.text) or f'exit {done.status}'}"
    yield wrong(name, f"{program} {problem}", f"{name} {' '.join(words)}")
    return program, ""


def _which(name: str, environ: Mapping[str, str]) -> str:
    return shutil.which(name, path=environ.get("PATH")) or ""


def _last(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


_PLUGIN = "helm plugin"


def helm(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Each Helm of PATH, then the plugin."""
    helms, broken = on_path(environ)
    for path, why in broken.items():
        yield wrong("helm", why, f"{path} version")
    for major in (3, 4):
        of_major = [helm for helm in helms if helm.major == major]
        for helm in of_major:
            yield ok(f"helm {major}", f"{helm.version} at {helm.path}")
        if not of_major:
            yield missing(f"helm {major}", "is not on PATH", "https://helm.sh/docs/intro/install")
    for helm in helms:
        if helm.major not in {3, 4}:
            yield note("helm", f"{helm} is neither Helm 3 nor Helm 4")
    try:
        own = home(environ)
    except UsageError:
        own = ""
    four = next((helm for helm in helms if helm.major == 4), None)
    if four:
        yield from _plugin(four, own, environ)
    for line in shared_plugins(helms, own, environ):
        yield wrong(_PLUGIN, line, "archfit setup helm")


def _plugin(four: Helm, own: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    visible = plugin_folders(directories(four, environ))
    if not visible:
        text = "is not installed"
        if own and plugin_folders([own]):
            text = f"is in {own}, and HELM_PLUGINS of this shell does not name it"
        yield missing(_PLUGIN, text, 'eval "$(archfit setup helm)"')
        return
    right = True
    for is_right, line in helm_lines(four.path, own, environ):
        if not is_right:
            right = False
            yield wrong(_PLUGIN, line, "archfit setup helm --check")
    if right:
        yield ok(_PLUGIN, f"{visible[0]}; it rendered a chart with one Pod")


Check: TypeAlias = Callable[[], Iterable[Diagnostic]]


def run_checks(checks: Mapping[str, Check], seconds: float) -> list[Diagnostic]:
    """The findings of all checks in their order, each run in a thread, all within one deadline.

    What a check gave before the deadline counts; then one more finding says that it did not end. Programs that it
    started are ended with it. checks: by the subject that a finding has where none ended in time.
    """
    ends = time.monotonic() + seconds
    diagnostics: dict[str, list[Diagnostic]] = {subject: [] for subject in checks}
    threads = {
        subject: threading.Thread(
            target=_collect, args=(check, ends, subject, diagnostics[subject]), daemon=True
        )
        for subject, check in checks.items()
    }
    for thread in threads.values():
        thread.start()
    for thread in threads.values():
        # A program that is ended at the deadline still has to be waited for.
        thread.join(max(0.0, ends - time.monotonic()) + 1.0)
    findings: list[Diagnostic] = []
    for subject, thread in threads.items():
        findings += diagnostics[subject]
        if thread.is_alive():
            late = f"did not end within {seconds:g} s, and was given up"
            findings.append(wrong(subject, late, "archfit doctor --timeout 60s"))
    return findings


def _collect(check: Check, ends: float, subject: str, into: list[Diagnostic]) -> None:
    try:
        with until(ends):
            into.extend(check())
    except ArchfitError as error:
        into.append(wrong(subject, str(error)))
    except Exception as error:  # noqa: BLE001 - one check must not hide what the others found
        into.append(wrong(subject, f"could not be checked: {type(error).__name__}: {error}"))
