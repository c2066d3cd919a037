"""The WorkflowTemplate of `archfit setup fleet --engine argo`, with the real controller and executor of Argo Workflows.

    nothing happens       the workflow succeeds; its report is the one without shards
    a shard killed        archfit is killed in `main`: retryStrategy makes a pod more
    a shard evicted       Argo makes its pod again, under the same name, and counts no failure

Argo's executor is in each pod: `init` copies it to a volume, `main` runs archfit below it, `wait` tells the
controller what came of it, with the rights that archfit wrote for it. The controller is started for these turns and
ends with them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from loopback_server import Asked

import machine
from archfit.audit.merge import shard_of
from operators.build import fetched
from running_kubelet import Image
from whole.fleet.site import NAMESPACE, FleetSite, Moment, Object

CONTROLLER, EXECUTOR = "workflow-controller", "argoexec"
PROGRAMS = (CONTROLLER, EXECUTOR)
VERSION = machine.TABLE[CONTROLLER].version
EXECUTOR_IMAGE = f"quay.io/argoproj/argoexec:{VERSION}"
SHARDS = 4
_MODULE = "github.com/argoproj/argo-workflows/v4"
_WORKFLOWS = f"/apis/argoproj.io/v1alpha1/namespaces/{NAMESPACE}/workflows"
_LOOK_SECONDS = 5.0


def executor_image() -> dict[str, Image]:
    """The image of Argo's executor: one static program."""
    return {EXECUTOR_IMAGE: Image({"/bin/argoexec": machine.tool(EXECUTOR)}, {"PATH": "/bin"}, ("argoexec",))}


class Workflows:
    """Argo Workflows on a site. wrong: what does not hold."""

    def __init__(self, site: FleetSite) -> None:
        self._site = site
        self.wrong: list[str] = []
        self._start()

    def _start(self) -> None:
        plane = self._site.plane
        folder = fetched(f"{_MODULE}@{VERSION}") / "manifests" / "base" / "crds" / "minimal"
        plane.define([path.read_text(encoding="utf-8") for path in sorted(folder.glob("argoproj.io_*.yaml"))])
        plane.namespace("argo")
        settings = {"metricsConfig": "enabled: false\n", "telemetryConfig": "enabled: false\n"}
        plane.apply(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": "workflow-controller-configmap", "namespace": "argo"},
                    "data": settings,
                }
            )
        )
        plane.start(
            CONTROLLER,
            [
                machine.tool(CONTROLLER),
                f"--kubeconfig={plane.kubeconfig}",
                "--namespace=argo",
                f"--executor-image={EXECUTOR_IMAGE}",
            ],
            LEADER_ELECTION_DISABLE="true",
        )

    def run(self, *moments: Moment) -> Object:
        """A workflow from the template, as `argo submit --from` makes it, until it has ended."""
        site = self._site
        with site.cache.client() as client:
            client.flushall()
        site.registry.forget()
        workflow = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"generateName": "audit-"},
            "spec": {"workflowTemplateRef": {"name": "archfit-audit"}},
        }
        name = site.plane.request("POST", _WORKFLOWS, workflow)["metadata"]["name"]
        site.moments[:] = moments

        def ended() -> Object | None:
            site.check()
            found: Object = site.plane.get(f"{_WORKFLOWS}/{name}")
            return found if found.get("status", {}).get("phase") in {"Succeeded", "Failed", "Error"} else None

        found = site.plane.until(f"the workflow {name} ends", ended)
        site.moments.clear()
        if any(one.left for one in moments):
            self.wrong.append("a disturbance did not come")
        return found

    def moment(self, act: Callable[[str], object]) -> Moment:
        """`act` with the name of the pod of a shard that asks."""
        repositories = sorted({one.rpartition(":")[0] for one in self._site.cluster.images})
        shard = shard_of(f"{repositories[0]}:1", SHARDS)

        def with_pod() -> bool:
            give_up = time.monotonic() + _LOOK_SECONDS
            while time.monotonic() < give_up:
                for pod in self._site.pods():
                    main = next(
                        one for one in pod["spec"]["containers"] if one["name"] in {"main", "archfit"}
                    )
                    words = [*main.get("command", ()), *main.get("args", ())]
                    runs = pod["status"].get("phase") == "Running"
                    if runs and "--shard" in words and words[words.index("--shard") + 1] == str(shard):
                        return act(pod["metadata"]["name"]) is not False
                time.sleep(0.05)
            return False

        def of_shard(asked: Asked) -> bool:
            return bool(asked.repository) and shard_of(f"{asked.repository}:1", SHARDS) == shard

        return Moment(of_shard, with_pod)

    def kill(self, pod: str) -> bool:
        return any(one.oom(pod, "main") for one in self._site.kubelets.values())


def argo_turns(site: FleetSite) -> tuple[list[dict[str, Any]], list[str]]:
    """What was measured of each workflow, and what is wrong."""
    argo = Workflows(site)
    site.write("argo", "--shards", str(SHARDS), "--cache", site.cache.url())
    measured = []
    for name, moments, failures in (
        ("nothing happens", (), 0),
        ("a shard killed", (argo.moment(argo.kill),), 1),
        ("a shard evicted", (argo.moment(site.evict),), 0),
    ):
        began = time.monotonic()
        found = argo.run(*moments)
        status = found["status"]
        pods = [one for one in status.get("nodes", {}).values() if one["type"] == "Pod"]
        failed = [one for one in pods if one["phase"] != "Succeeded"]
        measured.append(
            {
                "workflow": name,
                "phase": status["phase"],
                "pods": len(pods),
                "failed": len(failed),
                "seconds": round(time.monotonic() - began),
            }
        )
        if status["phase"] != "Succeeded":
            words = [f"{one['displayName']}: {one.get('message', '')}" for one in failed]
            argo.wrong.append(f"{name}: {status['phase']}: {status.get('message', '')}; {'; '.join(words)}")
            continue
        if len(failed) != failures:
            argo.wrong.append(f"{name}: {len(failed)} pods failed, not {failures}")
        whole = site.folder / "argo.json"
        site.outside(str(site.audit / "snapshot.json"), "--format", "json", "-o", str(whole))
        merged, wanted = site.report("report.json"), json.loads(whole.read_bytes())
        shards = len(merged["facts"].pop("shards"))
        wanted["facts"].pop("shards", None)
        if (merged, shards) != (wanted, SHARDS):
            argo.wrong.append(f"{name}: the merged report is not the one without shards")
    return measured, [f"Argo Workflows, {line}" for line in argo.wrong]
