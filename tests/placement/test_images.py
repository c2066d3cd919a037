"""Which images are asked about, and what each use of an image gets for an answer."""

from typing import Any

import pytest

from archfit.images.platforms import Absent, Found, ImagePlatforms, Unasked, Unknown, parse_platform
from archfit.options.settings import Exclude, Options
from archfit.placement.selection import answers_for, pod_options
from pod_decisions import DEFAULT, GKE, a_pod, decided, found, in_, questions_of, term, terms_of, using

A, AR = "amd64", "amd64 arm64"
INJECTED = {"annotations": {"inject.istio.io/templates": "gateway"}}


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        pytest.param(using("b:1", "a:1"), ("b:1", "a:1"), id="in-order"),
        pytest.param(using("a", "a"), ("a",), id="mto-duplicate-is-asked-once"),
        pytest.param(
            {
                **using("a"),
                "initContainers": [{"image": "i", "restartPolicy": "Always"}],
                "ephemeralContainers": [{"image": "e"}],
                "volumes": [{"image": {"reference": "v"}}],
            },
            ("a", "i", "v"),
            id="containers-sidecars-and-volumes-but-no-ephemeral-ones",
        ),
        pytest.param({"containers": [{"name": "x"}, {"image": None}, {"image": ""}]}, (), id="empty-and-missing"),
        pytest.param({"containers": [{"image": "a", "imagePullPolicy": "Never"}]}, (), id="never-pulled"),
        pytest.param({"containers": [{"image": "a", "imagePullPolicy": "Always"}]}, ("a",), id="pulled"),
        pytest.param({"containers": [{"image": "a", "imagePullPolicy": "Never"}, {"image": "a"}]}, ("a",), id="pulled-elsewhere"),
        pytest.param(using("ko://x/y", "$(params.x)", "{{ .Values.x }}", "UPPER", "a b"), (), id="no-references"),
        pytest.param(using("auto"), ("auto",), id="auto-without-injector"),
        pytest.param({**using("a"), "nodeName": "n1"}, (), id="node-name"),
        pytest.param({**using("a"), "nodeSelector": {"type": "virtual-kubelet"}}, (), id="virtual-node"),
    ],
)  # fmt: skip
def test_questions(spec, asked):
    assert questions_of(a_pod(spec)) == asked


@pytest.mark.parametrize(
    ("metadata", "asked"),
    [
        pytest.param(INJECTED, False, id="templates-annotation"),
        pytest.param({"labels": {"sidecar.istio.io/inject": "true"}}, False, id="inject-label"),
        pytest.param({"annotations": {"sidecar.istio.io/inject": "true"}}, False, id="inject-annotation"),
        pytest.param({"labels": {"istio.io/rev": "canary"}}, False, id="revision-label"),
        pytest.param({"labels": {"sidecar.istio.io/inject": "false"}}, True, id="inject-false"),
        pytest.param(
            {**INJECTED, "labels": {"sidecar.istio.io/inject": "false"}}, True, id="false-takes-the-mark-back"
        ),
        pytest.param({"labels": {"app": "auto"}, "annotations": {"a": "b"}}, True, id="other-marks"),
        pytest.param({"labels": ["istio.io/rev"]}, True, id="labels-no-mapping"),
    ],
)
def test_auto_under_an_injector(metadata, asked):
    assert questions_of(a_pod(using("auto", "a"), metadata=metadata)) == (("auto", "a") if asked else ("a",))


def test_another_image_under_an_injector_is_asked():
    assert questions_of(a_pod(using("automatic"), metadata=INJECTED)) == ("automatic",)


def test_each_use_gets_its_answer():
    spec = {
        "containers": [
            {"image": "a"},
            {"image": ""},
            {"image": "a", "imagePullPolicy": "Never"},
            {"image": "$(x)"},
            {"image": "b"},
            {"image": "forgotten"},
        ]
    }
    pod = a_pod(spec)
    got = answers_for(pod, {"a": found(A), "b": Absent("no")}, DEFAULT, pod_options(pod, DEFAULT))
    assert [type(answer) for answer in got] == [Found, Unasked, Unasked, Unasked, Absent, Unknown]
    assert got[1] == Unasked("no image is named")
    assert got[2] == Unasked("it is never pulled (imagePullPolicy: Never)")


