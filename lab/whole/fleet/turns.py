"""The part `fleet`: the audits that the chart installs, under the real controllers, with everything that goes wrong.

    TURNS     name -> turn; each is one run of the Jobs or of the CronJob, disturbed in one way

Measured for each turn: what came of the Job, its pods and those that failed, requests, seconds. Wrong is a turn whose
merged report is not the one of an audit without shards, that ends otherwise than it must, or whose report knows an
image that nobody asked for in that turn. The cache is emptied before each turn.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loopback_server import Answer, Asked

from archfit.facts.merge import shard_of
from whole.fleet.cron import cron_turns
from whole.fleet.refusals import REFUSALS, refused
from whole.fleet.site import IMAGE, NAMESPACE, RELEASES, Cluster, FleetSite, Moment, Object, rendered

SHARDS = 8
SNAPSHOT, SHARD_JOB, MERGE = (f"archfit-audit-{name}" for name in ("snapshot", "shards", "merge"))
# Valid for the schema, so that the pods find it.
WRONG = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator: {authfile: /none}\n"
_BOTH, _AMD64 = ("linux/amd64", "linux/arm64"), ("linux/amd64",)
_DOWN = "quay.io/down/"
_RATE = 20
_DEPLOYMENTS = 40
_EARLY = 20  # requests
_LOOK_SECONDS = 5.0
_AT_ONCE_SECONDS = 20.0  # of 30, the grace period

Measured = dict[str, Any]


def shop(number: int) -> Cluster:
    """So many Deployments of two containers; every third image is for amd64 alone. One image is nowhere, one is never
    pulled, and one is of a registry that `down` lets fail.
    """
    pairs = [f"quay.io/team{one % 5}/app{one}" for one in range(number)]
    images: dict[str, Sequence[str] | None] = {
        f"{name}:{tag}": _BOTH if one % 3 else _AMD64 for one, name in enumerate(pairs) for tag in (1, 2)
    }
    images |= {IMAGE: _BOTH, f"{_DOWN}app:1": _BOTH, "quay.io/gone/app:1": None, "quay.io/local/app:1": None}
    objects = [
        _deployment(f"app{one}", 100 + one, f"{name}:1", f"{name}:2") for one, name in enumerate(pairs)
    ]
    objects += [_deployment(name, 50, f"quay.io/{name}/app:1") for name in ("down", "gone", "local")]
    objects[-1]["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Never"
    return Cluster(images, objects)


def _deployment(name: str, milli: int, *images: str) -> Object:
    containers = [
        {"name": f"c{number}", "image": image, "resources": {"requests": {"cpu": f"{milli}m"}}}
        for number, image in enumerate(images)
    ]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


class Turn:
    """One turn of the Jobs on a site. out: the folder with the Jobs."""

    def __init__(self, site: FleetSite, out: Path) -> None:
        self.site, self.out = site, out
        self.wrong: list[str] = []
        self._whole: Any = None
        self._asked_of_whole = 0

    def snapshot(self) -> None:
        """The first Job, and the audit without shards that the merged one has to be like."""
        site = self.site
        site.start(self.out / "1-snapshot.yaml")
        self.expect("the snapshot", site.ended(SNAPSHOT), "Complete")
        before = len(site.registry.asked)
        whole = site.folder / "whole.json"
        site.outside(str(site.audit / "snapshot.json"), "--format", "json", "-o", str(whole))
        self._asked_of_whole = len(site.registry.asked) - before
        self._whole = json.loads(whole.read_bytes())

    def shards(
        self, *moments: Moment, ends: str = "Complete", meanwhile: Callable[[], object] | None = None
    ) -> Measured:
        """The second Job from an empty cache, until it has ended. moments, meanwhile: what disturbs it."""
        site = self.site
        with site.cache.client() as client:
            client.flushall()
        site.registry.forget()
        site.moments[:] = moments
        began = time.monotonic()
        site.start(self.out / "2-shards.yaml")
        if meanwhile:
            meanwhile()
        ended = site.ended(SHARD_JOB)
        self.expect("the shards", ended, ends)
        self.expect("disturbances that did not come", sum(one.left for one in moments), 0)
        site.moments.clear()
        status = site.job(SHARD_JOB)["status"]
        return {
            "job": ended,
            "failed": status.get("failed", 0),
            "indexes": status.get("completedIndexes", ""),
            "requests": len(site.registry.asked),
            "seconds": round(time.monotonic() - began),
        }

    def merged(self, *, asked_alike: bool = True) -> None:
        """The third Job: its report is the one without shards, and it knows nothing that nobody asked for."""
        site = self.site
        asked = {one.repository for one in site.registry.asked}
        requests = len(site.registry.asked)
        site.start(self.out / "3-merge.yaml")
        self.expect("the merge", site.ended(MERGE), "Complete")
        report = site.report("report.json")
        shards = len(report["facts"].pop("shards"))
        self._whole["facts"].pop("shards", None)
        self.expect("shards in the report", shards, SHARDS)
        if report != self._whole:
            self.wrong.append("the merged report is not the one without shards")
        known = {one["reference"] for one in report["facts"]["images"] if one["answer"] == "Found"}
        self.wrong += [
            f"{one} is known, and nobody asked" for one in known if one.rpartition(":")[0] not in asked
        ]
        if asked_alike:
            self.expect("requests of all shards", requests, self._asked_of_whole)
        said = site.plane.kubectl("logs", "-n", NAMESPACE, f"job/{MERGE}").stdout
        if "ready" not in said.split("\n\n")[1]:
            self.wrong.append(f"the log of the merge is not the report: {said[:200]}")

    def expect(self, what: str, found: object, wanted: object) -> None:
        if found != wanted:
            self.wrong.append(f"{what}: {found}, not {wanted}")

    def moment(self, shard: int, act: Callable[[str], object], times: int = 1) -> Moment:
        """`act` with the name of the shard's pod, once it asks for its first image; then with that of its next pod."""
        done: set[str] = set()

        def of_shard(asked: Asked) -> bool:
            return bool(asked.repository) and shard_of(f"{asked.repository}:1", SHARDS) == shard

        def with_pod() -> bool:
            give_up = time.monotonic() + _LOOK_SECONDS
            while time.monotonic() < give_up:
                pod = self.site.pod_of(SHARD_JOB, shard)
                name = pod["metadata"]["name"] if pod else ""
                # False: the request is of a pod that has ended, and the next one has no container yet.
                if name and name not in done and act(name) is not False:
                    done.add(name)
                    return True
                time.sleep(0.05)
            return False  # a request of a pod that has just ended

        return Moment(of_shard, with_pod, times)

    def busy(self, number: int) -> list[int]:
        """So many shards that have the most repositories, so each asks the registry."""
        repositories = {one.rpartition(":")[0] for one in self.site.cluster.images}
        counts = Counter(shard_of(f"{one}:1", SHARDS) for one in repositories)
        return [shard for shard, _ in counts.most_common(number)]

    def kill(self, pod: str) -> bool:
        """As the kernel does, out of memory; whether the container ran."""
        return any(one.oom(pod, "archfit") for one in self.site.kubelets.values())

    def evict(self, pod: str) -> None:
        """As `kubectl drain` does; returns once the pod has ended."""
        if self.site.evict(pod) > _AT_ONCE_SECONDS:
            self.wrong.append("SIGTERM did not end an evicted shard")


