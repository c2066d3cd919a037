"""A policy beside webhooks: it sees what they inject, and agrees with archfit's own webhook."""

from __future__ import annotations

from archfit.lookup.lockfile import render
from archfit.options.settings import Options
from drawn_pods import at_creation
from fake_registry import FakeRegistry
from mutating_webhooks import injecting, webhook
from policy_runs import decided, stripped
from webhook_server import WebhookServer

UNCHANGED = 'archfit_admission_requests_total{outcome="unchanged"}'
LOCKED = at_creation.platforms()


def web(image, namespace):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }


def test_a_container_that_a_webhook_injects_counts(policies):
    plane, name = policies.plane, "injected"
    installed = policies.install(name, LOCKED, Options())
    pod = web("quay.io/team/both:1", name)
    with injecting("quay.io/team/arm:1") as url, webhook(plane, name, url, name):
        made = plane.until(
            "a container is injected and the policy acts",
            lambda: (
                len((found := plane.dry(pod))["spec"]["containers"]) == 2
                and "affinity" in found["spec"]
                and stripped(found)
            ),
        )
    policies.remove(installed)
    (plain,) = policies.plain([pod])
    second = {**plain["spec"]["containers"][0], "name": "side", "image": "quay.io/team/arm:1"}
    both = {**plain, "spec": {**plain["spec"], "containers": [*plain["spec"]["containers"], second]}}
    assert made["spec"] == decided(both, name, LOCKED, installed.options)["spec"]


def test_policy_and_webhook_decide_alike_and_neither_undoes_the_other(policies, drawn, tmp_path):
    plane, name = policies.plane, "both-doors"
    with FakeRegistry() as registry:
        words = ("--mirror", f"*={registry.url}", "--lock-file", str(tmp_path / "archfit.lock"))
        (tmp_path / "archfit.lock").write_bytes(render(LOCKED))
        installed = policies.install(name, LOCKED, Options())
        plain = drawn(5, 200, elsewhere=0.5)
        policies.await_change(installed, plain)
        with WebhookServer(tmp_path / "server", *words) as server, webhook(plane, name, server.url, name):
            plane.until(
                "the webhook is called",
                lambda: policies.admitted(name, plain[:20]) and server.metric(UNCHANGED) > 0,
            )
            judged = policies.judged(installed, plain)
    policies.remove(installed)
    assert not judged.wrong, str(judged)
