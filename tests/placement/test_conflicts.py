"""What a conflict says: what the pod demands, what each image offers."""

import pytest

from archfit.options.settings import Options
from pod_decisions import ARCH, OS, REQUIRED, decided, found, in_, requiring, term, using

A, R, AR = "amd64", "arm64", "amd64 arm64"
ADVICE = (
    ". Use images that share an architecture the pod can reach, change what the pod asks for, or set "
    'archfit.dev/skip: "true" on it; --on-conflict leave leaves such pods as they are'
)


@pytest.mark.parametrize(
    ("fields", "images", "message", "field"),
    [
        pytest.param(
            {"nodeSelector": {ARCH: "arm64"}},
            {"a:1": A, "b:1": AR},
            "pinned to arm64 by its nodeSelector, but a:1 offers only amd64; b:1 offers amd64, arm64",
            f'.nodeSelector["{ARCH}"]',
            id="pinned",
        ),
        pytest.param(
            {"affinity": requiring(term(in_("arm64")))},
            {"a:1": A},
            "pinned to arm64 by its required node affinity, but a:1 offers only amd64",
            f".affinity.nodeAffinity.{REQUIRED}",
            id="required",
        ),
        pytest.param(
            {"affinity": requiring(term(("zone", "Exists")))},
            {"a:1": "s390x"},
            "no architecture is left: the cluster has amd64, arm64, but a:1 offers only s390x",
            f".affinity.nodeAffinity.{REQUIRED}",
            id="terms-without-architecture",
        ),
        pytest.param(
            {},
            {"a:1": A, "b:1": R, "c:1": AR, "d:1": "wasi/wasm"},
            "no architecture is left: the cluster has amd64, arm64, but a:1 offers only amd64; "
            "b:1 offers only arm64; c:1 offers amd64, arm64; d:1 runs anywhere",
            "",
            id="disjoint",
        ),
        pytest.param(
            {},
            {"a:1": "windows/amd64"},
            "no architecture is left: the cluster has amd64, arm64, but a:1 offers nothing for linux, only windows/amd64",
            "",
            id="another-os",
        ),
        pytest.param(
            {"nodeSelector": {OS: "windows", ARCH: "arm64"}},
            {"a:1": "windows/amd64 linux/arm64"},
            "pinned to arm64 by its nodeSelector, but a:1 offers only windows/amd64",
            f'.nodeSelector["{ARCH}"]',
            id="windows",
        ),
        pytest.param(
            {"affinity": requiring({})},
            {"a:1": A},
            "no node matches its own nodeSelector and required node affinity; a:1 offers amd64",
            f".affinity.nodeAffinity.{REQUIRED}",
            id="the-pod-alone-is-to-blame",
        ),
        pytest.param({}, {"a:1": ""}, "no architecture is left: the cluster has amd64, arm64, but a:1 offers nothing for linux", "", id="nothing"),
    ],
)  # fmt: skip
def test_conflict_messages(fields, images, message, field):
    outcome = decided({**using(*images), **fields}, images)
    assert [one.partition(". If an earlier run")[0] for one in outcome.messages] == [
        f"error: {message}{ADVICE}"
    ]
    (result,) = outcome.decision.messages
    assert result.field == f"spec.template.spec{field}"
    assert result.ref == outcome.pod.ref
    assert result.location == outcome.pod.location


def test_a_conflict_lists_an_image_once():
    outcome = decided(using("a:1", "a:1", "b:1"), {"a:1": A, "b:1": found(R)})
    assert outcome.messages[0].count("a:1 offers") == 1


def test_a_conflict_says_who_removed_what():
    decision = decided(using("a:1", "b:1"), {"a:1": A, "b:1": R}, Options(on_conflict="leave")).decision
    assert [(one.architecture, one.images) for one in decision.removed] == [
        ("amd64", ("b:1",)),
        ("arm64", ("a:1",)),
    ]
    assert decision.supported == ()
