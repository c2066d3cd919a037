"""What the API server is told about a Pod, by decision, answers and options."""

import gc
import json
import tracemalloc
from typing import Any

import jsonpatch
import pytest

from admission_reviews import Answered, decoded, pod
from archfit.base.errors import InvalidInput
from archfit.images.platforms import Absent, Answer, Malformed, Unasked, Unknown
from archfit.options.settings import Options
from archfit.webhook.admission_decision import (
    LONGEST,
    LONGEST_TOGETHER,
    AdmissionDecision,
    CachedDecision,
    DecisionCache,
    admission_decision,
)
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.webhook.memory_budget import MIB, Share
from archfit.webhook.review import pod_extract, response
from pod_decisions import found

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
LEAVE = at_admission(Options(on_absent="leave", on_unknown="leave", on_conflict="leave"))


AMD, ARM, BOTH = found("amd64"), found("arm64"), found("amd64 arm64")
UNKNOWN, ABSENT = Unknown("quay.io gave no answer"), Absent("manifest unknown")


def judged(
    answers: dict[str, Answer], options: Options = LEAVE, spec: dict[str, Any] | None = None, **metadata: Any
) -> tuple[AdmissionDecision, Answered]:
    value = pod(*answers, spec=spec, **metadata)
    made = admission_decision(admitted_pod(pod_extract(value), "shop", options), answers, options)
    answered = decoded(response("u", made.members))
    if answered.patch:  # it applies to the whole Pod, not only to what was read of it
        steps = [step for step in answered.patch if step["op"] != "test" or step["value"] is not None]
        assert jsonpatch.apply_patch(value, steps) != value
    return made, answered


def owned(kind: str, *, controller: bool = True) -> dict[str, Any]:
    return {
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "w", "controller": controller}]
    }


@pytest.mark.parametrize(
    ("answers", "metadata", "outcome"),
    [
        pytest.param({"a:1": AMD}, {}, "changed", id="one architecture"),
        pytest.param({"a:1": BOTH}, {}, "changed", id="all architectures: a toleration"),
        pytest.param({"a:1": BOTH}, {"name": "web"}, "changed", id="a name does not make it immutable"),
        pytest.param({"a:1": AMD}, {"spec": {"nodeSelector": {"kubernetes.io/arch": "amd64"}}}, "unchanged", id="pinned"),
        pytest.param({"a:1": AMD}, {"spec": {"nodeName": "n1"}}, "opted_out", id="bound"),
        pytest.param({"a:1": AMD}, owned("ReplicaSet"), "changed", id="a ReplicaSet's pod is decided"),
        pytest.param({"a:1": AMD}, owned("DaemonSet"), "opted_out", id="a DaemonSet's pod is left alone"),
        pytest.param({"a:1": AMD}, owned("DaemonSet", controller=False), "changed", id="an owner that controls nothing"),
        pytest.param({"a:1": AMD}, {"annotations": {"kubernetes.io/config.mirror": "5d0"}}, "opted_out", id="a mirror pod is left alone"),
        pytest.param({"a:1": AMD}, {"annotations": {"archfit.dev/skip": "true"}}, "opted_out", id="skip"),
        pytest.param({"a:1": UNKNOWN}, {}, "unresolved", id="unknown"),
        pytest.param({"a:1": ABSENT}, {}, "unresolved", id="absent"),
        pytest.param({"a:1": AMD, "b:1": ARM}, {}, "conflict", id="no node runs both"),
    ],
)  # fmt: skip
def test_the_outcome(answers, metadata, outcome):
    made, answered = judged(answers, **metadata)
    assert made.outcome == outcome
    assert answered.allowed
    assert (answered.patch is not None) == (outcome == "changed")
    assert bool(answered.warnings) == (outcome in {"unresolved", "conflict"})


def test_a_pod_that_is_narrowed_beside_an_unknown_image_counts_as_unresolved():
    made, answered = judged({"a:1": AMD, "b:1": UNKNOWN})
    assert (made.outcome, answered.patch is not None, len(answered.warnings)) == ("unresolved", True, 1)


@pytest.mark.parametrize(
    ("answers", "asked", "not_asked"),
    [
        pytest.param({"a:1": ABSENT}, {"on_absent": "fail"}, {"on_unknown": "fail"}, id="absent"),
        pytest.param({"a:1": UNKNOWN}, {"on_unknown": "fail"}, {"on_absent": "fail"}, id="unknown"),
        pytest.param({"a:1": AMD, "b:1": ARM}, {"on_conflict": "fail"}, {"on_absent": "fail"}, id="no node runs both"),
        pytest.param({"$(image)": Unasked("x")}, {"strict": True}, {"on_unknown": "fail"}, id="a placeholder"),
        pytest.param({"a@sha256:abc": Malformed("its digest has 3 digits")}, {"strict": True}, {"on_absent": "fail"}, id="not a reference"),
        pytest.param({"a:1": Unknown("the lock lacks it", final=True)}, {"on_unknown": "fail"}, {"on_conflict": "fail"}, id="the lock file lacks it"),
    ],
)  # fmt: skip
def test_a_pod_is_refused_only_where_the_operator_asked_for_it(answers, asked, not_asked):
    made, answered = judged(answers, LEAVE.replace(**asked))
    assert (made.outcome, answered.allowed, answered.patch) == ("denied", False, None)
    assert answered.status["message"].startswith("archfit: ")
    made, answered = judged(answers, LEAVE.replace(**not_asked))
    assert answered.allowed
    assert made.outcome != "denied"


