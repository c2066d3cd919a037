"""The laws of an explanation, for random pods and options: it never contradicts the decision.

outcome        it is the decision's, and E is what the decision reaches
images         each image of the pod is named, with every place of it
added          a step says `added` exactly where the patch adds it, and names what is added
tree           each fact is in the tree, and the tree is bounded by its facts
stamps         what an earlier run added is `present`, not `added`
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.explain.explained_cases import CASES
from tests.explain.explained_pods import explained_stream

from archfit.base import patch
from archfit.base.errors import UsageError
from archfit.base.patch import dotted
from archfit.base.results import Location
from archfit.explain.explained import Explained, ExplainedPod
from archfit.explain.explanation import explanation
from archfit.explain.text import text
from archfit.pipeline import transform
from archfit.placement.decide import decide
from archfit.placement.pod_patch import taint
from archfit.placement.selection import pod_options
from archfit.placement.tolerations import existing
from archfit.yaml import stream
from archfit.yaml.stream import split
from archfit.yaml.values import text_of
from drawn_pods import any_pods
from pod_decisions import PREFERRED, a_pod, answers, pod_of, terms_of

COUNT = 400
KINDS = ("Pod", "Deployment", "DaemonSet", "Job", "CronJob")


def drawn(seed: int) -> tuple[Any, ...]:
    """(pod, its options, answers, the run's options, the decision) of one random case; () for options that clash."""
    random = Random(seed)
    options = any_pods.options(random).replace(on_conflict=random.choice(("fail", "leave")))
    known = any_pods.locked(random)
    made = any_pods.pod(random, random.choice(any_pods.NAMESPACES))
    kind = random.choice(KINDS)
    pod = pod_of(made) if kind == "Pod" else a_pod(made["spec"], kind, metadata=made["metadata"])
    own = pod_options(pod, options)
    try:
        return pod, own, known, options, decide(pod, own, known, options)
    except UsageError:
        return ()


def added_affinity(before: Any, after: Any) -> list[str]:
    """The expressions that required terms have gained, as a step writes them."""
    old, new = terms_of(before) or [], terms_of(after) or []
    found = []
    for index, term in enumerate(new):
        was = (old[index] or {}).get("matchExpressions") or [] if index < len(old) else []
        gained = (term or {}).get("matchExpressions", [])[len(was) :] if term else []
        if gained:
            found.append(
                " and ".join(f"{one['key']} {one['operator']} [{', '.join(one['values'])}]" for one in gained)
            )
    return found


def added_preferences(before: Any, after: Any) -> list[str]:
    def terms(spec: Any) -> list[Any]:
        return ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(PREFERRED) or []

    return [
        f"{term['preference']['matchExpressions'][0]['values'][0]}={text_of(term['weight'])}"
        for term in terms(after)[len(terms(before)) :]
    ]


@pytest.mark.load
@pytest.mark.parametrize("part", range(4))
def test_an_explanation_never_contradicts_the_decision(part):
    outcomes = set()
    for seed in range(part * COUNT, (part + 1) * COUNT):
        case = drawn(seed)
        if not case:
            continue
        pod, own, known, options, decision = case
        why = explanation(pod, own, decision, known, options, {})
        outcomes.add(decision.outcome)
        assert (why.outcome, why.reason) == (decision.outcome, decision.reason), seed
        assert {name.rpartition("/")[2] for name in why.reaches} == set(decision.reachable), seed
        named = {(image.image, field) for image in why.images for field in image.fields}
        assert named == {(use.text or "", dotted(use.path)) for use in pod.images}, seed

        after = pod_at(patch.apply(pod_document(pod), decision.patch), pod.path)
        made = {
            about: [
                reason.what for reason in why.reasons if (reason.about, reason.effect) == (about, "added")
            ]
            for about in ("affinity", "tolerations", "preferences")
        }
        assert made["affinity"] == added_affinity(pod.spec, after), seed
        assert made["preferences"] == added_preferences(pod.spec, after), seed
        if decision.patch:
            now = existing(pod.replace(spec=after))[len(existing(pod)) :]
            assert made["tolerations"] == [taint(one) for one in now], seed
            assert all(f"tolerates {what}" in why.reason for what in made["tolerations"]), seed
        else:
            assert made["tolerations"] == [], seed

        shown = text(Explained((ExplainedPod(Location(1, 1), why),)))
        assert len(shown.splitlines()) <= 24 + 2 * len(why.images) + len(why.terms) + len(why.reasons) + sum(
            len(image.messages) for image in why.images
        ) + len(why.messages) + len(why.settings), seed
        assert not any(of.reason == "" and of.effect != "added" for of in why.reasons), seed
    assert outcomes >= {"Change", "AlreadySet", "NotNeeded", "OptedOut", "Unresolved", "Conflict"}


def pod_document(pod: Any) -> dict[str, Any]:
    """An object that holds the pod spec at its path."""
    holder: Any = pod.spec
    for step in reversed(pod.path):
        holder = {step: holder}
    return holder


def pod_at(value: Any, path: Any) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("name", CASES)
def test_with_stamps_what_an_earlier_run_added_is_there_already(name):
    case = CASES[name]
    options = case.options.replace(stamp=True)
    known = answers(case.answers)

    def run(data: bytes) -> bytes:
        done = transform(
            data,
            split(data),
            options,
            lambda texts: {text: known.get(text) or known["app:1"] for text in texts},
        )
        return b"".join(stream.parts(data, done.splices)) if not done.failed() else data

    first = run(case.stream.encode())
    second = run(first)
    assert second == first
    for before, again in zip(
        explained_stream(case.stream, case.answers, options).pods,
        explained_stream(first.decode(), case.answers, options).pods,
        strict=True,
    ):
        if name == "unknown-and-assumed":
            # Nothing is assumed a second time: what the first run wrote stays, and the rest is judged with it.
            assert again.explanation.outcome == "Unresolved"
            assert {reason.effect for reason in again.explanation.reasons} == {"none", "left out"}
            continue
        for was, is_now in zip(before.explanation.reasons, again.explanation.reasons, strict=True):
            if first == case.stream.encode():
                assert is_now == was
            elif was.effect == "added":
                assert (is_now.effect, is_now.what) == ("present", was.what)
