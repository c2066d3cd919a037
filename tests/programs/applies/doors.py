"""archfit's policy, its webhook, both, or none, in force for one namespace of a real API server.

The webhook is called for the pods that the manifests of `archfit setup webhook` name.

with door(policies, "both", "shop", folder):
    pods of the namespace `shop` are changed
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from archfit.lookup.lockfile import render
from archfit.options.settings import Options
from drawn_pods import at_creation
from fake_registry import FakeRegistry
from mutating_webhooks import webhook
from webhook_server import WebhookServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from policy_runs import Policies

DOORS = ("none", "policy", "webhook", "both")
LOCKED = at_creation.platforms()


@contextlib.contextmanager
def door(policies: Policies, kind: str, namespace: str, folder: Path) -> Iterator[None]:
    """See the module. kind: of DOORS. folder: for the webhook's files."""
    plane = policies.plane
    plane.namespace(namespace)
    with contextlib.ExitStack() as stack:
        if kind in ("policy", "both"):
            installed = policies.install(namespace, LOCKED, Options(prefer=(("arm64", 10),)))
            stack.callback(policies.remove, installed)
        if kind in ("webhook", "both"):
            registry = stack.enter_context(FakeRegistry())
            lock = folder / "archfit.lock"
            lock.write_bytes(render(LOCKED))
            words = ("--mirror", f"*={registry.url}", "--lock-file", str(lock), "--prefer", "arm64=10")
            server = stack.enter_context(WebhookServer(folder / "server", *words))
            hook = webhook(plane, namespace, server.url, namespace, shipped=True, seconds=30)
            stack.enter_context(hook)
        probe = _probe(namespace)
        if kind != "none":
            plane.until("archfit acts", lambda: "affinity" in plane.dry(probe)["spec"])
        if kind == "both":
            plane.until("the webhook is called", lambda: plane.dry(probe) and server.metric(_CALLS) > 0)
        yield


_CALLS = 'archfit_admission_requests_total{outcome="unchanged"}'


def _probe(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": namespace},
        "spec": {"containers": [{"name": "c", "image": "quay.io/team/arm:1"}]},
    }
