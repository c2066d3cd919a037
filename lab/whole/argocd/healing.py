"""Ten minutes in which somebody changes objects all the time, while programs are killed and registries go.

DRIFTS    what somebody does with kubectl, in turn
FAULTS    what fails, at which share of the time
"""

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from whole.argocd.bench import Bench
from whole.argocd.watch import SYNCED

_ARCH = "kubernetes.io/arch"


class Drift(NamedTuple):
    """What somebody does with kubectl to an object of an application. patch: "" deletes it."""

    application: str
    what: str
    resource: str
    patch: str = ""


def _without(*path: str) -> str:
    return json.dumps([{"op": "remove", "path": "/spec/template/spec/" + "/".join(path)}])


def _set(value: Any, *path: str) -> str:
    return json.dumps([{"op": "add", "path": "/" + "/".join(path), "value": value}])


_TOLERATES_NOTHING = _without("tolerations")
_GOES_ANYWHERE = _without("affinity")
ON_ARM = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": _ARCH, "operator": "In", "values": ["arm64"]}]}
            ]
        }
    }
}
_IMAGE = _set("img.test/multi/front:1", "spec", "template", "spec", "containers", "0", "image")
DRIFTS = (
    Drift("plain", "affinity removed", "deployment/front", _GOES_ANYWHERE),
    Drift("chart", "affinity removed", "deployment/chart", _GOES_ANYWHERE),
    Drift("kustomized", "tolerations removed", "deployment/search", _TOLERATES_NOTHING),
    Drift("apply-server-side", "affinity removed", "deployment/intel", _GOES_ANYWHERE),
    Drift("replace", "scaled", "deployment/multi", _set(4, "spec", "replicas")),
    Drift("diff-server-side", "tolerations removed", "statefulset/arm", _TOLERATES_NOTHING),
    Drift("parameters", "image changed", "deployment/basket", _IMAGE),
    Drift(
        "moving", "sent to arm64", "deployment/moving", _set(ON_ARM, "spec", "template", "spec", "affinity")
    ),
    Drift("plain", "tolerations removed", "daemonset/agent", _TOLERATES_NOTHING),
    Drift("replace", "affinity removed", "deployment/own", _GOES_ANYWHERE),
    Drift("apply-server-side", "tolerations removed", "deployment/own", _TOLERATES_NOTHING),
    Drift("everywhere-hub", "affinity removed", "deployment/armed", _GOES_ANYWHERE),
    Drift("diff-server-side", "affinity removed", "deployment/own", _GOES_ANYWHERE),
    Drift("chart", "deleted", "deployment/chart"),
    Drift("plain", "affinity removed", "statefulset/store", _GOES_ANYWHERE),
    Drift(
        "plain",
        "affinity removed",
        "cronjob/nightly",
        json.dumps([{"op": "remove", "path": "/spec/jobTemplate/spec/template/spec/affinity"}]),
    ),
    Drift("unplaced", "scaled", "deployment/unplaced", _set(3, "spec", "replicas")),
)


def heal(bench: Bench, seconds: float) -> dict[str, Any]:
    """Somebody changes objects all the time; programs are killed, registries go. What came of it."""
    began, done, waited = time.monotonic(), 0, []
    faults_left = [(share * seconds, what, fault) for share, what, fault in FAULTS]
    told = []
    while time.monotonic() - began < seconds:
        if faults_left and time.monotonic() - began >= faults_left[0][0]:
            _at, what, fault = faults_left.pop(0)
            with bench.cause(what, bench.names(), 0, unknown=True):
                fault(bench)
            told.append(what)
        waited.append(drifted(bench, DRIFTS[done % len(DRIFTS)]))
        done += 1
    ordered = sorted(waited)
    return {
        "seconds": round(time.monotonic() - began),
        "drifts": done,
        "kinds": len({(one.application, one.what, one.resource) for one in DRIFTS[:done]}),
        "faults": told,
        "median": round(ordered[len(ordered) // 2], 1) if ordered else 0,
        "longest": round(ordered[-1], 1) if ordered else 0,
        **bench.judge_pods(),
    }


def _killed(*names: str) -> Callable[[Bench], None]:
    def fault(bench: Bench) -> None:
        for name in names:
            bench.site.stop(name)
        for name in names:
            bench.site.start(name)
        bench.rendered_again(bench.names())

    return fault


def _registry_goes(bench: Bench) -> None:
    bench.site.stop("registry")
    for name in bench.names():
        bench.refreshed(name, hard=True)


def _cache_goes(bench: Bench) -> None:
    bench.site.forget()
    bench.rendered_again(bench.names())


# At which share of the time.
FAULTS: tuple[tuple[float, str, Callable[[Bench], None]], ...] = (
    (0.1, "the registry goes", _registry_goes),
    (0.25, "the registry comes", lambda bench: bench.site.start("registry")),
    (0.35, "repo-server restarts", _killed("repo-server")),
    (0.45, "the plugin restarts", _killed("plugin")),
    (0.55, "Redis is lost", _killed("redis")),
    (0.65, "archfit's cache is lost", _cache_goes),
    (0.8, "the controller restarts", _killed("controller")),
)


def drifted(bench: Bench, drift: Drift) -> float:
    """Do it, and wait until all is as before. The seconds until the application was Synced again."""
    kind, _, name = drift.resource.partition("/")
    words = ("-n", _namespace(drift.application), kind, name)
    began = time.monotonic()
    with bench.cause(f"{drift.resource} {drift.what}", [drift.application], 1):
        if drift.patch:
            bench.site.hub.kubectl("patch", *words, "--type=json", "-p", drift.patch)
        else:
            bench.site.hub.kubectl("delete", *words, "--wait=false")
    own = [
        one for one in bench.watching.states() if one.application == drift.application and one.moment > began
    ]
    last = max((at for at, one in enumerate(own) if one.sync != SYNCED), default=-1)
    return own[last + 1].moment - began


def _namespace(application: str) -> str:
    return "everywhere" if application.startswith("everywhere-") else application
