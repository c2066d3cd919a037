"""The part `argocd`: applications that Argo CD syncs through the plugin, and all that is done to them.

    fixtures/whole/argocd/git/               the repository
                          applications.yaml  the applications, applicationset.yaml, unplaced.yaml
    ACTS                                     what is done, one after the other
    DRIFTS, FAULTS                           what is done while Argo CD heals for ten minutes

Every state of every Application is kept and held against what was done to it (whole.argocd.watch). Pods are judged by
the names of their images, which say for what they are built.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from control_plane import pod_in
from whole.argocd.bench import Bench, Watching
from whole.argocd.healing import ON_ARM, heal
from whole.argocd.judges import required
from whole.argocd.renders import manifests
from whole.argocd.site import APPLICATIONS, ArgoSite
from whole.argocd.watch import SYNCED

HEAL_SECONDS = 600
_IDLE_SECONDS = 45.0
FIRST = (
    *("plain", "chart", "kustomized", "parameters", "moving"),
    *("apply-server-side", "replace", "diff-server-side"),
)


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every act, and ten minutes of drift. Raises Failed and AssertionError."""
    with ArgoSite(folder) as site, Watching(site) as watching:
        bench = Bench(site, watching)
        acts = [_acted(bench, name, act) for name, act in ACTS]
        healing = _acted(bench, "ten minutes of drift", lambda bench: heal(bench, HEAL_SECONDS))
        bench.settled("the end", bench.names())
        pods = bench.judge_pods()["pods"]
        found = watching.found()
        measured = {
            "applications": len(bench.names()),
            "objects": sum(len(one["status"]["resources"]) for one in site.applications().values()),
            "pods": pods,
            "states": found.states,
            "syncs": found.syncs,
            "outOfSync": found.real,
            "notReal": found.unreal,
            "repeated": found.repeated,
            "acts": [*acts, healing],
            "manifests": manifests(),
        }
    return measured, [*bench.wrong, *found.wrong, *watching.broken()]


def _acted(bench: Bench, name: str, act: Callable[[Bench], dict[str, Any]]) -> dict[str, Any]:
    began, before = time.monotonic(), bench.watching.found()
    said = act(bench)
    after = bench.watching.found()
    counts = {"syncs": after.syncs - before.syncs, "outOfSync": after.real - before.real}
    return {"act": name, "seconds": round(time.monotonic() - began), **counts, **said}


def first_sync(bench: Bench) -> dict[str, Any]:
    """All applications of applications.yaml, from nothing."""
    with bench.cause("the first sync", FIRST, 1):
        bench.site.apply("applications.yaml")
    steps = bench.judge_order(FIRST, 0)
    return {"orderedSteps": steps, **bench.judge_pods()}


def idle(bench: Bench) -> dict[str, Any]:
    """Nothing is done for two rounds of Argo CD."""
    began = len(bench.watching.states())
    time.sleep(_IDLE_SECONDS)
    return {"states": len(bench.watching.states()) - began}


def new_image(bench: Bench) -> dict[str, Any]:
    """One commit: an image that lost arm64, a newer tag in the chart, one in the overlay."""
    bench.site.push("multi/cart:2", ("amd64", "arm64"))
    bench.site.push("multi/search:2", ("amd64", "arm64"))
    changed = ("plain", "chart", "kustomized", "apply-server-side", "replace", "diff-server-side")
    before = bench.watching.revision()
    with bench.cause("a new image", changed, 1):
        bench.revision = bench.site.commit(
            "New images",
            {
                "plain/web.yaml": ("img.test/multi/web:1", "img.test/amd/web:2"),
                "options/shop.yaml": ("img.test/multi/web:1", "img.test/amd/web:2"),
                "chart/values.yaml": ('tag: "1"', 'tag: "2"'),
                "kustomized/overlay/kustomization.yaml": (
                    'newName: img.test/arm64/search\n    newTag: "1"',
                    'newName: img.test/multi/search\n    newTag: "2"',
                ),
            },
        )
        bench.site.refresh(*FIRST)
    bench.settled("a new image", FIRST)
    steps = bench.judge_order(changed, before)
    return {"orderedSteps": steps, **bench.judge_pods()}


