"""`import archfit` with what it cannot use: one ArchfitError that says what, where and what to do; nothing else."""

import json
import socket
import traceback
from pathlib import Path
from typing import Any

import pytest

import archfit
from archfit.api import calls
from fake_registry import Answer, FakeRegistry

SPEC = {"containers": [{"name": "web", "image": "app:1"}]}
POD = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": SPEC})
CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE


def nested(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = [value]
    return value


def decide(spec: Any, images: Any = {}, **options: Any) -> Any:  # noqa: B006 - nothing changes it
    return archfit.decide(spec, images, **options)


BAD = [
    # manifests
    pytest.param(lambda: archfit.transform(None), "usage", "bytes or str, not None", id="none"),
    pytest.param(lambda: archfit.transform({}), "usage", r"type dict: pass json\.dumps", id="a-dict"),
    pytest.param(lambda: archfit.transform([b""]), "usage", r"type list: pass json\.dumps", id="a-list"),
    pytest.param(lambda: archfit.transform(Path("a")), "usage", "pass rendered YAML", id="a-path"),
    pytest.param(lambda: archfit.transform(bytearray(b"")), "usage", "type bytearray", id="a-bytearray"),
    pytest.param(lambda: archfit.transform(b"\xff\xfe"), "input", "UTF-8", id="no-utf-8"),
    pytest.param(lambda: archfit.transform(b"\x1f\x8b"), "input", "gzip archive", id="an-archive"),
    pytest.param(lambda: archfit.transform("a\n\ud800"), "input", "surrogate", id="half-a-character"),
    pytest.param(lambda: archfit.transform("a: [\n"), "input", "not YAML", id="no-yaml"),
    pytest.param(lambda: archfit.transform("Error: no chart"), "input", "error message", id="an-error-message"),
    pytest.param(lambda: archfit.transform("{{ .Values.x }}"), "input", "helm template", id="a-template"),
    pytest.param(lambda: archfit.transform("", onBlank="fail"), "input", "no manifests", id="blank"),
    # options
    pytest.param(lambda: archfit.transform("", cluster_architectures=[]), "usage", "'clusterArchitectures'", id="snake-case"),
    pytest.param(lambda: archfit.transform("", onUnknow="x"), "usage", "'onUnknown'", id="misspelt"),
    pytest.param(lambda: decide(SPEC, offlin=True), "usage", "write 'offline'", id="misspelt-in-decide"),
    pytest.param(lambda: archfit.platforms([], x=1), "usage", "known are config", id="like-no-other"),
    pytest.param(lambda: archfit.transform("", quiet=True), "usage", "Result", id="of-the-command-alone"),
    pytest.param(lambda: archfit.transform("", report="a"), "usage", "Result", id="a-report"),
    pytest.param(lambda: archfit.transform("", clusterArchitectures="amd64"), "usage", "a list", id="a-str-for-a-list"),
    pytest.param(
        lambda: archfit.transform("", clusterArchitectures=["amd46"]),
        "usage",
        r"clusterArchitectures\[0\]: .*write 'amd64'",
        id="misspelt-architecture",
    ),
    pytest.param(lambda: archfit.transform("", systemTaints={"linux": "x\n\x1b"}), "usage", r"=x\\n\\x1b$", id="what-cannot-be-seen"),
    pytest.param(lambda: archfit.transform("", timeout=5), "usage", "write '5s'", id="a-number-of-seconds"),
    pytest.param(lambda: archfit.transform("", strict="yes"), "usage", "boolean", id="a-str-for-a-boolean"),
    pytest.param(lambda: archfit.transform("", onAbsent="ignore"), "usage", "fail, leave", id="no-choice"),
    pytest.param(lambda: archfit.transform("", exclude=[object()]), "usage", "single text", id="an-object"),
    pytest.param(lambda: archfit.transform("", rules=nested(99)), "usage", "levels deep", id="deep-options"),
    pytest.param(lambda: archfit.transform("", workloads=[CYCLE]), "usage", "levels deep", id="a-cycle"),
    pytest.param(lambda: archfit.transform("", config="no.yaml"), "usage", r"'no\.yaml'", id="no-such-file"),
    pytest.param(lambda: archfit.transform("", config=b"a"), "usage", "os.PathLike", id="config-as-bytes"),
    pytest.param(lambda: archfit.transform("", config={}), "usage", "os.PathLike", id="config-as-a-dict"),
    pytest.param(lambda: archfit.transform("", authfile="no.json"), "usage", "no.json", id="no-such-authfile"),
    pytest.param(lambda: archfit.platforms("a", caFile="no.pem"), "usage", "no.pem", id="no-such-ca-file"),
    pytest.param(lambda: archfit.transform("", onUnknown="assume"), "usage", "assume", id="assume-what"),
    pytest.param(lambda: archfit.transform("", locked=True), "usage", "lock file", id="locked-by-what"),
    # pod specs
    pytest.param(lambda: decide(None), "usage", "a dict, .* not None", id="no-pod-spec"),
    pytest.param(lambda: decide("spec"), "usage", "type str", id="a-str-for-a-pod-spec"),
    pytest.param(lambda: decide(json.loads(POD)), "usage", "whole Pod: pass its pod spec", id="a-whole-pod"),
    pytest.param(lambda: decide({}), "input", "no list of containers", id="an-empty-dict"),
    pytest.param(lambda: decide({"template": {"spec": SPEC}}), "input", "containers", id="a-deployment-spec"),
    pytest.param(lambda: decide({"containers": []}), "input", "containers", id="no-container"),
    pytest.param(lambda: decide({"containers": "a"}), "input", "containers", id="containers-as-a-str"),
    pytest.param(lambda: decide({"containers": ["a"]}), "input", "containers", id="a-container-as-a-str"),
    pytest.param(
        lambda: decide({"containers": [{"image": object()}]}),
        "input",
        r"containers\[0\]\.image is a value of type object",
        id="an-object-in-a-pod-spec",
    ),
    pytest.param(lambda: decide({**SPEC, 1: 2}), "input", "type int as a key", id="a-number-as-a-key"),
    pytest.param(lambda: decide({**SPEC, "x": CYCLE}), "input", "levels deep", id="a-cycle-in-a-pod-spec"),
    pytest.param(lambda: decide({**SPEC, "x": nested(5000)}), "input", "levels deep", id="deep-pod-spec"),
    pytest.param(lambda: decide({**SPEC, "tolerations": "x"}), "input", "tolerations", id="malformed-field"),
    pytest.param(lambda: decide({**SPEC, "affinity": [1]}), "input", "affinity", id="malformed-affinity"),
    # images
    pytest.param(lambda: decide(SPEC, None), "usage", "mapping", id="no-answers"),
    pytest.param(lambda: decide(SPEC, ["app:1"]), "usage", "mapping", id="a-list-of-answers"),
    pytest.param(lambda: decide(SPEC, {1: []}), "usage", "image strings", id="a-number-as-an-image"),
    pytest.param(lambda: decide(SPEC, {"app:1": "amd64"}), "usage", "list of platforms", id="a-str-as-an-answer"),
    pytest.param(lambda: decide(SPEC, {"app:1": None}), "usage", "not None", id="none-as-an-answer"),
    pytest.param(lambda: decide(SPEC, {"app:1": [1]}), "usage", "list of texts", id="a-number-as-a-platform"),
    pytest.param(lambda: decide(SPEC, {"app:1": ["a b"]}), "usage", "not a platform", id="no-platform"),
    pytest.param(lambda: decide(SPEC, {"app:1": {}}), "usage", "'None' is not one of", id="an-empty-answer"),
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": "found"}}), "usage", "'Found'", id="small-letters"),
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": []}}), "usage", "is not one of", id="answer-as-a-list"),
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": "Found"}}), "usage", "platforms", id="found-without-platforms"),
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": "Unknown", "cause": 1}}), "usage", "cause", id="cause-as-a-number"),
    pytest.param(
        lambda: decide(SPEC, {"docker.io/library/app:1": ["amd64"], "docker.io/app:1": ["arm64"]}),
        "usage",
        "several answers",
        id="two-answers-for-one-image",
    ),
    pytest.param(lambda: archfit.platforms(None), "usage", "list of image", id="no-images"),
    pytest.param(lambda: archfit.platforms(b"a"), "usage", "list of image", id="images-as-bytes"),
    pytest.param(lambda: archfit.platforms({"a": 1}), "usage", "list of image", id="images-as-a-dict"),
    pytest.param(lambda: archfit.platforms([None]), "usage", "None is no image", id="none-as-an-image"),
    # answers that stand in the way
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": "Absent", "cause": "gone"}}), "absent", "gone", id="absent"),
    pytest.param(lambda: decide(SPEC, {"app:1": {"answer": "Unknown", "cause": "down"}}), "unknown", "down", id="unknown"),
    pytest.param(lambda: decide(SPEC, strict=True), "unasked", "no answer for it", id="unasked-and-strict"),
    pytest.param(lambda: decide(SPEC, {"app:1": ["s390x"]}), "conflict", "offers only s390x", id="conflict"),
    pytest.param(lambda: decide({"containers": [{"image": "A:1"}]}), "input", "A:1", id="malformed-image"),
    pytest.param(lambda: decide({**SPEC, "priority": 10**5000}), "input", "no field of Kubernetes", id="a-number-of-5,000-digits"),
    pytest.param(lambda: decide({**SPEC, "priority": float("nan")}), "input", "no field of Kubernetes", id="no-number"),
    pytest.param(
        lambda: decide(
            {"containers": [{"image": "app:1"}, {"image": "A:1"}]},
            {"app:1": {"answer": "Absent", "cause": "g"}},
        ),
        "several",
        "A:1",
        id="several",
    ),
]  # fmt: skip


def test_only_named_servers_of_a_private_network_are_asked(monkeypatch):
    """A caller's images are somebody else's words."""
    there = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.1.2.3", 443))]
    monkeypatch.setattr("archfit.registry.http.connections._resolve", lambda *_, **__: there)
    (answer,) = archfit.platforms(["inner.example/team/app:1"], noCache=True).values()
    assert "inner.example:443 leads to a private address" in str(answer)
    with pytest.raises(archfit.ArchfitError, match="leads to a private address"):
        archfit.transform(POD.replace("app:1", "inner.example/app:1"), noCache=True)


@pytest.mark.parametrize(("call", "kind", "words"), BAD)
def test_bad_input_is_one_error_that_says_what_to_do(call, kind, words, capfd):
    with pytest.raises(archfit.ArchfitError, match=words) as caught:
        call()
    error = caught.value
    assert (error.kind, error.exit_code) == (kind, 2 if kind == "usage" else 1)
    assert "archfit itself failed" not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    inside = [frame.filename for frame in traceback.extract_tb(error.__traceback__)[1:]]
    assert set(inside) <= {__file__, calls.__file__}
    assert capfd.readouterr() == ("", "")


def test_an_error_of_a_stream_names_its_place():
    with pytest.raises(archfit.ArchfitError) as caught:
        archfit.transform(f"{POD}\n---\na: [\n", imagePlatforms={"*": ["linux/amd64"]})
    assert (caught.value.kind, caught.value.document, caught.value.line) == ("input", 2, 4)


def test_a_registry_that_is_down_fails_by_name_and_the_error_holds_what_was_found(tmp_path):
    stream = "---\n".join(POD.replace("app:1", image) + "\n" for image in ("down:1", "good:1", "down:2"))
    with FakeRegistry() as server:
        server.on(lambda asked: Answer(503) if "down" in asked.path else None)
        server.index("library/good", "1", ["linux/amd64"])
        server.index("docker.io/library/good", "1", ["linux/amd64"])
        mirror = {"*": server.url}
        with pytest.raises(archfit.ArchfitError, match="503") as caught:
            archfit.transform(stream, mirror=mirror, cache=tmp_path / "cache", timeout="20s")
    error = caught.value
    assert error.kind == "unknown"
    assert {text: answer["answer"] for text, answer in error.images.items()} == {
        "down:1": "Unknown",
        "good:1": "Found",
        "down:2": "Unknown",
    }
    assert [message.image for message in error.messages if message.kind == "unknown"] == ["down:1", "down:2"]
    assert [decision.outcome for decision in error.decisions] == ["Unresolved", "Change", "Unresolved"]


def test_a_bug_is_said_to_be_one_and_shows_nothing_of_the_input(monkeypatch):
    def broken(*_arguments: object) -> None:
        raise KeyError("secret")

    broken.__globals__["__name__"] = "archfit.placement.decide"
    monkeypatch.setattr(calls, "decide_pod", broken)
    try:
        with pytest.raises(archfit.ArchfitError, match="archfit itself failed") as caught:
            archfit.decide(SPEC, {})
    finally:
        broken.__globals__["__name__"] = __name__
    assert caught.value.kind == "internal"
    assert "secret" not in str(caught.value)


def test_a_caller_that_is_deep_itself_gets_an_error():
    def deep(left: int) -> Any:
        return deep(left - 1) if left else archfit.transform(POD, imagePlatforms={"*": ["linux/amd64"]})

    def deepest() -> Any:
        try:
            return deepest()
        except RecursionError:
            return archfit.transform(POD, imagePlatforms={"*": ["linux/amd64"]})

    with pytest.raises(archfit.ArchfitError, match="limit of recursion"):
        deepest()
    assert deep(50).changed
