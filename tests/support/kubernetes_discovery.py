"""The few answers that Helm and kubectl want of a cluster before they send objects: version and discovery, on loopback.

No cluster is imitated beyond that: nothing can be stored, and any other question gets 404.
"""

import json
from typing import Any

from loopback_server import Answer, Asked, LoopbackServer


def _resources(version: str, **kinds: str) -> dict[str, Any]:
    return {
        "kind": "APIResourceList",
        "groupVersion": version,
        "resources": [
            {"name": name, "kind": kind, "namespaced": True, "verbs": ["get"], "singularName": ""}
            for name, kind in kinds.items()
        ],
    }


def _group(name: str) -> dict[str, Any]:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


_ANSWERS = {
    "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "groups": [_group("apps"), _group("batch"), _group("example.com")]},
    "/api/v1": _resources("v1", secrets="Secret", configmaps="ConfigMap", pods="Pod", services="Service"),
    "/apis/apps/v1": _resources("apps/v1", deployments="Deployment"),
    "/apis/batch/v1": _resources("batch/v1", jobs="Job"),
    "/apis/example.com/v1": _resources("example.com/v1", gauges="Gauge", things="Thing"),
}


class Discovery(LoopbackServer):
    """The API server; `url` is its address."""

    def stored(self, asked: Asked) -> Answer:
        answer = _ANSWERS.get(asked.path.partition("?")[0])
        body = json.dumps(answer or {"kind": "Status", "status": "Failure", "code": 404}).encode()
        return Answer(200 if answer else 404, body, {"Content-Type": "application/json"})
