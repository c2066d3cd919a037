"""A run in words: once for each thing, errors last, one sentence at the end."""

import pytest

from archfit.base.results import Decision, Location, Message, ObjectRef, Reason
from archfit.images.platforms import Unasked
from archfit.reports.summary import failure, lines, summary
from archfit.workloads.pods import Pod

REF = ObjectRef("apps/v1", "Deployment", "shop", "web")
PLACE = Location(3, 41, "shop/templates/web.yaml")


def pod(kind="Deployment", name="web", *, immutable=False, document=3):
    ref = ObjectRef("apps/v1", kind, "shop", name)
    return Pod(ref, "apps", PLACE.replace(document=document), ("spec",), {}, {}, {}, (), immutable)


def test_a_line_says_what_where_and_in_which_file():
    result = Message(
        "error", "no such image. Correct it", REF, "spec.template.spec.containers[0].image", PLACE
    )
    assert lines([result]) == [
        "error: apps/v1/Deployment/shop/web spec.template.spec.containers[0].image: no such image. Correct it "
        "(document 3, line 41 of the stream, shop/templates/web.yaml)"
    ]


def test_errors_come_last_and_the_rest_in_the_order_of_the_stream():
    said = [Message("error", "e1"), Message("warning", "w1"), Message("info", "i1"), Message("warning", "w2")]
    assert lines(said) == ["info: i1", "warning: w1", "warning: w2", "error: e1"]


@pytest.mark.parametrize(
    ("places", "tail"),
    [
        pytest.param(1, "", id="noop-one-place"),
        pytest.param(2, " (and in 1 other place)", id="two"),
        pytest.param(4, " (and in 3 other places)", id="four"),
    ],
)
def test_what_is_true_of_several_places_is_said_once(places, tail):
    said = [Message("warning", "w", location=Location(number + 1, 1)) for number in range(places)]
    assert lines(said) == ["warning: w (document 1, line 1)" + tail]


def failing(name, cause="it is down"):
    return Message("error", f"{name}: {cause}", location=Location(1, 1), path=(name,), image=name)


@pytest.mark.parametrize(
    ("names", "tail"),
    [
        pytest.param("a", "", id="noop-one-image"),
        pytest.param("a b", " (and in 1 other place, with 1 other image: b)", id="two"),
        pytest.param("a b c d e f g h", " (and in 7 other places, with 7 other images: b, c, d, e, f, 2 more)", id="the-first-are-named"),
    ],
)  # fmt: skip
def test_one_cause_of_several_images_is_one_message(names, tail):
    assert lines(map(failing, names.split())) == ["error: a: it is down (document 1, line 1)" + tail]


def test_other_causes_are_other_messages():
    assert lines([failing("a"), failing("b", "no such image")]) == [
        "error: a: it is down (document 1, line 1)",
        "error: b: no such image (document 1, line 1)",
    ]


def test_the_same_result_twice_is_one_place():
    assert lines([Message("warning", "w"), Message("warning", "w")]) == ["warning: w"]


CHANGE, NOT_NEEDED, HERE = Decision("Change", ""), Decision("NotNeeded", ""), Decision("AlreadySet", "")
UNKNOWN, CONFLICT = Decision("Unresolved", ""), Decision("Conflict", "")
OF_WEB = Decision("OptedOut", "", controller="Deployment/web")
LATER = Decision("OptedOut", "its nodeSelector's kubernetes.io/arch is filled in later (${A})")
SKIPPED = Decision("OptedOut", 'archfit.dev/skip: "true"')
FIXED = Decision("NotNeeded", "", immutable=True)
JOB, REPLICAS = pod("Job", "once", immutable=True), pod("ReplicaSet", "web-1")
DELETED = pod("ReplicaSet", "a").replace(waits_for="their pods are deleted")
NEXT = pod("CronJob", "b").replace(waits_for="they make their next pods")
REFUSED = (
    "archfit: the API server may refuse the change of 1 object: apps/v1/Job/shop/once. Where it exists with another pod "
    'template, applying it fails ("field is immutable"). Delete it first: kubectl delete -n shop job.apps/once; or, where '
    "it was applied without archfit, keep it so with --exclude=Job/shop/once\narchfit: see docs/helm.md#jobs"
)
JOBS = [
    *((pod("Job", "a", immutable=True, document=number), CHANGE) for number in (1, 2)),
    *[(pod("Pod", "a", immutable=True, document=4), CHANGE)] * 2,
]
LOOKED_UP = "1 image, 0 registry requests"