def test_an_override_answers_for_an_image_that_is_never_pulled():
    rows = (ImagePlatforms("docker.io/library/a*", (parse_platform("linux/amd64"),)),)
    spec = {
        "containers": [{"image": "a", "imagePullPolicy": "Never"}, {"image": "b", "imagePullPolicy": "Never"}]
    }
    outcome = decided(spec, {}, Options(image_platforms=rows))
    assert terms_of(outcome.spec) == [term(in_("amd64"))]
    assert [message.split(":")[0] for message in outcome.messages] == ["info", "info"]
    assert "tolerations" not in outcome.spec


@pytest.mark.parametrize(
    ("image", "metadata"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param("ko://x/y", {}, id="ko"),
        pytest.param("$(params.x)", {}, id="tekton"),
        pytest.param("{{ .Values.image }}", {}, id="template"),
        pytest.param("auto", INJECTED, id="auto-under-an-injector"),
    ],
)
def test_unasked_restricts_nothing_and_no_toleration_is_added(image, metadata):
    alone = decided(using(image), {}, metadata=metadata)
    assert (alone.name, alone.added) == ("NotNeeded", {})
    beside = decided(using("a", image), {"a": A}, metadata=metadata)
    assert beside.added == {"affinity": alone_affinity()}
    multi = decided(using("a", image), {"a": AR}, metadata=metadata)
    assert (multi.name, multi.added) == ("NotNeeded", {})
    assert multi.decision.reason.endswith("the platforms of others cannot be looked up")
    assert [result.severity for result in multi.decision.messages] == ["info"]


def alone_affinity() -> Any:
    return decided(using("a"), {"a": A}).spec["affinity"]


MALFORMED = [
    pytest.param("nginx@sha256:abc", "has a sha256 digest of 3 digits", id="short-digest"),
    pytest.param("ghcr.io/Foo/bar:1", "upper-case letters in its repository", id="upper-case"),
    pytest.param(" nginx:1 ", "holds a blank", id="blanks"),
    pytest.param("nginx:", "has a malformed tag", id="empty-tag"),
    pytest.param("<image>", "still holds a placeholder", id="a-placeholder-that-nothing-marks"),
    pytest.param("REPLACE_ME", "upper-case letters", id="a-word-to-replace"),
    pytest.param("https://quay.io/x/y:1", "is a URL: write 'quay.io/x/y:1'", id="https"),
    pytest.param("http://x/y", "is a URL: write 'x/y'", id="http"),
    pytest.param("docker://nginx:1", "is a URL: write 'nginx:1'", id="docker-transport"),
    pytest.param("oci://x/y", "is a URL: write 'x/y'", id="oci"),
    pytest.param("https://X/?y", "is a URL; leave out 'https://'", id="a-url-of-something-else"),
]


@pytest.mark.parametrize(("image", "why"), MALFORMED)
@pytest.mark.parametrize("policy", ["fail", "leave"])
def test_a_malformed_reference_is_an_error(image, why, policy):
    options = Options(on_unknown=policy, on_absent=policy, on_conflict=policy)
    outcome = decided(using("a", image), {"a": A}, options)
    assert (outcome.name, outcome.added) == ("Unresolved", {})
    (result,) = outcome.decision.messages
    assert result.severity == "error"
    assert result.text.startswith(f"{image}: no node can pull it: ")
    assert why in result.text
    assert "archfit.dev/image-platforms" in result.text
    assert result.field == "spec.template.spec.containers[1].image"


def test_so_it_is_where_the_image_is_never_pulled_as_the_kubelet_parses_it_first():
    spec = {"containers": [{"image": "Nginx:1", "imagePullPolicy": "Never"}]}
    assert decided(spec, {}).name == "Unresolved"


