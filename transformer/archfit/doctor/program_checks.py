"""Other programs on PATH: kustomize, kpt, kubectl, container runtimes, git.

kustomize is asked to build one Pod through archfit as an exec function, in a temporary folder. kubectl is asked for its
own version and for the name of its context, which it reads from a file; with `live` for the version of the cluster.

Helm 3 and Helm 4 on PATH, and the plugin of Helm 4: where it is, whether it is current, and whether it renders.

A plugin that is installed is checked as `archfit setup helm --check` does: a chart with one Pod is rendered through it.

Checks that run side by side, each in a thread, all of them within one deadline.

A check is a function that yields findings. What it found before the deadline counts; then one more finding says that it
did not end. Programs that it started are ended with it (`external_program.until`). A check that fails by a bug is a
finding too: the others are still of use.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from archfit.base.errors import ArchfitError, UsageError
from archfit.cli.setup.check_lines import CHECK_POD
from archfit.cli.setup.external_program import run_program, until
from archfit.doctor.findings import MISSING, NOTE, OK, WRONG, Diagnostic
from archfit.integrations.helm.installed import Helm, ask, directories, on_path
from archfit.integrations.helm.setup import home
from archfit.integrations.helm.setup_check import check_lines as helm_lines
from archfit.integrations.helm.setup_check import plugin_folders, shared_plugins
from archfit.integrations.kustomize import setup_files
from archfit.integrations.kustomize.setup_check import check_lines

_VERSION = re.compile(r"v?(\d+)\.\d+\.\d+[\w.+-]*")
_RUNTIMES = ("docker", "podman", "nerdctl")
_KUSTOMIZATION = "resources: [pod.yaml]\ntransformers: [archfit.yaml]\n"
_OLDEST_KUSTOMIZE = 4


def kustomize(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Its version, and whether it starts archfit."""
    program = _which("kustomize", environ)
    if not program:
        yield Diagnostic(
            "kustomize",
            MISSING,
            "is not on PATH",
            "https://kustomize.io",
        )
        return
    version, problem = _version([program, "version"], environ)
    if problem:
        yield Diagnostic("kustomize", WRONG, f"{program} {problem}", "kustomize version")
    elif int(version.removeprefix("v").partition(".")[0]) < _OLDEST_KUSTOMIZE:
        yield Diagnostic(
            "kustomize",
            WRONG,
            f"{version} at {program} is too old: archfit needs kustomize {_OLDEST_KUSTOMIZE} or later",
            "https://kustomize.io",
        )
    elif not _which("archfit", environ):
        yield Diagnostic(
            "kustomize", OK, f"{version} at {program}; no archfit is on PATH that it could start"
        )
    else:
        yield from _function(version, program, environ)