def test_the_namespace_is_that_of_the_request_and_a_pod_that_is_left_alone_asks_nothing():
    assert admitted_pod(pod(), "shop", LEAVE).pod.ref.namespace == "shop"
    assert admitted_pod(pod(spec={"nodeName": "n1"}), "shop", LEAVE).questions == ()


@pytest.mark.parametrize(
    "value", [{}, {**pod(), "kind": "Service"}, {**pod(), "apiVersion": "example.com/v1"}]
)
def test_what_is_no_pod_is_refused(value):
    with pytest.raises(InvalidInput, match="not a v1 Pod"):
        admitted_pod(value, "shop", LEAVE)


def test_warnings_keep_within_what_the_api_server_passes_on():
    answers: dict[str, Answer] = {
        f"registry-{number}.example.com/{'team/' * 40}app:{number}": Unknown("why " * 200)
        for number in range(60)
    }
    warnings = judged(answers)[1].warnings
    assert all(len(text) <= LONGEST for text in warnings)
    assert sum(map(len, warnings)) <= LONGEST_TOGETHER
    assert warnings[-1] == f"archfit: {60 - len(warnings) + 1} more warnings are not shown"


def test_a_warning_shows_no_control_characters():
    (warning,) = judged({"a:1": Unknown("line\r\n\x1b[31mred")})[1].warnings
    assert warning.isprintable()


def cached(decisions: DecisionCache, value: dict[str, Any], namespace: str = "shop") -> CachedDecision:
    """As a request gets the decision on its Pod."""
    extract = pod_extract(value)
    key = decisions.key(extract, namespace)
    kept = decisions.kept(key) or decisions.fresh(extract, namespace)
    decisions.keep(key, kept, extract)
    return kept


class TestKept:
    def test_replicas_share_a_decision(self):
        decisions = DecisionCache(LEAVE, Share(MIB))
        one = pod("a:1", uid="1")
        two = pod("a:1", uid="2", generateName="web-5d4f-")
        one["metadata"]["generateName"] = "web-5d4f-"
        two["spec"]["volumes"][0]["name"] = "kube-api-access-other"
        two["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2026-01-01T00:00:01Z"}]
        kept = cached(decisions, one)
        assert cached(decisions, two) is kept
        assert kept.last({"a:1": AMD}) is None
        assert kept.decision({"a:1": AMD}) is kept.last({"a:1": AMD})

    def test_other_answers_make_another_decision(self):
        kept = cached(DecisionCache(LEAVE, Share(MIB)), pod("a:1"))
        assert kept.decision({"a:1": AMD}).outcome == "changed"
        assert kept.last({"a:1": UNKNOWN}) is None
        assert kept.decision({"a:1": UNKNOWN}).outcome == "unresolved"

    @pytest.mark.parametrize(
        "other",
        [
            pytest.param((pod("a:2"), "shop"), id="image"),
            pytest.param((pod("a:1"), "till"), id="namespace"),
            pytest.param((pod("a:1", spec={"nodeName": "n1"}), "shop"), id="spec"),
            pytest.param((pod("a:1", generateName="web-5d4f-", labels={"a": "b"}), "shop"), id="label"),
        ],
    )
    def test_a_pod_that_differs_is_decided_for_itself(self, other):
        decisions = DecisionCache(LEAVE, Share(MIB))
        value, namespace = other
        assert cached(decisions, pod("a:1")) is not cached(decisions, value, namespace)

    @pytest.mark.load
    @pytest.mark.parametrize(
        "make",
        [
            pytest.param(lambda name: pod(f"team/web:{name}", name=name), id="a usual pod"),
            pytest.param(lambda name: pod("a:1", spec={"tolerations": [{}] * 8000}, name=name), id="empty tolerations"),
            pytest.param(lambda name: pod("a:1", spec={"containers": [{}] * 8000}, name=name), id="empty containers"),
            pytest.param(lambda name: pod("a:1", spec={"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM] * 300}}}}, name=name), id="terms"),
            pytest.param(lambda name: pod(*(f"a{n}:{name}" for n in range(200)), name=name), id="images"),
            pytest.param(lambda name: pod("a:1", labels={f"{n}": "" for n in range(1000)}, name=name), id="labels"),
            pytest.param(lambda name: pod("a:1", annotations={"a": "\U0001f600" * 5000}, name=name), id="wide text"),
            pytest.param(lambda name: pod("{" * 15_000, name=name), id="a long image"),
        ],
    )  # fmt: skip
    def test_what_is_kept_has_no_more_bytes_than_are_held(self, make):
        share = Share(1 << 40)
        decisions = DecisionCache(LEAVE, share)

        def keep(name: str) -> None:
            kept = cached(decisions, json.loads(json.dumps(make(name))))
            kept.decision(dict.fromkeys(kept.admitted.questions, AMD))

        keep("warm")
        tracemalloc.start()
        try:
            before, held = tracemalloc.get_traced_memory()[0], share.held
            for number in range(10):
                keep(f"n{number}")
            gc.collect()
            taken = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert 0 < taken <= share.held - held