@pytest.mark.parametrize(
    ("spec", "metadata", "options"),
    [
        pytest.param({}, {"annotations": {"archfit.dev/skip": "true"}}, Options(), id="skip"),
        pytest.param({"nodeName": "n1"}, {}, Options(), id="node-name"),
        pytest.param({}, {}, Options(exclude=(Exclude("Deployment"),)), id="exclude"),
    ],
)
def test_a_pod_that_is_left_alone_may_hold_one(spec, metadata, options):
    outcome = decided({**using("nginx@sha256:abc"), **spec}, {}, options, metadata=metadata)
    assert (outcome.name, outcome.messages) == ("OptedOut", [])


def test_platforms_stated_for_the_pod_answer_for_it():
    notes = {"annotations": {"archfit.dev/image-platforms": "linux/amd64"}}
    outcome = decided(using("REPLACE_ME"), {}, metadata=notes)
    assert terms_of(outcome.spec) == [term(in_("amd64"))]


@pytest.mark.parametrize("image", ["ko://x/y", "$(x)", "<<image>>", "{{ .Values.image }}", "app:${TAG}"])
def test_a_placeholder_is_no_error(image):
    outcome = decided(using(image), {})
    assert (outcome.name, [result.severity for result in outcome.decision.messages]) == (
        "NotNeeded",
        ["info"],
    )


def test_strict_makes_unasked_an_error():
    outcome = decided(using("a", "$(x)", ""), {"a": A}, Options(strict=True))
    assert outcome.name == "Unresolved"
    assert outcome.added == {}
    assert [result.severity for result in outcome.decision.messages] == ["error", "error"]
    assert outcome.decision.messages[1].field == "spec.template.spec.containers[2].image"


@pytest.mark.parametrize(
    ("answer", "options", "severity", "says"),
    [
        pytest.param(Absent("404"), Options(), "error", "a: there is no such image: 404; correct", id="absent-fail"),
        pytest.param(Absent("404"), Options(on_absent="leave"), "warning", "restricts nothing", id="absent-leave"),
        pytest.param(
            Absent("404"), Options(on_unknown="assume", assume=(parse_platform("amd64"),)), "error", "there is no such image", id="assume-is-never-for-absent"
        ),
        pytest.param(Absent("404"), Options(on_unknown="leave"), "error", "no such image", id="leave-unknown-is-not-for-absent"),
        pytest.param(Unknown("401"), Options(), "error", "its platforms are not known: 401", id="unknown-fail"),
        pytest.param(Unknown("401"), Options(on_unknown="leave"), "warning", "restricts nothing", id="unknown-leave"),
        pytest.param(Unknown("401"), Options(on_absent="leave"), "error", "not known", id="leave-absent-is-not-for-unknown"),
        pytest.param(Unknown("401"), Options(on_unknown="assume"), "error", "needs --assume", id="assume-without-platforms"),
    ],
)  # fmt: skip
def test_no_answer(answer, options, severity, says):
    for spec in (using("a"), *([using("a", "b")] if severity == "error" else [])):
        outcome = decided(spec, {"a": answer, "b": A}, options)
        assert outcome.name == "Unresolved"
        assert outcome.added == {}
        (result,) = outcome.decision.messages
        assert (result.severity, says in result.text) == (severity, True)
        assert result.field == "spec.template.spec.containers[0].image"