@pytest.mark.parametrize(
    ("decisions", "text"),
    [
        pytest.param([(pod(), HERE)], f"0 of 1 pod template changes and rolls once when applied; {LOOKED_UP}", id="nothing-changes"),
        pytest.param([(pod(), CHANGE), (pod(), NOT_NEEDED)], f"1 of 2 pod templates changes and rolls once when applied; {LOOKED_UP}", id="one-changes"),
        pytest.param(
            [(pod(), CHANGE), (DELETED, CHANGE), (NEXT, NOT_NEEDED)],
            f"2 of 3 pod templates change: 1 rolls once when applied, 1 once their pods are deleted (ReplicaSet/a); {LOOKED_UP}",
            id="what-does-not-roll-at-once-is-named",
        ),
        pytest.param(
            [(pod(), CHANGE), (JOB, Decision("Change", "", immutable=True))],
            f"1 of 1 pod template changes and rolls once when applied; 1 Job changes, and cannot be updated if it exists; {LOOKED_UP}\n{REFUSED}",
            id="immutable-objects-are-named",
        ),
        pytest.param(
            [(JOB, FIXED), (pod("Job", "hook", immutable=True), CHANGE), (REPLICAS, OF_WEB)],
            f"1 Job changes, which is made anew each time; {LOOKED_UP}",
            id="made-anew-is-counted-apart-and-what-a-controller-made-not-at-all",
        ),
        pytest.param(JOBS, f"3 objects (Job, Pod) change, which are made anew each time; {LOOKED_UP}", id="objects-are-counted-once-and-those-without-a-name-apart"),
        pytest.param([(JOB, FIXED)], f"0 of 1 pod spec changes; {LOOKED_UP}", id="noop-no-templates"),
        pytest.param(
            [(REPLICAS, OF_WEB), (pod("Job", "a", immutable=True), Decision("OptedOut", "", immutable=True)), (JOB, FIXED)],
            f"0 of 2 pod specs change; {LOOKED_UP}",
            id="noop-no-templates-of-ours",
        ),
        pytest.param([(REPLICAS, OF_WEB)], f"nothing changes; {LOOKED_UP}", id="noop-a-controller-decides"),
        pytest.param(
            [(pod(), UNKNOWN), (pod(), CONFLICT)],
            "0 of 2 pod templates change and roll once when applied; 1 of 2 pod specs left alone, images unknown; "
            f"1 of 2 pod specs left alone, no node fits; {LOOKED_UP}",
            id="left-alone",
        ),
        pytest.param(
            [(pod(), LATER), (pod(), SKIPPED)],
            f"0 of 2 pod templates change and roll once when applied; 1 of 2 pod specs left alone, placement filled in later; {LOOKED_UP}",
            id="a-template-in-the-placement",
        ),
    ],
)  # fmt: skip
def test_the_summary_counts_what_rolls_and_what_cannot_be_changed(decisions, text):
    assert summary(decisions, {"a:1": Unasked("")}, 0) == f"archfit: {text}"
    assert summary([], {"a:1": Unasked("")}, 0) == ""


TOLERATES, NARROWED = (
    Reason("tolerations", "kubernetes.io/arch=arm64:NoSchedule", "added", ""),
    Reason("affinity", "kubernetes.io/arch In [amd64]", "added", ""),
)
PREFERS = Reason("preferences", "arm64=5", "added", "")
HINT = "(`archfit setup cluster` says whether a node has its taint); 0 images, 0 registry requests"


@pytest.mark.parametrize(
    ("reasons", "text"),
    [
        pytest.param([[TOLERATES]], f"changes and rolls once when applied, for the toleration alone {HINT}", id="one"),
        pytest.param(
            [[TOLERATES, PREFERS.replace(effect="left out")], [NARROWED], [TOLERATES, TOLERATES.replace(what="a:NoSchedule")]],
            f"change and roll once when applied, 2 of them for the toleration alone {HINT}",
            id="some",
        ),
        pytest.param(
            [[NARROWED, TOLERATES], [TOLERATES, PREFERS]],
            "change and roll once when applied; 0 images, 0 registry requests",
            id="noop-for-more-than-that",
        ),
    ],
)  # fmt: skip
def test_templates_that_change_for_the_default_toleration_alone_are_counted(reasons, text):
    decisions = [(pod(), Decision("Change", "", reasons=tuple(added))) for added in reasons]
    number = len(reasons)
    assert summary(decisions, {}, 0, default_taint=True) == (
        f"archfit: {number} of {number} pod template{'s' * (number > 1)} {text}"
    )
    assert "setup cluster" not in summary(decisions, {}, 0)
    jobs = [(pod("Job", immutable=True), Decision("Change", reason)) for reason in reasons]
    assert "setup cluster" not in summary(jobs, {}, 0, default_taint=True)


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        pytest.param(1, "archfit: 1 problem; nothing was written", id="one"),
        pytest.param(2, "archfit: 2 problems; nothing was written", id="two"),
    ],
)
def test_a_failure_counts_its_problems(errors, text):
    assert (
        failure([Message("error", str(number)) for number in range(errors)] + [Message("warning", "w")])
        == text
    )
