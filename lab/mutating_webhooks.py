"""Mutating webhooks in a real API server: their configuration, and one that changes pods by a script.

scripted = Scripted()
with scripted.webhook("aa") as url    changes a pod by the steps of its annotation SCRIPT, in the calls that they name
with scripted.before(server.url) as url    passes reviews on to archfit, and counts as the webhook ARCHFIT
scripted.events["a-pod"]              what was called for the pod of that id, in order: Event(webhook, call, step)
with webhook(plane, "aa", url, "shop")     it is called for the pods of the namespace `shop`

Webhooks are called in the order of their names.
"""

import base64
import contextlib
import json
import ssl
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from loopback_server import Answer, Asked, LoopbackServer

from chart_runs import Chart, named
from control_plane import ControlPlane
from pod_decisions import REQUIRED
from tls_files import tls_files

SCRIPT = "tests.archfit.dev/script"
ARCHFIT = "archfit"
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@contextlib.contextmanager
def webhook(
    plane: ControlPlane,
    name: str,
    url: str,
    namespace: str,
    *,
    shipped: bool = False,
    failure_policy: str = "Ignore",
    seconds: int = 3,
) -> Iterator[None]:
    """A configuration that calls url for the new pods of one namespace.

    shipped: for the pods that the chart names. seconds: that the API server waits.
    """
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.tests.archfit.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": failure_policy,
                "matchPolicy": "Equivalent",
                "reinvocationPolicy": "IfNeeded",
                "timeoutSeconds": seconds,
                "clientConfig": {
                    "url": url,
                    "caBundle": base64.b64encode(tls_files().ca.read_bytes()).decode(),
                },
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                        "scope": "Namespaced",
                    }
                ],
                **(_shipped() if shipped else {}),
            }
        ],
    }
    plane.apply(json.dumps(configuration))
    try:
        yield
    finally:
        plane.delete(f"{_CONFIGURATIONS}/{name}")


def _shipped() -> dict[str, Any]:
    """The rules and conditions of the chart."""
    configuration = named(Chart("helm4").objects())["MutatingWebhookConfiguration", "archfit"]
    (made,) = configuration["webhooks"]
    return {member: made[member] for member in ("rules", "objectSelector", "matchConditions")}


class Listening(LoopbackServer):
    """Answers each review over TLS. answered: makes the answer of the request in it."""

    def __init__(self, context: ssl.SSLContext, answered: Callable[[Asked], bytes]) -> None:
        self._answered = answered
        super().__init__(context)

    def stored(self, asked: Asked) -> Answer:
        if len(asked.body) < int(asked.headers["content-length"]):
            raise ConnectionError("the API server hung up")
        return Answer(body=self._answered(asked), headers={"Content-Type": "application/json"})


@contextlib.contextmanager
def _listening(answered: Callable[[Asked], bytes]) -> Iterator[str]:
    context = tls_files().context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with Listening(context, answered) as server:
        yield f"{server.url}/"


class Event(NamedTuple):
    """A webhook was called for a pod. call: how often, with this one. steps: what it changed."""

    webhook: str
    call: int
    steps: tuple[dict[str, Any], ...]


def changed(spec: Mapping[str, Any], steps: Iterable[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """The pod spec after what a webhook of that name does to it.

    {"container": IMAGE}, {"init": IMAGE}    one more, unless it is there
    {"image": IMAGE}                         another image for the first container
    {"toleration": {..}}                     one more, unless it is there
    {"expression": {..}}                     ANDed to every required term, or the only one
    """
    made: dict[str, Any] = deepcopy(dict(spec))
    for step in steps:
        for field, kind in (("containers", "container"), ("initContainers", "init")):
            there = made.get(field) or []
            if kind in step and all(one["name"] != f"{name}-{kind}" for one in there):
                made[field] = [*there, {"name": f"{name}-{kind}", "image": step[kind], "resources": {}}]
        if "image" in step:
            made["containers"][0]["image"] = step["image"]
        if "toleration" in step and step["toleration"] not in made.get("tolerations", []):
            made["tolerations"] = [*made.get("tolerations", []), step["toleration"]]
        if "expression" in step:
            affinity = made.setdefault("affinity", {}).setdefault("nodeAffinity", {})
            terms = affinity.setdefault(REQUIRED, {"nodeSelectorTerms": [{}]})["nodeSelectorTerms"]
            for term in terms:
                there = term.get("matchExpressions", [])
                if step["expression"] not in there:
                    term["matchExpressions"] = [*there, step["expression"]]
    return made


class Scripted:
    """See the module. Pods without the annotation stay as they are, and are not written down."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {}
        self._lock = threading.Lock()

    def webhook(self, name: str) -> contextlib.AbstractContextManager[str]:
        """The URL of one that obeys the steps for its name: {"id": .., NAME: [[CALL, STEP], ..]}."""

        def obeyed(asked: Asked) -> bytes:
            request = json.loads(asked.body)["request"]
            spec = request["object"]["spec"]
            steps = self._called(name, request["object"])
            after = changed(spec, steps, name)
            return allowed(
                request["uid"], [{"op": "replace", "path": "/spec", "value": after}] if steps else []
            )

        return _listening(obeyed)

    def before(self, url: str) -> contextlib.AbstractContextManager[str]:
        def passed_on(asked: Asked) -> bytes:
            self._called(ARCHFIT, json.loads(asked.body)["request"]["object"])
            question = urllib.request.Request(
                f"{url}?{asked.path.partition('?')[2]}", asked.body, {"Content-Type": "application/json"}
            )
            context = ssl.create_default_context(cafile=str(tls_files().ca))
            with urllib.request.urlopen(question, context=context, timeout=30) as response:
                answer: bytes = response.read()
                return answer

        return _listening(passed_on)

    def _called(self, name: str, pod: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Writes the call down: the steps that the webhook has to take now."""
        text = (pod["metadata"].get("annotations") or {}).get(SCRIPT)
        if not text:
            return ()
        script = json.loads(text)
        with self._lock:
            events = self.events.setdefault(script["id"], [])
            call = 1 + sum(event.webhook == name for event in events)
            steps = tuple(step for at, step in script.get(name, ()) if at == call)
            taken, spec = [], pod["spec"]
            for step in steps:
                after = changed(spec, [step], name)
                taken += [step] if after != spec else []
                spec = after
            events.append(Event(name, call, tuple(taken)))
        return events[-1].steps


def allowed(uid: str, patch: list[dict[str, Any]]) -> bytes:
    """The answer that allows it, with that JSON patch."""
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch:
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    return json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    ).encode()
