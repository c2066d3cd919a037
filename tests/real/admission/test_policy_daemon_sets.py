"""The companion of a policy warns of random DaemonSets where archfit does, once for each template."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from archfit.base.results import Location
from archfit.images.overrides import override
from archfit.images.platforms import Unknown
from archfit.images.reference import parse
from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options
from archfit.placement.decide import decide
from archfit.placement.selection import pod_options, questions
from archfit.workloads.pod_specs import find_pods
from archfit.yaml.values import typed
from control_plane import Refused
from drawn_pods import at_creation
from policy_runs import policy_options

LOCKED = at_creation.platforms()
ARCHITECTURES = ("amd64", "arm64", "s390x")
WARNED = re.compile(r"this DaemonSet will not run on the (.*) nodes")
NOWHERE = "no node can run all images of this DaemonSet ("
OPTIONS = {
    "usual": Options(cluster_architectures=ARCHITECTURES),
    "rules": Options(
        cluster_architectures=ARCHITECTURES,
        affinity="always",
        exclude=(Exclude("DaemonSet", "", "left-*"), Exclude("Pod", "", "agent-*")),
        rules=(
            Rule(Match(kind="ds", name="narrow-*"), only=("amd64",)),
            Rule(Match(kind="Deployment"), only=("arm64",)),
            Rule(Match(labels=(("team", "a"),)), only=("amd64", "arm64")),
            Rule(Match(name="offered-*"), only=("arm64",), offered=True),
        ),
    ),
}


def daemon_set(number, namespace, pod):
    """A DaemonSet with the template of a drawn pod."""
    draw = Random(f"daemon-set/{number}")
    labels = {"app": "agent"} | ({"team": draw.choice("ab")} if draw.random() < 0.5 else {})
    dropped = {
        "nodeName",
        "restartPolicy",
        "activeDeadlineSeconds",
        "priority",
        "preemptionPolicy",
        "hostname",
    }
    spec = {key: value for key, value in pod["spec"].items() if key not in dropped}
    metadata = pod["metadata"]
    annotations = dict(metadata.get("annotations", {}))
    own = {key: annotations.pop(key) for key in list(annotations) if draw.random() < 0.3}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": f"{draw.choice(('left', 'narrow', 'offered', 'agent'))}-{number}",
            "namespace": namespace,
            "annotations": own,
        },
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {**metadata.get("labels", {}), **labels}, "annotations": annotations},
                "spec": spec,
            },
        },
    }


def expected(value, options):
    """The architectures that archfit's own decision warns of, or "nowhere"."""
    (pod,) = find_pods(typed(value), Location(1, 1))
    own = pod_options(pod, options)
    answers = {
        text: override(parse(text), options.image_platforms)
        or LOCKED.get(parse(text).normalised)
        or Unknown("the lock file lacks it")
        for text in questions(pod, own)
    }
    decision = decide(pod, own, answers, options)
    if any(result.severity == "error" for result in decision.results):
        return None
    if decision.outcome == "Conflict":
        return {"nowhere"}
    said = [WARNED.match(result.message) for result in decision.results]
    return {name for match in said if match for name in re.split(r", | and ", match[1])}


def said(plane, value):
    messages = [text.partition("': ")[2] for text in plane.warnings(value) if "archfit" in text]
    found = [WARNED.match(text) for text in messages]
    names = {name for match in found if match for name in match[1].split(", ")}
    return names | ({"nowhere"} if any(text.startswith(NOWHERE) for text in messages) else set())


@pytest.mark.load
@pytest.mark.parametrize("carrier", ["literal", "crd"])
@pytest.mark.parametrize("name", list(OPTIONS))
def test_it_warns_where_archfit_does(policies, drawn, name, carrier):
    plane, namespace = policies.plane, f"daemons-{name}-{carrier}"
    options = policy_options(OPTIONS[name])
    installed = policies.install(namespace, LOCKED, options, companion=True, carrier=carrier)
    values = [daemon_set(n, namespace, pod) for n, pod in enumerate(drawn(5, 200, elsewhere=0.5))]
    stored = [one for one in plane.dry_all(values) if not isinstance(one, Refused)]
    wanted = [(one, expected(one, options)) for one in stored]
    wanted = [(one, archs) for one, archs in wanted if archs is not None]
    probe = next(one for one, archs in wanted if archs)
    plane.until("the companion warns", lambda: said(plane, probe))
    found = [(one, archs, said(plane, one)) for one, archs in wanted]
    wrong = [
        (one["metadata"], one["spec"]["template"], archs, words)
        for one, archs, words in found
        if archs != words
    ]
    pods = [pod_of(*case[:2]) for case in wrong]
    looked = policies.look(installed, "variables.leftAlone.join(', ')", pods) if pods else []
    policies.remove(installed)
    assert len({frozenset(archs) for _, archs, _ in found}) > 4
    reasons = {None, "", "unlisted-image"}
    assert [case for case, reason in zip(wrong, looked, strict=True) if reason in reasons] == []


def pod_of(own, template):
    annotations = {**own.get("annotations", {}), **template["metadata"].get("annotations", {})}
    metadata = {**template["metadata"], "annotations": annotations, "generateName": "web-"}
    return {**template, "apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def agent(namespace, image="quay.io/team/amd:1", **metadata):
    spec = {"containers": [{"name": "c", "image": image}]}
    value = daemon_set(0, namespace, {"metadata": {}, "spec": spec})
    return {**value, "metadata": {"name": "agent", "namespace": namespace, **metadata}}


def test_an_update_of_the_template_warns_and_no_other(policies):
    plane, namespace = policies.plane, "daemons-updated"
    installed = policies.install(namespace, LOCKED, Options(), companion=True)
    plane.until("the companion warns", lambda: said(plane, agent(namespace)))
    plane.kubectl("create", "-f", "-", stdin=json.dumps(agent(namespace)))

    def warned(*words):
        return "will not run on the arm64 nodes" in plane.kubectl(*words, "-n", namespace).stderr

    opted_out = agent(namespace, labels={"archfit.dev/webhook": "ignore"})
    skipped = agent(namespace, annotations={"archfit.dev/skip": "true"})
    outcomes = {
        "label": warned("label", "daemonset", "agent", "a=b"),
        "restart": warned("rollout", "restart", "daemonset/agent"),
        "image": warned("set", "image", "daemonset/agent", "c=quay.io/team/amd:1@sha256:" + "a" * 64),
        "back": warned("set", "image", "daemonset/agent", "c=quay.io/team/amd:1"),
        "both": warned("set", "image", "daemonset/agent", "c=quay.io/team/both:1"),
    }
    plane.kubectl("delete", "daemonset", "agent", "-n", namespace)
    large = agent(namespace, annotations={f"example.com/note-{n}": "x" * 100 for n in range(1_000)})
    containers = [{"name": f"c{n}", "image": "quay.io/team/amd:1"} for n in range(250)]
    large["spec"]["template"]["spec"]["containers"] = containers
    of_large = said(plane, large)
    silent = [said(plane, one) for one in (opted_out, skipped, agent(namespace, "quay.io/team/new:1"))]
    policies.remove(installed)
    assert outcomes == {"label": False, "restart": True, "image": False, "back": True, "both": False}
    assert silent == [set()] * 3
    assert of_large == {"arm64"}