def quiet(turn: Turn) -> Measured:
    measured = turn.shards()
    turn.merged()
    return measured


def killed(turn: Turn) -> Measured:
    """Two shards are killed while they ask: their indexes run again."""
    measured = turn.shards(*(turn.moment(shard, turn.kill) for shard in turn.busy(2)))
    turn.expect("pods that failed", measured["failed"], 2)
    turn.merged(asked_alike=False)
    return measured


def evicted(turn: Turn) -> Measured:
    """A shard is evicted while it asks: SIGTERM ends it, and its index runs again without using up a retry."""
    measured = turn.shards(turn.moment(turn.busy(1)[0], turn.evict))
    turn.expect("pods that failed", measured["failed"], 0)
    turn.merged(asked_alike=False)
    return measured


def cache_gone(turn: Turn) -> Measured:
    """The cache server ends half way."""
    site = turn.site
    half = Moment(lambda _asked: len(site.registry.asked) > _EARLY, site.cache.stop)
    try:
        measured = turn.shards(half)
    finally:
        site.cache.start()
    turn.merged(asked_alike=False)
    return measured


def registry_down(turn: Turn) -> Measured:
    """One repository answers 503: its image is not known, in both audits."""
    site = turn.site
    site.registry.on(lambda asked: Answer(503) if _DOWN in f"{asked.repository}/" else None)
    try:
        turn.snapshot()
        measured = turn.shards()
        turn.merged(asked_alike=False)
    finally:
        site.registry.on(
            lambda asked: site.registry.stored(asked) if _DOWN in f"{asked.repository}/" else None
        )
    state = {one["reference"]: one["answer"] for one in site.report("report.json")["facts"]["images"]}
    turn.expect(f"{_DOWN}app:1", state[f"{_DOWN}app:1"], "Unknown")
    return measured


