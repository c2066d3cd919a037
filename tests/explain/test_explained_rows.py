"""Each row of the table of decisions has its sentence in `archfit explain`; fixtures/explained.txt has the trees."""

import re

import pytest
from tests.explain.explained_cases import CASES, workload
from tests.explain.explained_pods import explained_stream, tree

from archfit.options.settings import Options
from machine import ROOT
from pod_decisions import found

pytestmark = pytest.mark.usefixtures("nothing_seen")
TREES = dict(
    re.findall(
        r"^# (.+)\n((?:.|\n)*?)(?=\n# |\n\Z)",
        (ROOT / "fixtures" / "explained.txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


@pytest.mark.parametrize("name", CASES)
def test_the_tree_of_a_row(name):
    case = CASES[name]
    assert tree(case.stream, case.answers, case.options) == TREES[name]


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_that_is_a_command_is_one_word_for_the_shell_in_each_place(name):
    case = CASES[name]
    for pod in explained_stream(case.stream, case.answers, case.options).pods:
        for remedy in pod.explanation.remedies:
            assert not remedy.command or re.fullmatch(
                r"archfit (inspect|login-check) [\w./:@-]+|--image-platforms '[\w./:-]+=[\w/,]+'",
                remedy.command,
            )


def test_the_reason_of_a_preference_is_the_condition_that_refused_it():
    """Images that are mounted alone have an answer, and still say nothing about where the pod runs."""
    volume = "volumes: [{name: a, image: {reference: 'x.io/data:1'}}]"
    stream, options = workload(volume, images=()), Options(prefer=(("arm64", 5),))
    (pod,) = explained_stream(stream, {"x.io/data:1": found("amd64", index=False)}, options).pods
    reason = "its images are mounted, and say nothing about where it runs"
    assert [of.reason for of in pod.explanation.reasons if of.about == "preferences"] == [reason]


def test_a_pod_that_is_left_alone_says_what_to_do():
    for name, case in CASES.items():
        for pod in explained_stream(case.stream, case.answers, case.options).pods:
            if not pod.explanation.decided:
                assert pod.explanation.remedies or pod.explanation.messages or "final" in str(pod), name


@pytest.mark.parametrize(
    ("fields", "remedy"),
    [
        pytest.param("nodeName: virtual-1", "remove spec.nodeName, so that the scheduler places the pod", id="node"),
        pytest.param("nodeSelector: {type: virtual-kubelet}",
                     "remove type: virtual-kubelet from its nodeSelector, if it is for other nodes too", id="virtual"),
        pytest.param("nodeSelector: {kubernetes.io/arch: '{{ virtual }}'}",
                     "explain what is made from it: render it first", id="noop: the word virtual in a placeholder"),
    ],
)  # fmt: skip
def test_a_remedy_is_chosen_by_what_leaves_the_pod_alone_not_by_words(fields, remedy):
    (pod,) = explained_stream(workload(fields), {}).pods
    assert [one.effect for one in pod.explanation.remedies] == [remedy]


def test_images_that_another_object_lends_are_told_apart():
    """They have one place in the object that borrows them."""
    stream = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: onnx}
spec:
  containers:
  - {name: kserve-container, image: 'app:1'}
  - {name: logs, image: 'logs:1'}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: flowers}
spec: {predictor: {model: {runtime: onnx, modelFormat: {name: onnx}}}}
"""
    pods = explained_stream(stream, {"app:1": "amd64", "logs:1": "amd64 arm64"}).pods
    images = {one.image: one for one in pods[-1].explanation.images}
    assert {name: one.runs_on for name, one in images.items() if name} == {
        "app:1": ("amd64",),
        "logs:1": ("amd64", "arm64"),
    }
    answers = {
        "app:1": found("amd64").replace(origin="override"),
        "logs:1": found("arm64").replace(origin="override"),
    }
    for one in explained_stream(stream, answers).pods[-1].explanation.images:
        stated = f"its platforms are stated by configuration or annotation: {', '.join(one.platforms)}"
        assert not one.image or one.messages == (stated,)
