"""The part `helm`: what a release goes through under a real Helm with archfit, step by step, and what does not hold.

    life(site, "helm3")       install, upgrades, rollback, failures, tests, uninstall       list of Step
    switched(site)            a release that Helm 3 made, taken over by Helm 4              list of Step

Each step says which workloads got other pods, and has a line in `wrong` for each thing that is not as docs/helm.md
says. The chart is fixtures/whole/helm/shop: a subchart, a folder crds/, hooks with weights and delete policies, a test.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import machine
from helm_runs import Recorded
from program import Ran
from whole.release_site import WORKLOADS, ReleaseSite, Workload, Workloads, platforms_of, rolled, written

CHART = machine.ROOT / "fixtures" / "whole" / "helm" / "shop"
_FILENAME = "postrenderer.helm.sh/postrender-filename"
# A step that waits for pods has time for a busy machine; one that is to fail for want of a node waits it out.
_WAIT = ("--wait", "--timeout", "180s")
_SHORT = ("--wait", "--timeout", "15s")
# Two steps have shown them by then.
_NO_HOOKS = ("--no-hooks",)
ATOMIC = {"helm3": "--atomic", "helm4": "--rollback-on-failure"}
# The hooks of the chart and its test. Helm 3 does not show them to archfit, so their pods may be anywhere.
# `helm uninstall` leaves what no delete policy takes away, with archfit or without.
HOOKS = ("announce", "migrate", "seed", "smoke")


class Step(NamedTuple):
    """helm, what: who did what. rolled: workloads with other pods. wrong: what does not hold."""

    helm: str
    what: str
    rolled: list[str]
    pods: int
    wrong: list[str]

    def row(self) -> dict[str, Any]:
        return {"what": self.what, "rolled": self.rolled, "pods": self.pods, "wrong": len(self.wrong)}


class Release:
    """The release `demo` under one Helm. steps: so far."""

    def __init__(self, site: ReleaseSite, name: str, steps: list[Step] | None = None) -> None:
        self.site, self.name, self.helm = site, name, site.helm(name)
        self.steps: list[Step] = [] if steps is None else steps
        self.state: Workloads = {}

    def render(self, command: str, *words: str, wait: Sequence[str] = _WAIT) -> Recorded:
        return self.helm.recorded(CHART, *wait, *words, command=command)

    def step(
        self,
        what: str,
        ran: Ran | Recorded | None,
        rolls: Sequence[str] = (),
        *,
        fails: str = "",
        more: Sequence[tuple[bool, str]] = (),
    ) -> Workloads:
        """Wait until the workloads have settled, and judge.

        rolls: who may get other pods. fails: words of the error. more: whether something holds, and what if not.
        """
        before, self.state = self.state, self.site.settled()
        seen = rolled(before, self.state)
        wrong = [words for holds, words in more if not holds]
        if ran is not None:
            wrong += _ended(ran.helm if isinstance(ran, Recorded) else ran, fails)
        wrong += self.site.wrong(HOOKS if self.name == "helm3" else ())
        touched = [name for name in written(before, self.state) if before and name not in rolls]
        wrong += [f"{name} rolled" for name in seen if name not in rolls]
        wrong += [f"{name} did not roll" for name in rolls if name not in seen]
        wrong += [f"{name} was written" for name in touched if not fails]
        self.steps.append(Step(self.name, what, seen, len(self.site.pods()), wrong))
        return self.state

    def revisions(self) -> list[tuple[int, str]]:
        listed = json.loads(self.helm.run("history", "demo", "-o", "json").ok())
        return [(one["revision"], one["status"]) for one in listed]

    def manifest(self, *words: str) -> list[Any]:
        return decoded(self.helm.run("get", "manifest", "demo", *words).ok())

    def stored(self, made: Recorded) -> list[tuple[bool, str]]:
        """Whether Helm keeps what archfit wrote: as manifest, and Helm 4 the hooks too."""
        ours = decoded(made.written)
        manifest = [one for one in ours if not _is_hook(one)]
        checks = [(self.manifest() == manifest, "helm get manifest differs from what archfit wrote")]
        hooks = [one for one in ours if _is_hook(one)]
        theirs = decoded(self.helm.run("get", "hooks", "demo").ok())
        if self.name == "helm3":
            return [*checks, (not hooks, "Helm 3 showed a hook to archfit")]
        return [*checks, (theirs == hooks, "helm get hooks differs from what archfit wrote")]


def life(site: ReleaseSite, name: str, *, waits: bool = True) -> list[Step]:
    """All steps of a release. waits: also the upgrade that fails because its pods get no node, for half a minute."""
    release = Release(site, name)
    made = release.render("install")
    release.step("install", made, more=[*release.stored(made), *_hooks_ran(release)])
    release.step("upgrade, the same chart", release.render("upgrade"), more=_hooks_are_gone(site))
    made = release.render("upgrade", "--set", "tag=2", *_NO_HOOKS)
    release.step("upgrade, a new image", made, ["Deployment/web"], more=release.stored(made))
    made = release.render("upgrade", "--set", "tag=3", *_NO_HOOKS)
    release.step("upgrade, an image that lost arm64", made, ["Deployment/web"], more=release.stored(made))
    second = release.manifest("--revision", "3")
    ran = release.helm.run("rollback", "demo", "3", *_WAIT, *_NO_HOOKS)
    same = release.manifest() == second
    release.step("rollback", ran, ["Deployment/web"], more=[(same, "the manifest is not that of revision 3")])
    _refused(release)
    _fails(release, "an upgrade that the API server refuses", "selector=other", "immutable", _WAIT)
    if waits:
        _fails(release, "an upgrade whose pods get no node", "disk=ssd", "", _SHORT)
    ran = release.helm.run("test", "demo", "--timeout", "180s")
    release.step("test", ran, more=_test_ran(release))
    _uninstall(release)
    return release.steps


def _refused(release: Release) -> None:
    """Archfit fails, so nothing is rendered: the release stays as it was."""
    revisions, before = release.revisions(), release.site.objects(*WORKLOADS, "Service", "Pod")
    made = release.render("upgrade", ATOMIC[release.name], "--set", "tag=gone", *_NO_HOOKS)
    more = [
        (made.written == b"", "archfit wrote something"),
        (release.revisions() == revisions, "the release has another revision"),
        (_specs(release.site.objects(*WORKLOADS, "Service", "Pod")) == _specs(before), "an object changed"),
    ]
    said = "quay.io/shop/web:gone" if release.name == "helm3" else "exited with error"
    release.step("upgrade that archfit refuses", made, fails=said, more=more)


def _fails(release: Release, what: str, value: str, said: str, wait: Sequence[str]) -> None:
    """Helm takes back an upgrade of a new image that failed in the cluster."""
    manifest, number = release.manifest(), len(release.revisions())
    templates = {name: one.template for name, one in release.state.items()}
    made = release.render(
        "upgrade", ATOMIC[release.name], "--set", "tag=3", "--set", value, *_NO_HOOKS, wait=wait
    )
    now = [status for _revision, status in release.revisions()[number:]]
    state = release.site.settled()
    more = [
        (now == ["failed", "deployed"], f"the revisions after it are {now}"),
        (release.manifest() == manifest, "the manifest is another one"),
        ({name: one.template for name, one in state.items()} == templates, "a pod template is another one"),
    ]
    # Helm writes what comes before the failure, and takes it back: web may have got other pods twice.
    release.state = state
    release.step(
        what, made, fails=said or "timed out|deadline exceeded|context deadline|not ready", more=more
    )


def _hooks_ran(release: Release) -> list[tuple[bool, str]]:
    """The hooks ran in the order of their weights; archfit placed them under Helm 4 alone."""
    jobs = {one["metadata"]["name"]: one for one in release.site.objects("Job")}
    if not {"migrate", "seed"} <= jobs.keys():
        return [(False, f"the hooks that ran are {sorted(jobs)}")]
    ended = jobs["migrate"]["status"].get("completionTime", "")
    first = bool(ended) and ended <= jobs["seed"]["metadata"]["creationTimestamp"]
    placed = [name for name, job in sorted(jobs.items()) if job["spec"]["template"]["spec"].get("affinity")]
    expected = [] if release.name == "helm3" else ["migrate", "seed"]
    return [(first, "seed was there before migrate ended"), (placed == expected, f"placed hooks: {placed}")]


def _hooks_are_gone(site: ReleaseSite) -> list[tuple[bool, str]]:
    """The hook after an upgrade ran, and its delete policy took it away."""
    jobs = [one["metadata"]["name"] for one in site.objects("Job")]
    events = [one["reason"] for one in site.objects("Event") if one["involvedObject"]["name"] == "announce"]
    return [
        ("Completed" in events, f"the events of announce are {events}"),
        ("announce" not in jobs, "announce is still there"),
    ]


def _test_ran(release: Release) -> list[tuple[bool, str]]:
    pods = [one for one in release.site.pods() if one["metadata"]["name"] == "smoke"]
    ended = [one["status"]["phase"] for one in pods]
    placed = any(one["spec"].get("affinity") for one in pods)
    return [
        (ended == ["Succeeded"], f"the pod of the test is {ended}"),
        (placed == (release.name == "helm4"), f"the pod of the test is {'' if placed else 'not '}placed"),
    ]


def _uninstall(release: Release) -> None:
    ran = release.helm.run("uninstall", "demo", *_WAIT)
    left = [name for name in release.site.left() if not name.startswith(("Job/", "Pod/"))]
    others = [
        one["metadata"]["name"]
        for one in release.site.objects("Job", "Pod")
        if one["metadata"]["name"].split("-")[0] not in HOOKS
    ]
    wrong = _ended(ran, "") + [f"{name} is left" for name in (*left, *others)]
    release.steps.append(Step(release.name, "uninstall", [], 0, wrong))
    release.site.empty()


def switched(site: ReleaseSite) -> list[Step]:
    """Helm 3 makes a release; Helm 4's plugin goes on with it, by patches and then by server-side apply."""
    release = Release(site, "helm3")
    first = release.render("install")
    before = release.step("install", first)
    three = release.manifest()
    later = Release(site, "helm4", release.steps)
    later.state = before
    made = later.render("upgrade")
    now = later.step(
        "upgrade of a release that Helm 3 made",
        made,
        more=[
            (later.manifest() == three, "the manifest is another one"),
            (templates_of(decoded(first.written)) == templates_of(decoded(made.written)), "other bytes"),
        ],
    )
    later.steps[-1].wrong.extend(_managed(now, {("helm", "Update")}))
    now = later.step("the same with --server-side=true", later.render("upgrade", "--server-side=true"))
    later.steps[-1].wrong.extend(_managed(now, {("helm", "Apply")}))
    made = later.render("upgrade", "--set", "tag=3", *_NO_HOOKS)
    later.step("upgrade, an image that lost arm64", made, ["Deployment/web"], more=later.stored(made))
    _uninstall(later)
    return later.steps


