"""What the acts of the part `argocd` work with: causes, and how one waits for Argo CD.

with bench.cause("a new image", ["plain"], syncs=1): bench.site.commit(..)    ends once they have settled
bench.refreshed("plain", hard=True)                                           the sync status that came of it
bench.expect(holds, "what is wrong otherwise")                                bench.wrong
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from cluster_site import BUILT_FOR
from operators.build import Failed
from whole.argocd.judges import ORDER, architectures, order_faults, placement_faults
from whole.argocd.site import APPLICATIONS, ArgoSite
from whole.argocd.watch import HEALTHY, SYNCED, Cause, Event, Found, State, Watch, faults, seen, state_of

_PATIENCE_SECONDS = 240.0
_QUIET_SECONDS = 2.0
_LOOK_SECONDS = 0.1


class Watching:
    def __init__(self, site: ArgoSite) -> None:
        self._site = site
        self.causes: list[Cause] = []
        self._stack = contextlib.ExitStack()
        paths = {
            "applications": APPLICATIONS,
            "jobs": "/apis/batch/v1/jobs",
            "deployments": "/apis/apps/v1/deployments",
            "statefulsets": "/apis/apps/v1/statefulsets",
            "configmaps": "/api/v1/configmaps",
        }
        self._watches = {name: Watch(site.hub, path) for name, path in paths.items()}

    def __enter__(self) -> Self:
        for watch in self._watches.values():
            self._stack.enter_context(watch)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def found(self) -> Found:
        return faults(self.states(), self.causes)

    def states(self) -> list[State]:
        return seen(list(self._watches["applications"].events))

    def broken(self) -> list[str]:
        return [watch.wrong for watch in self._watches.values() if watch.wrong]

    def revision(self) -> int:
        return max((one.revision for watch in self._watches.values() for one in watch.events[-1:]), default=0)

    def events(self, kind: str, namespace: str, name: str) -> list[Event]:
        return [
            one
            for one in list(self._watches[kind].events)
            if (one.object["metadata"]["namespace"], one.object["metadata"]["name"]) == (namespace, name)
        ]


class Bench:
    """See the module. wrong: what did not come of what was done. revision: of the repository, "" for any."""

    def __init__(self, site: ArgoSite, watching: Watching) -> None:
        self.site, self.watching = site, watching
        self.wrong: list[str] = []
        self.revision = ""
        self.built_for = dict(BUILT_FOR)

    def names(self) -> list[str]:
        return sorted(self.site.applications())

    @contextlib.contextmanager
    def cause(self, what: str, names: Sequence[str], syncs: int, *, unknown: bool = False) -> Iterator[None]:
        """Something is done to these applications; it has ended once they have settled."""
        began = time.monotonic()
        before = {name: state_of(one).operation for name, one in self.site.applications().items()}
        numbers = [len(self.watching.causes) + i for i in range(len(names))]
        self.watching.causes += [Cause(name, what, began, float("inf"), syncs, unknown) for name in names]
        yield
        self.settled(
            what, [name for name in names if name in self.site.applications()], before if syncs else None
        )
        for number in numbers:
            self.watching.causes[number] = self.watching.causes[number]._replace(ended=time.monotonic())

    def settled(self, what: str, names: Sequence[str], before: Mapping[str, str] | None = None) -> None:
        """Waits until they are Synced and Healthy and stay so. before: the last sync of each, which a new one follows.

        Raises Failed with what they said last.
        """
        give_up, since = time.monotonic() + _PATIENCE_SECONDS, 0.0
        while True:
            found = {name: state_of(one) for name, one in self.site.applications().items()}
            restless = [name for name in names if not (name in found and self._rests(found[name], before))]
            now = time.monotonic()
            since = 0.0 if restless else since or now
            if since and now - since > _QUIET_SECONDS:
                return
            if now > give_up:
                said = [f"{name}: {found.get(name)}" for name in restless]
                raise Failed(f"{what}: waiting {_PATIENCE_SECONDS:.0f} s", "\n".join(said))
            self.alive()
            time.sleep(_LOOK_SECONDS)

    def _rests(self, state: State, before: Mapping[str, str] | None) -> bool:
        done = (state.sync, state.health) == (SYNCED, HEALTHY) and state.phase in ("Succeeded", "")
        at = not self.revision or state.revision == self.revision
        return done and at and (before is None or before.get(state.application, "") != state.operation)

    def alive(self) -> None:
        """Raises AssertionError where a program has ended by itself."""
        self.site.hub.alive()
        self.site.edge.alive()

    def until(self, what: str, probe: Callable[[], bool], patience: float = _PATIENCE_SECONDS) -> None:
        give_up = time.monotonic() + patience
        while not probe():
            self.alive()
            if time.monotonic() > give_up:
                raise Failed(what, f"not after {patience:.0f} s")
            time.sleep(_LOOK_SECONDS)

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(what)

    def condition(self, name: str) -> str:
        """The first ComparisonError of an application, "" where it has none."""
        found = state_of(self.site.applications()[name]).conditions
        return next((one for one in found if one.startswith("ComparisonError")), "")

    def judge_order(self, names: Sequence[str], since: int) -> int:
        """Hooks and waves of applications synced after a revision of the store. The steps that were judged."""
        steps = 0
        for name in names:
            events = [(step, self.watching.events(kind, name, step)) for kind, step in ORDER.get(name, ())]
            steps += len(events)
            self.wrong += order_faults(name, events, since)
        return steps

    def judge_pods(self) -> dict[str, Any]:
        """How many pods have a node. Wrong is one whose node lacks a build of one of its images."""
        number = 0
        for plane in (self.site.hub, self.site.edge):
            nodes = architectures(plane.get("/api/v1/nodes")["items"])
            pods = plane.get("/api/v1/pods")["items"]
            number += len(pods)
            self.wrong += placement_faults(pods, nodes, self.built_for)
        return {"pods": number}

    def edit(self, old: str, new: str) -> None:
        path = self.site.configuration
        text = path.read_text(encoding="utf-8")
        if old not in text:
            raise Failed("editing archfit.yaml", f"it does not hold {old}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def refreshed(self, name: str, *, hard: bool = False) -> str:
        before = self.site.applications()[name]["status"].get("reconciledAt")
        self.site.refresh(name, hard=hard)

        def compared() -> bool:
            found = self.site.applications()[name]
            asked = "argocd.argoproj.io/refresh" in found["metadata"].get("annotations", {})
            return not asked and found["status"].get("reconciledAt") != before

        self.until(f"{name} is compared", compared)
        return state_of(self.site.applications()[name]).sync

    def rendered_again(self, names: Sequence[str]) -> None:
        """Until each was rendered anew; Argo CD says failures of a connection once and tries again."""
        for name in names:
            self.refreshed(name, hard=True)
        for name in names:
            while self.condition(name):
                self.refreshed(name, hard=True)

    def generations(self) -> dict[str, int]:
        """Of every workload of the hub: it is raised by each change of a specification."""
        return {
            one["metadata"]["uid"]: one["metadata"]["generation"]
            for kind in ("deployments", "statefulsets", "daemonsets")
            for one in self.site.hub.get(f"/apis/apps/v1/{kind}")["items"]
        }