def budget(turn: Turn) -> Measured:
    """All shards together keep to the requests a second that the configuration states."""
    site = turn.site
    written(site, site.configuration(requests_per_second=_RATE))
    first = len(site.times)
    measured = turn.shards()
    times = site.times[first:]
    written(site)
    turn.merged()
    # A process that wakes late sends late: only the time of all is judged.
    took, least = times[-1] - times[0], (len(times) - 1) / _RATE - 1
    if took < least:
        turn.wrong.append(f"{len(times)} requests in {took:.1f} s, not in {least:.1f} or more")
    return measured


def exhausted(turn: Turn) -> Measured:
    """A shard is killed each time: the others complete, the Job fails, and yesterday's file is not merged."""
    site = turn.site
    yesterday = site.report("report.json")
    turn.snapshot()
    (shard,) = turn.busy(1)
    measured = turn.shards(turn.moment(shard, turn.kill, times=4), ends="FailedIndexes")
    turn.expect("pods that failed", measured["failed"], 4)
    turn.expect("indexes that failed", site.job(SHARD_JOB)["status"].get("failedIndexes"), str(shard))
    text = (turn.out / "3-merge.yaml").read_text(encoding="utf-8")
    quick = site.folder / "merge.yaml"
    quick.write_text(text.replace('"backoffLimit": 2', '"backoffLimit": 0'), encoding="utf-8")
    site.start(quick)
    turn.expect("the merge", site.ended(MERGE), "BackoffLimitExceeded")
    turn.expect("the report of yesterday is still there", site.report("report.json") == yesterday, True)
    return measured


def wrong_usage(turn: Turn) -> Measured:
    """A configuration that is wrong: exit code 2 ends the Job at once."""
    site = turn.site
    written(site, WRONG)
    try:
        measured = turn.shards(ends="PodFailurePolicy")
    finally:
        written(site)
    return measured


def node_lost(turn: Turn) -> Measured:
    """A node loses power while its shards ask. They run again once its object is gone, as of a cloud's controller."""
    site = turn.site
    lost = site.kubelets[site.nodes[-1]]
    moment = Moment(lambda _asked: len(site.registry.asked) > _EARLY, lost.lose)

    def delete() -> None:
        """Once the controller of nodes has seen it."""

        def unreachable() -> bool:
            taints = site.plane.get(f"/api/v1/nodes/{lost.name}")["spec"].get("taints", ())
            return any(one["key"] == "node.kubernetes.io/unreachable" for one in taints)

        site.plane.until("the node is lost", lambda: not moment.left)
        site.plane.until("the node is unreachable", unreachable)
        site.plane.kubectl("delete", "node", lost.name)

    measured = turn.shards(moment, meanwhile=delete)
    turn.merged(asked_alike=False)
    return measured


TURNS: Mapping[str, Callable[[Turn], Measured]] = {
    "nothing happens": quiet, "two shards killed": killed, "a shard evicted": evicted,
    "the cache gone half way": cache_gone, "a registry down": registry_down,
    f"a budget of {_RATE} requests a second": budget, "a shard killed each time": exhausted,
    "a wrong configuration": wrong_usage, "a node lost": node_lost,
}  # fmt: skip


def written(site: FleetSite, configuration: str = "") -> Path:
    """What the chart renders for the Jobs, applied. configuration: archfit.yaml, else the usual one."""
    return site.write("job", f"shards={SHARDS}", configuration=configuration)


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every turn, one after the other, on one site. Raises Failed and AssertionError."""
    turns, wrong = [], []
    with FleetSite(folder, shop(_DEPLOYMENTS)) as site:
        out = written(site)
        for name, turn_of in TURNS.items():
            turn = Turn(site, out)
            turn.snapshot()
            turns.append({"turn": name, **turn_of(turn)})
            wrong += [f"{name}: {line}" for line in turn.wrong]
            site.check()
        turn = Turn(site, out)
        for name, refusal in REFUSALS.items():
            found, lines = refused(site, out, refusal)
            turns.append({"turn": name, **found})
            wrong += [f"{name}: {line}" for line in lines]
        nights, lines = cron_turns(site)
        wrong += lines
        site.check()
    measured = {
        "written": {engine: digest(engine) for engine in RELEASES},
        "turns": turns,
        "nights": nights,
        "wrong": len(wrong),
    }
    return measured, wrong


def digest(engine: str) -> str:
    """Of what the chart renders for an engine: the figures hold as long as it renders the same."""
    return hashlib.sha256(json.dumps(rendered(engine), sort_keys=True).encode()).hexdigest()[:12]