def tag_moves(bench: Bench) -> dict[str, Any]:
    """The tag of `moving` loses arm64: nothing within cacheTtl, one sync with a hard refresh after it."""
    bench.site.push("moving/shop:stable", ("amd64",))
    hard = bench.refreshed("moving", hard=True)
    bench.expect(hard == SYNCED, f"moving: {hard} though the answer is younger than cacheTtl")
    bench.edit("  timeout: 30s\n", "  timeout: 30s\n  cacheTtl: 1s\n")
    normal = bench.refreshed("moving")
    bench.expect(normal == SYNCED, f"moving: {normal} after a refresh that renders nothing")
    with bench.cause("a tag that moved", ["moving"], 1):
        bench.site.refresh("moving", hard=True)
    bench.built_for["moving"] = frozenset({"amd64"})
    return bench.judge_pods()


def registry_down(bench: Bench) -> dict[str, Any]:
    """Answers of the cache are used; without any, what runs stays, and the message is seen."""
    bench.site.stop("registry")
    with bench.cause("a registry that is down, with a cache", FIRST, 0):
        for name in FIRST:
            bench.refreshed(name, hard=True)
    generations = bench.generations()
    with bench.cause("a registry that is down, without a cache", ["chart", "plain"], 0, unknown=True):
        bench.site.forget()
        bench.site.refresh("chart", "plain", hard=True)
        bench.until("a ComparisonError", lambda: all(map(bench.condition, ("chart", "plain"))))
        said = bench.condition("chart")
        bench.expect("img.test" in said, f"chart: the message does not name the registry: {said}")
        bench.expect(bench.generations() == generations, "something was applied while the registry was down")
        bench.site.start("registry")
        bench.site.refresh("chart", "plain", hard=True)
    return {"message": _archfit_words(said), **bench.judge_pods()}


def repo_server_restarts(bench: Bench) -> dict[str, Any]:
    """It is killed while it renders, and so is the plugin; archfit's cache is lost with the pod."""
    with bench.cause("repo-server restarts", FIRST, 0, unknown=True):
        bench.site.refresh(*FIRST, hard=True)
        for name in ("repo-server", "plugin"):
            bench.site.stop(name)
        bench.site.forget()
        for name in ("plugin", "repo-server"):
            bench.site.start(name)
        bench.rendered_again(FIRST)
    return {}


def caches_lost(bench: Bench) -> dict[str, Any]:
    """Redis, with everything that Argo CD rendered, and archfit's cache."""
    with bench.cause("the caches are lost", FIRST, 0, unknown=True):
        bench.site.stop("redis")
        bench.site.forget()
        bench.site.start("redis")
        bench.rendered_again(FIRST)
    return {}


def policy(bench: Bench) -> dict[str, Any]:
    """`archfit policy` is applied; pods are made anew; an application without the plugin comes along."""
    files = [
        str(Path(bench.site.git.removeprefix("file://")) / one)
        for one in ("plain", "options", "unplaced", "moving")
    ]
    bench.site.hub.apply(bench.site.archfit("policy", "-q", *files))
    probe = pod_in("default", "img.test/arm64/own:1")
    bench.until("the policy acts", lambda: bool(bench.site.hub.dry(probe)["spec"].get("affinity")))
    with bench.cause("the first sync under the policy", ["unplaced"], 1):
        bench.site.apply("unplaced.yaml")
    for name, extended in (("alone", True), ("stated", False)):
        spec = bench.site.hub.get(f"/api/v1/namespaces/unplaced/pods/{name}")["spec"]
        tolerates = any(one.get("key") == "kubernetes.io/arch" for one in spec["tolerations"])
        bench.expect(tolerates is extended, f"unplaced/{name}: tolerations {spec['tolerations']}")
    bench.site.push("amd/reports:2", ("amd64",))
    changed = ("apply-server-side", "replace", "diff-server-side")
    with bench.cause("a new image under the policy", changed, 1):
        bench.revision = bench.site.commit(
            "Newer reports", {"options/shop.yaml": ("img.test/amd/reports:1", "img.test/amd/reports:2")}
        )
        bench.site.refresh(*FIRST, "unplaced")
    bench.settled("a new image under the policy", (*FIRST, "unplaced"))
    return bench.judge_pods()