@pytest.mark.parametrize("answer", [Absent("404"), Unknown("401")], ids=["absent", "unknown"])
def test_where_an_answer_is_left_what_is_known_still_narrows(answer):
    """Safe whatever the other image is, with a stamp as without; a toleration would not be."""
    leave = Options(on_absent="leave", on_unknown="leave", prefer=(("arm64", 1),))
    outcome = decided(using("a", "b"), {"a": answer, "b": found("arm64")}, leave)
    assert (outcome.name, terms_of(outcome.spec)) == ("Change", [term(in_("arm64"))])
    assert "tolerations" not in outcome.spec
    again = decided(outcome.spec, {"a": answer, "b": found("arm64")}, leave)
    assert (again.name, again.decision.patch) == ("Unresolved", ())
    both = decided(using("a", "b"), {"a": answer, "b": found("amd64 arm64")}, leave)
    assert (both.name, both.added) == ("Unresolved", {})
    stamp = {"annotations": {"archfit.dev/added": "[]"}}
    stamped = decided(using("a", "b"), {"a": answer, "b": found("arm64")}, leave, object_metadata=stamp)
    assert (stamped.name, stamped.added) == (outcome.name, outcome.added)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(
            Unknown("the name 'r.example' cannot be resolved"),
            "a: its platforms are not known: the name 'r.example' cannot be resolved. You can also state them with "
            "--image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave",
            id="nobody-is-to-blame",
        ),
        pytest.param(
            Unknown("the credentials file /x cannot be read", mistake=True),
            "a: its platforms are not known: the credentials file /x cannot be read. Correct this, or state the "
            "platforms with --image-platforms or archfit.dev/image-platforms",
            id="a-mistake-of-configuration",
        ),
        pytest.param(
            Unknown("the cache has no answer", remedy="run once without --offline"),
            "a: its platforms are not known: the cache has no answer; run once without --offline, or choose "
            "--on-unknown assume or leave",
            id="a-remedy-of-its-own",
        ),
    ],
)
def test_what_to_do_about_an_unknown_image_depends_on_the_cause(answer, message):
    (result,) = decided(using("a"), {"a": answer}).decision.messages
    assert result.text == message


@pytest.mark.parametrize(
    ("assumed", "platforms"),
    [
        pytest.param("linux/amd64", A, id="one"),
        pytest.param("linux/arm64", "arm64", id="tolerated-too"),
    ],
)
def test_assume_is_as_if_the_image_had_these_platforms(assumed, platforms):
    options = Options(on_unknown="assume", assume=(parse_platform(assumed),))
    as_if = decided(using("a", "b"), {"a": platforms, "b": AR}, options)
    outcome = decided(using("a", "b"), {"a": Unknown("down"), "b": AR}, options)
    assert outcome.added == as_if.added
    assert outcome.messages == [f"warning: a: down; assumed to run on {assumed} (--on-unknown assume)"]


def test_all_problems_of_a_pod_are_reported_once_each():
    spec = {**using("a", "b", "b", "c"), "nodeSelector": ["x"], "tolerations": "all"}
    metadata = {"annotations": {"archfit.dev/olny": "amd64"}}
    outcome = decided(spec, {"a": A, "b": Absent("404"), "c": Unknown("down")}, metadata=metadata)
    assert [result.field for result in outcome.decision.messages] == [
        'spec.template.metadata.annotations["archfit.dev/olny"]',
        "spec.template.spec.containers[1].image",
        "spec.template.spec.containers[3].image",
        "spec.template.spec.nodeSelector",
        "spec.template.spec.tolerations",
    ]
    assert {result.severity for result in outcome.decision.messages} == {"error"}
    assert {(result.ref, result.location) for result in outcome.decision.messages} == {
        (outcome.pod.ref, outcome.pod.location)
    }


@pytest.mark.parametrize(
    ("fields", "severity", "says"),
    [
        pytest.param({"origin": "stale", "age_seconds": 90000}, "warning", "25 hours old", id="stale"),
        pytest.param({"origin": "override"}, "info", "annotation: linux/amd64, linux/arm64", id="override"),
    ],
)
def test_answers_worth_saying(fields, severity, says):
    outcome = decided(using("a", "a"), {"a": found(AR, **fields)})
    assert outcome.added == {"tolerations": [GKE]}
    (result,) = outcome.decision.messages
    assert (result.severity, says in result.text) == (severity, True)


@pytest.mark.parametrize("origin", ["registry", "cache", "lock"])
def test_answers_not_worth_saying(origin):
    assert decided(using("a"), {"a": found(AR, origin=origin)}).messages == []
