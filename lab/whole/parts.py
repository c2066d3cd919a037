"""The parts of `make -C lab whole`: what each needs, and how it runs.

    PARTS      name -> Part; a new one is a row here, a module beside this one and a folder fixtures/whole/NAME
    run_all    each part in a process of its own, one after the other

A part runs in a network that has loopback only, so its ports are its own and nobody is asked. Everything that it starts
ends with it, also where it is killed; its folder is removed. A part that lacks a program, or whose program ends, is
named with the reason, and the others run.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import machine
from operators.build import Failed
from operators.site import alone
from whole import helmfile, karpenter, release_life, tools, undo_ways
from whole.argocd import acts
from whole.fleet import turns
from whole.flux import acts as flux_acts
from whole.flux.site import CONTROLLERS
from whole.karpenter_site import KARPENTER

# Of each part.
_PLANE = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")
_HELMS = ("helm3", "helm4")
_PR_SET_PDEATHSIG = 1
_LAST_LINES = 12


class Part(NamedTuple):
    """One system. run: in a folder; what was measured, as JSON, and what was wrong.

    programs: of machine.TABLE, more than each part needs. shown: name in the tables -> programs with its version.
    wanted: programs that are installed where they can be, and that `run` names where they are not there.
    `run` raises Failed, or AssertionError with the last words of a program that ended.
    """

    run: Callable[[Path], tuple[Mapping[str, Any], Sequence[str]]]
    programs: tuple[str, ...]
    shown: Mapping[str, tuple[str, ...]]
    wanted: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        return (*_PLANE, *self.programs)

    def versions(self) -> dict[str, str]:
        shown = {**self.shown, "Kubernetes": ("kubectl",)}
        return {
            name: " and ".join(machine.TABLE[one].version for one in programs)
            for name, programs in shown.items()
        }


class Ended(NamedTuple):
    """How a part ended. measured: None where it failed. wrong: what does not hold, or why it failed."""

    name: str
    seconds: int
    measured: Mapping[str, Any] | None
    wrong: tuple[str, ...]


PARTS: dict[str, Part] = {
    "argocd": Part(
        acts.run,
        ("redis-server", "docker-registry", "helm4", "kustomize", "argocd"),
        {"Argo CD": ("argocd",)},
    ),
    "fleet": Part(turns.run, ("redis-server", "helm4"), {}),
    "flux": Part(
        flux_acts.run,
        ("kustomize", "helm4", *CONTROLLERS),
        {name.removeprefix("flux-"): (name,) for name in CONTROLLERS},
    ),
    "helm": Part(release_life.run, _HELMS, {"Helm": _HELMS}),
    "helmfile": Part(
        helmfile.run,
        (*_HELMS, "helmfile", "helm-diff"),
        {"helmfile": ("helmfile",), "helm-diff": ("helm-diff",), "Helm": _HELMS},
    ),
    "karpenter": Part(karpenter.run, (KARPENTER,), {"Karpenter": (KARPENTER,)}),
    "tools": Part(tools.run, (*_HELMS, "check-jsonschema"), {"Helm": ("helm3",)}, tools.WANTED),
    "undo": Part(undo_ways.run, (*_HELMS, "kustomize"), {"Helm": _HELMS, "kustomize": ("kustomize",)}),
}


def run_all(parts: Mapping[str, Part]) -> list[Ended]:
    return [_run(name, part) for name, part in parts.items()]


def _run(name: str, part: Part) -> Ended:
    lacking = [program for program in part.needs if not machine.find(program)]
    if lacking:
        return Ended(name, 0, None, tuple(f"{one} is missing: {machine.TABLE[one].line}" for one in lacking))
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"archfit-whole-{name}-"))
    try:
        sys.stdout.flush()
        # A child of its own: a network that was left cannot be entered again.
        child = os.fork()
        if child == 0:
            os._exit(_child(part, folder))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        written = folder / "ended.json"
        if not written.exists():
            return Ended(name, _since(began), None, (f"it ended with status {status} and said nothing",))
        measured, wrong = json.loads(written.read_text(encoding="utf-8"))
        return Ended(name, _since(began), measured, tuple(wrong))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _child(part: Part, folder: Path) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    ended: tuple[Mapping[str, Any] | None, Sequence[str]]
    try:
        alone()
        ended = part.run(folder)
    except (Failed, AssertionError) as error:
        ended = None, ["\n  ".join(str(error).splitlines()[-_LAST_LINES:])]
    except SystemExit:
        return 1
    except BaseException:  # noqa: BLE001 - the child ends here, whatever it was
        traceback.print_exc()
        return 1
    (folder / "ended.json").write_text(json.dumps(ended), encoding="utf-8")
    return 0


def _since(began: float) -> int:
    return round(time.monotonic() - began)