def clusters(bench: Bench) -> dict[str, Any]:
    """An ApplicationSet over two clusters, each with its architectures; an image that one of them cannot run."""
    names = ("everywhere-hub", "everywhere-edge")
    with bench.cause("the first sync of the set", names, 1, unknown=True):
        bench.site.apply("applicationset.yaml")
        bench.until("the set has applications", lambda: set(names) <= set(bench.names()))
        bench.until("everywhere-edge is compared", lambda: bool(bench.condition("everywhere-edge")))
        enforced = _archfit_words(bench.condition("everywhere-edge"))
        bench.expect("clusterArchitectures is enforced by" in enforced, f"everywhere-edge: {enforced}")
        bench.edit("enforced: [clusterArchitectures, onUnknown, assume]", "enforced: [onUnknown, assume]")
        bench.site.refresh(*names, hard=True)
    written = {
        name: required(plane.get("/apis/apps/v1/namespaces/everywhere/deployments/armed"))
        for name, plane in (("hub", bench.site.hub), ("edge", bench.site.edge))
    }
    bench.expect(written == {"hub": ["arm64"], "edge": []}, f"everywhere: affinity {written}")
    added = _addition(bench)
    bench.expect(
        added == SYNCED, f"everywhere-hub: {added} after an affinity was added where archfit wrote none"
    )
    with bench.cause("an image that no node runs", ["intel-edge"], 0, unknown=True):
        bench.site.apply("intel.yaml")
        bench.until("intel-edge is there", lambda: "intel-edge" in bench.names())
        bench.until("intel-edge is compared", lambda: bool(bench.condition("intel-edge")))
        refused = _archfit_words(bench.condition("intel-edge"))
        bench.expect("img.test/amd/reports:1" in refused, f"intel-edge: {refused}")
        bench.site.hub.delete(f"{APPLICATIONS}/intel-edge")
        bench.until("intel-edge is gone", lambda: "intel-edge" not in bench.names())
    return {"enforced": enforced, "refused": refused, **bench.judge_pods()}


def _addition(bench: Bench) -> str:
    """The sync status after somebody added an affinity to a Deployment that has none in its manifests."""

    def patch(**operation: Any) -> None:
        text = json.dumps([{"path": "/spec/template/spec/affinity", **operation}])
        bench.site.hub.kubectl(
            "patch", "-n", "everywhere", "deployment/everywhere", "--type=json", "-p", text
        )

    with bench.cause("an addition", ["everywhere-hub"], 0):
        patch(op="add", value=ON_ARM)
        found = bench.refreshed("everywhere-hub", hard=True)
        patch(op="remove")
    return found


ACTS: tuple[tuple[str, Callable[[Bench], dict[str, Any]]], ...] = (
    ("first sync", first_sync),
    ("nothing", idle),
    ("a new image", new_image),
    ("a tag that moves", tag_moves),
    ("a registry that is down", registry_down),
    ("repo-server restarts", repo_server_restarts),
    ("the caches are lost", caches_lost),
    ("with `archfit policy` in the cluster", policy),
    ("an ApplicationSet over two clusters", clusters),
)


def _archfit_words(message: str) -> str:
    """The error of archfit in a ComparisonError, without the ports of this run; "" where it has none."""
    found = re.search(r"^(?:.*: )?(error: .*)", message, re.MULTILINE)
    return re.sub(r"127\.0\.0\.1:\d+|/\S*/setup/", "..", found[1]) if found else ""
