"""The CronJob of the chart, each minute in place of each night.

    a night                           the report, the page and the metrics
    a night without any registry      the Job fails
    a night whose pod is killed       tried again
    the last night                    the files once more

Measured for each night: how its Job ended, its pods, seconds. No two Jobs run at once.
"""

import time
from collections.abc import Callable
from typing import Any

from loopback_server import Answer, Asked

from whole.fleet.site import NAMESPACE, NIGHTLY, FleetSite, Object

_JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
_FILES = ("report.json", "report.html", "archfit.prom")


class Nights:
    """The Jobs that the CronJob makes. wrong: what does not hold."""

    def __init__(self, site: FleetSite) -> None:
        self._site = site
        self._seen: set[str] = set()
        self.measured: list[dict[str, Any]] = []
        self.wrong: list[str] = []

    def night(self, name: str, ends: str, meanwhile: Callable[[str], object] | None = None) -> None:
        site = self._site
        job = site.plane.until(f"{name}: a Job starts", self._next)
        self._seen.add(job)
        began = time.monotonic()
        if meanwhile:
            meanwhile(job)
        ended = site.ended(job)
        found = site.job(job)
        self.measured.append(
            {
                "night": name,
                "job": ended,
                "failed": found["status"].get("failed", 0),
                "seconds": round(time.monotonic() - began),
            }
        )
        if meanwhile and not found["status"].get("failed"):
            self.wrong.append(f"{name}: no pod failed")
        if ended != ends:
            self.wrong.append(f"{name}: the Job ended with {ended}, not {ends}")
        if ends == "Complete":
            self.wrong += [f"{name}: there is no {one}" for one in _FILES if not (site.audit / one).exists()]

    def _next(self) -> str:
        jobs: list[Object] = self._site.plane.get(_JOBS)["items"]
        own = [one for one in jobs if _is_of_cron_job(one)]
        running = [one for one in own if not one["status"].get("conditions")]
        if len(running) > 1:
            self.wrong.append("two Jobs of the CronJob run at once")
        new = [one["metadata"]["name"] for one in own if one["metadata"]["name"] not in self._seen]
        return new[0] if new else ""


def cron_turns(site: FleetSite) -> tuple[list[dict[str, Any]], list[str]]:
    site.write("cron", "schedule=* * * * *")
    nights = Nights(site)
    nights.night("the first night", "Complete")
    _is_down(site)
    with site.cache.client() as client:
        client.flushall()
    nights.night("no registry answers", "BackoffLimitExceeded")
    site.registry.on(site.registry.stored)
    nights.night("a pod killed at its metrics", "Complete", lambda job: _kill(site, job, "metrics"))
    nights.night("a night after all that", "Complete")
    site.plane.kubectl("delete", "cronjob", "-n", NAMESPACE, NIGHTLY)
    return nights.measured, nights.wrong


def _is_down(site: FleetSite) -> None:
    def script(_asked: Asked) -> Answer | None:
        return Answer(503)

    site.registry.on(script)


def _kill(site: FleetSite, job: str, container: str) -> None:
    def killed() -> bool:
        return any(
            kubelet.oom(pod["metadata"]["name"], container)
            for pod in site.pods(job)
            for kubelet in site.kubelets.values()
        )

    site.plane.until(f"{container} of {job} runs", killed)


def _is_of_cron_job(job: Object) -> bool:
    return any(owner["kind"] == "CronJob" for owner in job["metadata"].get("ownerReferences", ()))
