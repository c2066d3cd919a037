"""An operator of one kind, for tests: a Dragonfly becomes a Pod with its image, affinity and tolerations.

python pod_operator.py KUBECONFIG
"""

from __future__ import annotations

import json
import ssl
import sys
import time
from pathlib import Path
from typing import Any

import httpx


def main(path: str) -> None:
    """Runs until it is killed."""
    access = json.loads(Path(path).read_text(encoding="utf-8"))
    cluster, user = access["clusters"][0]["cluster"], access["users"][0]["user"]
    with httpx.Client(
        base_url=cluster["server"],
        headers={"Authorization": f"Bearer {user['token']}"},
        verify=ssl.create_default_context(cafile=cluster["certificate-authority"]),
        trust_env=False,
    ) as client:
        while True:
            for dragonfly in client.get("/apis/dragonflydb.io/v1alpha1/dragonflies").json()["items"]:
                client.post(
                    f"/api/v1/namespaces/{dragonfly['metadata']['namespace']}/pods", json=_pod(dragonfly)
                )
            time.sleep(0.2)


def _pod(dragonfly: dict[str, Any]) -> dict[str, Any]:
    spec = {
        name: dragonfly["spec"][name] for name in ("affinity", "tolerations") if name in dragonfly["spec"]
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": dragonfly["metadata"]["name"]},
        "spec": {**spec, "containers": [{"name": "dragonfly", "image": dragonfly["spec"]["image"]}]},
    }


if __name__ == "__main__":
    main(sys.argv[1])
