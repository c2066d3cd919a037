"""What is opened for a system that runs beside a control plane, and closed with it.

class ShopSite(ClusterSite):
    def __init__(self, folder):
        super().__init__()
        self.plane = ControlPlane(folder, *UNROUTED)
    def _prepare(self):
        self._exit.enter_context(self.plane)

with ShopSite(folder) as site: ..      all that `_prepare` entered is closed in reverse, also where it fails
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from operators.build import run

# Without a route there is no address that kube-apiserver could choose; Debian's etcd cannot say how far a watch is.
UNROUTED = ("--advertise-address=127.0.0.1", "--feature-gates=WatchList=false")
# As GKE taints its Arm nodes.
TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
_BOTH = frozenset({"amd64", "arm64"})
# The folder of an image's name says for what it is built; `moving` until its tag moves.
BUILT_FOR = {"amd": frozenset({"amd64"}), "arm64": frozenset({"arm64"}), "multi": _BOTH, "moving": _BOTH}


class ClusterSite:
    def __init__(self) -> None:
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._prepare()
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _prepare(self) -> None:
        """Open what the site needs, in `_exit`."""
        raise NotImplementedError


def built_for(spec: Mapping[str, Any], table: Mapping[str, frozenset[str]] = BUILT_FOR) -> frozenset[str]:
    """The architectures of which every image of the pod has a build, by the folder of its name."""
    images = [one["image"] for one in (*spec["containers"], *spec.get("initContainers", ()))]
    return frozenset.intersection(*(table[image.split("/")[1]] for image in images))


def is_refused(pod: Mapping[str, Any]) -> bool:
    """Whether the scheduler has said that no node takes it."""
    return any(one.get("reason") == "Unschedulable" for one in pod.get("status", {}).get("conditions", ()))


def run_git(folder: Path, *words: str) -> str:
    """What git said in a repository. Raises Failed."""
    who = {f"GIT_{role}_{what}": "shop" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    return run(f"git {words[0]}", ["git", *words], folder, **who, **settings).strip()