def _function(version: str, program: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Builds one Pod through archfit."""
    with tempfile.TemporaryDirectory(prefix="archfit-check-") as folder:
        for name, text in (
            ("kustomization.yaml", _KUSTOMIZATION),
            ("pod.yaml", CHECK_POD),
            (setup_files.NAME, setup_files.kustomize_config("")),
        ):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        command = [program, "build", "--enable-alpha-plugins", "--enable-exec", folder]
        wrong = [line for right, line in check_lines("kustomize", folder, command, environ) if not right]
        wrong = [line.replace(folder, "a folder with one Pod") for line in wrong]
    if wrong:
        yield Diagnostic("kustomize", WRONG, wrong[0], "archfit setup kustomize --check --into YOUR-FOLDER")
    else:
        yield Diagnostic("kustomize", OK, f"{version} at {program}; it ran archfit with --enable-exec")


def kpt(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Whether it is there, and its version."""
    yield from _simple("kpt", ("version",), "https://kpt.dev/installation", environ)


def git(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The same; hooks and lock files need it."""
    yield from _simple("git", ("--version",), "https://git-scm.com/downloads", environ)


def containers(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Programs that start a container function."""
    runtimes = {name: program for name in _RUNTIMES if (program := _which(name, environ))}
    if not runtimes:
        yield Diagnostic(
            "containers",
            MISSING,
            f"none of {', '.join(_RUNTIMES)} is on PATH",
            "https://docs.docker.com/get-started",
        )
        return
    text = ", ".join(runtimes.values())
    if "docker" not in runtimes:
        yield Diagnostic(
            "containers", NOTE, f"{text}; kustomize starts docker alone, kpt needs KRM_FN_RUNTIME"
        )
    else:
        yield Diagnostic("containers", OK, f"{text}; no daemon was asked")


def kubectl(environ: Mapping[str, str], *, live: bool) -> Iterator[Diagnostic]:
    """Its version and context. live: the cluster is asked for its version."""
    program = _which("kubectl", environ)
    if not program:
        yield Diagnostic("kubectl", MISSING, "is not on PATH", "https://kubernetes.io/docs/tasks/tools")
        return
    version, problem = _version([program, "version", "--client", "-o", "json"], environ)
    if problem:
        yield Diagnostic("kubectl", WRONG, f"{program} {problem}", "kubectl version --client")
        return
    yield Diagnostic("kubectl", OK, f"{version} at {program}")
    files = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    gone = [path for path in files if not os.path.exists(path)]
    if files and len(gone) == len(files):
        yield Diagnostic(
            "context", WRONG, f"KUBECONFIG names {', '.join(gone)}, which is not there", "unset KUBECONFIG"
        )
        return
    done = run_program([program, "config", "current-context"], environ)
    name = done.stdout.strip()
    if done.returncode and "current-context is not set" not in done.stderr:
        yield Diagnostic(
            "context",
            WRONG,
            f"kubectl cannot read its configuration: {_last(done.stderr)}",
            "kubectl config view",
        )
    elif done.returncode or not name:
        yield Diagnostic(
            "context", MISSING, "kubectl has no current context", "kubectl config use-context NAME"
        )
    elif live:
        yield from _cluster(program, name, environ)
    else:
        yield Diagnostic("context", OK, f"{name}; the cluster was not asked (--live asks it)")


def _cluster(program: str, name: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    done = run_program([program, "version", "-o", "json", "--request-timeout", "5s"], environ)
    try:
        server = json.loads(done.stdout)["serverVersion"]["gitVersion"]
    except (ValueError, LookupError, TypeError):
        yield Diagnostic(
            "context",
            WRONG,
            f"the cluster of {name} does not answer: {_last(done.stderr)}",
            "kubectl cluster-info",
        )
        return
    yield Diagnostic("context", OK, f"{name}; its cluster is {server}")


def _simple(
    name: str, words: tuple[str, ...], place: str, environ: Mapping[str, str]
) -> Iterator[Diagnostic]:
    program = _which(name, environ)
    if not program:
        yield Diagnostic(name, MISSING, "is not on PATH", place)
        return
    version, problem = _version([program, *words], environ)
    if problem:
        yield Diagnostic(name, WRONG, f"{program} {problem}", f"{name} {' '.join(words)}")
    else:
        yield Diagnostic(name, OK, f"{version} at {program}")


def _version(words: list[str], environ: Mapping[str, str]) -> tuple[str, str]:
    """The version that the program prints, and what is wrong with it, one of them ""."""
    try:
        done = run_program(words, environ)
    except ArchfitError as error:
        return "", f"gave no version: {error}"
    version = _VERSION.search(done.stdout)
    if done.returncode or not version:
        return "", f"printed no version: {_last(done.stderr or done.stdout) or f'exit {done.returncode}'}"
    return version[0], ""


def _which(name: str, environ: Mapping[str, str]) -> str:
    return shutil.which(name, path=environ.get("PATH")) or ""


def _last(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


_PLUGIN = "helm plugin"


def helm(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Each Helm of PATH, then the plugin."""
    helms = on_path(environ)
    first = shutil.which("helm", path=environ.get("PATH"))
    if first and os.path.realpath(first) not in {os.path.realpath(helm.path) for helm in helms}:
        try:
            ask(first, environ)
        except ArchfitError as error:
            yield Diagnostic("helm", WRONG, str(error), f"{first} version")
    for major in (3, 4):
        some = [helm for helm in helms if helm.major == major]
        for helm in some:
            yield Diagnostic(f"helm {major}", OK, f"{helm.version} at {helm.path}")
        if not some:
            yield Diagnostic(f"helm {major}", MISSING, "is not on PATH", "https://helm.sh/docs/intro/install")
    for helm in helms:
        if helm.major not in {3, 4}:
            yield Diagnostic("helm", NOTE, f"{helm} is neither Helm 3 nor Helm 4")
    try:
        own = home(environ)
    except UsageError:
        own = ""
    four = next((helm for helm in helms if helm.major == 4), None)
    if four:
        yield from _plugin(four, own, environ)
    for line in shared_plugins(helms, own, environ):
        yield Diagnostic(_PLUGIN, WRONG, line, "archfit setup helm")


def _plugin(four: Helm, own: str, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    visible = plugin_folders(directories(four, environ))
    if not visible:
        written = bool(own) and bool(plugin_folders([own]))
        text = (
            f"is in {own}, and HELM_PLUGINS of this shell does not name it" if written else "is not installed"
        )
        yield Diagnostic(_PLUGIN, MISSING, text, 'eval "$(archfit setup helm)"')
        return
    right = True
    for is_right, line in helm_lines(four.path, own, environ):
        if not is_right:
            right = False
            yield Diagnostic(_PLUGIN, WRONG, line, "archfit setup helm --check")
    if right:
        yield Diagnostic(_PLUGIN, OK, f"{visible[0]}; it rendered a chart with one Pod")


Check: TypeAlias = Callable[[], Iterable[Diagnostic]]


def run_checks(checks: Mapping[str, Check], seconds: float) -> list[Diagnostic]:
    """The findings in the order of the checks. checks: by the subject that a finding has where none ended in time."""
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
    return [
        finding
        for subject, thread in threads.items()
        for finding in (*tuple(diagnostics[subject]), *_late(subject, seconds, late=thread.is_alive()))
    ]


def _late(subject: str, seconds: float, *, late: bool) -> Sequence[Diagnostic]:
    words = f"did not end within {seconds:g} s, and was given up"
    return (Diagnostic(subject, WRONG, words, "archfit doctor --timeout 60s"),) if late else ()


def _collect(check: Check, ends: float, subject: str, into: list[Diagnostic]) -> None:
    try:
        with until(ends):
            into.extend(check())
    except ArchfitError as error:
        into.append(Diagnostic(subject, WRONG, str(error)))
    except Exception as error:  # noqa: BLE001 - one check must not hide what the others found
        into.append(Diagnostic(subject, WRONG, f"could not be checked: {type(error).__name__}: {error}"))