def _managed(workloads: Mapping[str, Workload], wanted: set[tuple[str, str]]) -> list[str]:
    """Whose the fields are, the controllers' own aside."""
    return [
        f"{name} belongs to {one.managers}"
        for name, one in workloads.items()
        if {each for each in one.managers if each[0] != "kube-controller-manager"} != wanted
    ]


def decoded(stream: bytes) -> list[Any]:
    """The objects of a stream in the order of kind and name, without what Helm 4 writes to find their files again."""
    found = [one for one in yaml.safe_load_all(stream) if one]
    for one in found:
        annotations = one["metadata"].get("annotations") or {}
        annotations.pop(_FILENAME, None)
        if not annotations:
            one["metadata"].pop("annotations", None)
    return sorted(found, key=lambda one: (one["kind"], one["metadata"]["name"]))


def templates_of(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The pod templates by kind and name, without those of hooks."""
    return {
        f"{one['kind']}/{one['metadata']['name']}": one["spec"]["template"]
        for one in objects
        if "template" in one.get("spec", ()) and not _is_hook(one)
    }


def _is_hook(value: Mapping[str, Any]) -> bool:
    return "helm.sh/hook" in value["metadata"].get("annotations", {})


def _specs(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{one['kind']}/{one['metadata']['name']}": one.get("spec") for one in objects}


def _ended(ran: Ran, fails: str) -> list[str]:
    """Whether a command ended as it should. fails: one of the words, divided by `|`, that its error has to hold."""
    if not fails:
        return [] if ran.status == 0 else [f"Helm failed: {ran.stderr.strip()[-300:]}"]
    if ran.status == 0:
        return ["Helm did not fail"]
    named = any(word in ran.stderr for word in fails.split("|"))
    return [] if named else [f"Helm failed otherwise: {ran.stderr.strip()[-300:]}"]


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every release, one after the other in one cluster. Raises AssertionError."""
    with ReleaseSite(folder, platforms_of("helm")) as site:
        releases = {
            "Helm 3": life(site, "helm3"),
            "Helm 4": life(site, "helm4"),
            "from Helm 3 to Helm 4": switched(site),
        }
    rows = {name: [step.row() for step in steps] for name, steps in releases.items()}
    wrong = [
        f"{name}, {step.what}: {line}"
        for name, steps in releases.items()
        for step in steps
        for line in step.wrong
    ]
    return {"releases": rows}, wrong
