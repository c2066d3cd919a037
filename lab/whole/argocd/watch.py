"""What Argo CD said of its applications all the time, and whether somebody gave it a reason.

    with Watch(plane, path) as watch:     every state of the objects below a path, as the API server has them
        watch.events                      Event, oldest first
    seen(events)                          what a state of an Application says
    faults(states, causes)                what it said without a cause, or too often

A cause is what was done to an application: until it has settled, Argo CD may say OutOfSync once, and sync as often as
the cause asks for. It may sync again before it has seen what the last sync did, as it heals by itself: counted apart.
All else is a fault.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import httpx

from control_plane import ControlPlane

_READ_SECONDS = 2.0
_TRIES = 30
SYNCED, OUT_OF_SYNC, HEALTHY = "Synced", "OutOfSync", "Healthy"

Object = dict[str, Any]


class Event(NamedTuple):
    """moment: of time.monotonic. kind: ADDED, MODIFIED or DELETED. revision: of the whole store, so it orders kinds."""

    moment: float
    kind: str
    revision: int
    object: Object


class Watch:
    """See the module. A watch that the API server ends goes on where it was."""

    def __init__(self, plane: ControlPlane, path: str) -> None:
        self._path, self._alive = path, plane.alive
        self.events: list[Event] = []
        self.wrong = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._client = plane.another_client()
        self._version = ""

    def __enter__(self) -> Self:
        listed = self._client.get(self._path).raise_for_status().json()
        self._version = listed["metadata"]["resourceVersion"]
        for one in listed["items"]:
            self._add("ADDED", one)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _read(self) -> None:
        failed = 0
        while not self._stop.is_set() and failed < _TRIES:
            query = {"watch": "1", "resourceVersion": self._version}
            try:
                with self._client.stream("GET", self._path, params=query, timeout=_READ_SECONDS) as answer:
                    for line in answer.iter_lines():
                        self._take(json.loads(line))
                        failed = 0
                        if self._stop.is_set():
                            return
            except httpx.ReadTimeout:
                continue  # nothing happened
            except (httpx.HTTPError, ValueError, KeyError) as error:
                failed += 1
                self.wrong = f"the watch of {self._path} ended: {error}" if failed == _TRIES else ""

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "ERROR":
            raise ValueError(event["object"].get("message"))
        self._version = event["object"]["metadata"]["resourceVersion"]
        self._add(event["type"], event["object"])

    def _add(self, kind: str, value: Object) -> None:
        value["metadata"].pop("managedFields", None)
        revision = int(value["metadata"]["resourceVersion"])
        self.events.append(Event(time.monotonic(), kind, revision, value))


class State(NamedTuple):
    """What an Application said at a moment. operation: when the last one began. differing: what is OutOfSync."""

    moment: float
    application: str
    sync: str
    health: str
    revision: str
    operation: str
    phase: str
    differing: tuple[str, ...]
    conditions: tuple[str, ...]


def seen(events: Sequence[Event]) -> list[State]:
    """The states of Applications that were compared once. A deleted one ends."""
    return [
        state_of(one.object, one.moment)
        for one in events
        if one.kind != "DELETED" and "sync" in one.object.get("status", {})
    ]


def state_of(application: Mapping[str, Any], moment: float = 0.0) -> State:
    status = application.get("status", {})
    operation = status.get("operationState", {})
    return State(
        moment,
        application["metadata"]["name"],
        status.get("sync", {}).get("status", ""),
        status.get("health", {}).get("status", ""),
        status.get("sync", {}).get("revision", ""),
        operation.get("startedAt", ""),
        operation.get("phase", ""),
        tuple(
            f"{one['kind']}/{one['name']}"
            for one in status.get("resources", ())
            if one.get("status") == OUT_OF_SYNC
        ),
        tuple(f"{one['type']}: {one.get('message', '')}" for one in status.get("conditions", ())),
    )


class Cause(NamedTuple):
    """What was done to an application. syncs: how many it asks for. unknown: whether it may fail to be compared."""

    application: str
    what: str
    began: float
    ended: float
    syncs: int
    unknown: bool = False


class Found(NamedTuple):
    """Of all applications together, or of one. real: with a cause. repeated: syncs of an application that was still
    OutOfSync after one.
    """

    states: int
    syncs: int
    real: int
    unreal: int
    repeated: int
    wrong: tuple[str, ...]


def faults(states: Sequence[State], causes: Sequence[Cause]) -> Found:
    """What the applications said, held against the causes."""
    own = [
        _of_one(
            [state for state in states if state.application == name],
            [one for one in causes if one.application == name],
        )
        for name in sorted({state.application for state in states})
    ]
    *counts, wrong = zip(Found(0, 0, 0, 0, 0, ()), *own, strict=True)
    return Found._make([*map(sum, counts), tuple(line for lines in wrong for line in lines)])


def _of_one(states: Sequence[State], causes: Sequence[Cause]) -> Found:
    name = states[0].application
    wrong: list[str] = []
    spells, syncs, real = [0] * len(causes), [0] * len(causes), 0
    unreal = unasked = repeated = 0

    def cause(moment: float) -> int | None:
        """The newest that was open."""
        return next(
            (i for i in reversed(range(len(causes))) if causes[i].began <= moment <= causes[i].ended), None
        )

    for before, state in zip((None, *states), states, strict=False):
        at = cause(state.moment)
        if state.sync == OUT_OF_SYNC and (before is None or before.sync != OUT_OF_SYNC):
            if at is None or not causes[at].syncs:
                unreal += 1
                wrong.append(f"{name}: OutOfSync without a cause: {', '.join(state.differing)}")
            else:
                real += 1
                spells[at] += 1
        if state.operation and (before is None or before.operation != state.operation):
            if at is None:
                unasked += 1
                wrong.append(f"{name}: a sync without a cause")
            elif _repeats(causes[at], syncs[at], before, state):
                repeated += 1
            else:
                syncs[at] += 1
        if state.phase in ("Failed", "Error") and (before is None or before.phase != state.phase):
            wrong.append(f"{name}: a sync ended as {state.phase}")
        if state.health == "Degraded" and (before is None or before.health != state.health):
            wrong.append(f"{name}: Degraded")
        if at is None and state.health != HEALTHY and before is not None and before.health == HEALTHY:
            wrong.append(f"{name}: {state.health} without a cause")
        unknown = [one for one in state.conditions if one.startswith("ComparisonError")]
        if (
            unknown
            and (before is None or before.conditions != state.conditions)
            and (at is None or not causes[at].unknown)
        ):
            wrong.append(f"{name}: {unknown[0]}")
    for one, spell, number in zip(causes, spells, syncs, strict=True):
        if spell > 1:
            wrong.append(f"{name}: {one.what}: OutOfSync {spell} times")
        if number != one.syncs:
            wrong.append(f"{name}: {one.what}: {number} syncs in place of {one.syncs}")
    return Found(len(states), sum(syncs) + unasked + repeated, real, unreal, repeated, tuple(wrong))


def _repeats(cause: Cause, syncs: int, before: State | None, state: State) -> bool:
    """Whether it is one more sync of an application that has been OutOfSync since before the first one."""
    still = before is not None and before.sync == state.sync == OUT_OF_SYNC
    return 0 < cause.syncs <= syncs and still
