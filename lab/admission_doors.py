"""archfit's policy, its webhook, both, or none, in force for one namespace of a real API server.

with admission_door(policies, "both", "shop", folder):
    pods of the namespace `shop` are changed

Both doors know the platforms of `at_creation`.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from archfit.lookup.lockfile import render
from archfit.options.settings import Options
from control_plane import pod_in
from drawn_pods import at_creation
from fake_registry import FakeRegistry
from mutating_webhooks import webhook
from policy_runs import Policies
from webhook_server import WebhookServer

DOORS = ("none", "policy", "webhook", "both")
LOCKED = at_creation.platforms()
_CALLS = 'archfit_admission_requests_total{outcome="unchanged"}'
_DEFAULT = Options()


@contextlib.contextmanager
def admission_door(
    policies: Policies,
    kind: str,
    namespace: str,
    folder: Path,
    *,
    options: Options = _DEFAULT,
    words: Sequence[str] = (),
    name: str = "",
    companion: bool = False,
    shipped: bool = False,
    seconds: int = 3,
    through: Callable[[str], AbstractContextManager[str]] = contextlib.nullcontext,
) -> Iterator[None]:
    """See the module. kind: of DOORS. folder: for the webhook's files.

    options, words: the same configuration, for policy and webhook. name: of the webhook; webhooks are called in the
    order of their names. companion: the policy has one. shipped, seconds: as for `webhook`. through: from the URL of
    the webhook to one that the API server calls in its place.
    """
    plane = policies.plane
    plane.namespace(namespace)
    with contextlib.ExitStack() as stack:
        if kind in ("policy", "both"):
            installed = policies.install(namespace, LOCKED, options, companion=companion)
            stack.callback(policies.remove, installed)
        if kind in ("webhook", "both"):
            registry = stack.enter_context(FakeRegistry())
            lock = folder / "archfit.lock"
            lock.write_bytes(render(LOCKED))
            known = ("--mirror", f"*={registry.url}", "--lock-file", str(lock))
            server = stack.enter_context(WebhookServer(folder / "server", *known, *words))
            url = stack.enter_context(through(server.url))
            hook = webhook(plane, name or namespace, url, namespace, shipped=shipped, seconds=seconds)
            stack.enter_context(hook)
        arm = _probe(namespace, "arm:1")
        if kind != "none":
            plane.until("archfit acts", lambda: "affinity" in plane.dry(arm)["spec"])
        if companion and kind != "webhook":
            new = _probe(namespace, "new:1")
            plane.until("the companion warns", lambda: plane.warnings(new))
        if kind == "both":
            plane.until("the webhook is called", lambda: plane.dry(arm) and server.metric(_CALLS) > 0)
        yield


def _probe(namespace: str, image: str) -> dict[str, Any]:
    return pod_in(namespace, f"quay.io/team/{image}", metadata={"name": "probe"})


def applying(policies: Policies, kind: str, namespace: str, folder: Path) -> AbstractContextManager[None]:
    """A door that also prefers arm64, for the pods that the shipped manifests name."""
    return admission_door(
        policies,
        kind,
        namespace,
        folder,
        options=Options(prefer=(("arm64", 10),)),
        words=("--prefer", "arm64=10"),
        shipped=True,
        seconds=30,
    )
