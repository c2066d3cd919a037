"""`import archfit`: a program gets what the command writes, and what the registry said."""

import json
from typing import Any, get_type_hints

import jsonpatch
import pytest

import archfit
from archfit.api.options import NOT_FOR_PROGRAMS, Options
from archfit.options.table import TABLE
from fake_registry import Answer, FakeRegistry
from program import archfit as command

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # kept
spec:
  template:
    spec:
      containers:
      - name: web
        image: amd:1
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {template: {spec: {containers: [{name: a, image: 'both:1'}]}}}
"""
CRLF = DEPLOYMENT.replace("\n", "\r\n")
LIST = f"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- {DEPLOYMENT.rstrip().replace(chr(10), chr(10) + "  ")}
functionConfig:
  apiVersion: archfit.dev/v1alpha1
  kind: ArchFit
  spec: {{clusterArchitectures: [amd64, arm64, s390x]}}
"""
SPEC = {"containers": [{"name": "web", "image": "amd:1"}]}
ALL = ["linux/amd64", "linux/arm64"]
GKE = {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def registry():
    """Every registry: amd:1, both:1; down/app is refused; nothing else exists."""
    with FakeRegistry() as server:
        for host in ("docker.io/library/", "library/"):
            server.index(f"{host}amd", "1", ["linux/amd64"])
            server.index(f"{host}both", "1", ALL)
        server.on(lambda asked: Answer(403) if "down/app" in asked.path else None)
        yield server


@pytest.fixture
def options(registry, tmp_path):
    """Those of a call that asks this registry, with a cache of its own."""
    return {"mirror": {"*": registry.url}, "cache": tmp_path / "cache.sqlite", "timeout": "20s"}


def flags(options: Options) -> list[str]:
    return [f"--mirror=*={options['mirror']['*']}", f"--cache={options['cache']}"]


STREAMS = [
    pytest.param(DEPLOYMENT, (), {}, id="a-pod-is-restricted"),
    pytest.param(JOB, (), {}, id="a-job-stays-as-it-is"),
    pytest.param(CRLF, (), {}, id="lines-end-as-before"),
    pytest.param(f"---\n{DEPLOYMENT}---\n{JOB}", (), {}, id="two-documents"),
    pytest.param("", ("--on-blank=pass",), {"onBlank": "pass"}, id="blank"),
    pytest.param("", ("--on-blank=comment",), {"onBlank": "comment"}, id="blank-with-a-comment"),
    pytest.param("\ufeff" + DEPLOYMENT, (), {}, id="byte-order-mark"),
    pytest.param(json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": SPEC}), (), {}, id="json"),
    pytest.param(LIST, (), {}, id="resource-list-with-its-own-options"),
    pytest.param(DEPLOYMENT, ("--stamp",), {"stamp": True}, id="stamped"),
    pytest.param(
        DEPLOYMENT,
        ("--cluster-architectures=amd64", "--tolerate=none"),
        {"clusterArchitectures": ("amd64",), "tolerate": "none"},
        id="options-and-a-tuple-for-a-list",
    ),
]


@pytest.mark.parametrize(("text", "words", "more"), STREAMS)
def test_the_bytes_are_those_of_the_command(text, words, more, options):
    written = command(text.encode(), *flags(options), *words).ok()
    as_bytes = archfit.transform(text.encode(), **options, **more)
    as_text = archfit.transform(text, **options, **more)
    assert as_bytes.manifests == written
    assert as_text.manifests.encode() == written
    assert (type(as_bytes.manifests), type(as_text.manifests)) == (bytes, str)
    assert as_text.changed is any(decision.outcome == "Change" for decision in as_text.decisions)


def test_manifests_without_a_change_come_back_as_the_same_object(options):
    data = JOB.encode()
    assert archfit.transform(data, **options).manifests is data
    assert archfit.transform(JOB, **options).manifests is JOB


def test_decisions_and_answers_are_those_of_the_report(options, tmp_path):
    stream = f"{DEPLOYMENT}---\n{JOB}".encode()
    command(stream, *flags(options), f"--report={tmp_path / 'report.json'}").ok()
    report = json.loads((tmp_path / "report.json").read_text())
    result = archfit.transform(stream, **options)
    shared = ("object", "path", "outcome", "reason", "immutable")
    for decision, row in zip(result.decisions, report["decisions"], strict=True):
        assert {name: getattr(decision, name) for name in shared} == {name: row[name] for name in shared}
        assert list(decision.reachable) == row["reachable"]
        # A `test` of a missing member is for other libraries' reading of RFC 6902 alone.
        assert [*decision.patch] == [step for step in row["patch"] if step.get("value", "") is not None]
    for text, answer in report["images"].items():
        assert {**answer, "ageSeconds": 0, "origin": ""} == {
            key: value
            for key, value in {**result.images[text], "ageSeconds": 0, "origin": ""}.items()
            if key in answer
        }
    json.dumps([[*decision.patch] for decision in result.decisions])


def test_messages_say_what_the_command_writes(options):
    text = DEPLOYMENT.replace("kind: Deployment", "kind: DaemonSet")
    said = command(text.encode(), *flags(options)).stderr
    (message,) = [one for one in archfit.transform(text, **options).messages if one.severity == "warning"]
    assert f"warning: {message}" in said
    assert (message.document, message.line, message.object["kind"]) == (1, 7, "DaemonSet")


def test_platforms_keeps_the_answers_apart(options):
    images = ["both:1", "gone:1", "down/app:1", "{{ .image }}", "UPPER:1"]
    answers = archfit.platforms(images, **options)
    assert [answer["answer"] for answer in answers.values()] == [
        "Found",
        "Absent",
        "Unknown",
        "Unasked",
        "Malformed",
    ]
    assert list(answers) == images
    assert answers["both:1"]["platforms"] == ALL
    assert "403" in answers["down/app:1"]["cause"]
    json.dumps(answers)


@pytest.mark.parametrize(
    "images",
    [
        pytest.param([], id="none"),
        pytest.param((), id="an-empty-tuple"),
        pytest.param(iter(()), id="an-iterator"),
    ],
)
def test_no_image_is_no_question(images):
    assert archfit.platforms(images) == {}


def test_one_string_is_one_image(options):
    assert list(archfit.platforms("both:1", **options)) == ["both:1"]


def whole(spec: dict[str, Any]) -> str:
    return json.dumps(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"template": {"spec": spec}},
        }
    )


SPECS = [
    pytest.param(SPEC, {}, id="restricted"),
    pytest.param({"containers": [{"image": "both:1"}]}, {}, id="tolerates"),
    pytest.param({"containers": [{"image": "both:1"}]}, {"tolerate": "none"}, id="nothing-to-do"),
    pytest.param({"containers": [{"image": "both:1"}]}, {"prefer": {"arm64": 3}}, id="prefers"),
    pytest.param({"containers": [{"image": "${x}"}]}, {}, id="placeholder"),
    pytest.param({"containers": [{"image": "amd:1"}, {"image": "both:1"}]}, {}, id="two-images"),
    pytest.param({**SPEC, "nodeSelector": {"kubernetes.io/arch": "amd64"}}, {}, id="pinned"),
    pytest.param({**SPEC, "tolerations": [GKE], "hostNetwork": True}, {}, id="tolerates-already"),
    pytest.param({**SPEC, "nodeName": "n1"}, {}, id="has-its-node"),
    pytest.param(
        {"containers": [{"image": "gone:1"}]},
        {"imagePlatforms": {"docker.io/library/gone": ["linux/arm64"]}},
        id="an-override-beats-the-answer",
    ),
    pytest.param({"containers": [{"image": "gone:1"}]}, {"onAbsent": "leave"}, id="absent-is-left"),
    pytest.param({"containers": [{"image": "down/app:1"}]}, {"onUnknown": "leave"}, id="unknown-is-left"),
    pytest.param({"containers": [{"image": "down/app:1"}]}, {"onUnknown": "assume", "assume": ["linux/amd64"]}, id="unknown-is-assumed"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "more"), SPECS)
def test_decide_decides_as_transform(spec, more, options):
    """The answers of `platforms`, through JSON, serve as those of the lookup."""
    before = json.dumps(spec)
    texts = [container["image"] for container in spec["containers"]]
    answers = json.loads(json.dumps(archfit.platforms(texts, **options)))
    decision = archfit.decide(spec, answers, **options, **more)
    result = archfit.transform(whole(spec), **options, **more)
    (other,) = result.decisions
    assert decision.patch_at("/spec/template/spec") == [*other.patch]
    assert (decision.outcome, decision.reason, decision.supported, decision.reachable, decision.removed) == (
        other.outcome,
        other.reason,
        other.supported,
        other.reachable,
        other.removed,
    )
    assert json.loads(result.manifests)["spec"]["template"]["spec"] == decision.applied(spec)
    assert jsonpatch.apply_patch(spec, list(decision.patch)) == decision.applied(spec)
    assert json.dumps(spec) == before


BOTH = {"containers": [{"image": "both:1"}, {"image": "other:1"}]}


@pytest.mark.parametrize(
    ("images", "outcome", "tolerates"),
    [
        pytest.param({"both:1": ALL, "other:1": ALL}, "Change", True, id="every-image-is-named"),
        pytest.param({"both:1": ALL}, "NotNeeded", False, id="one-is-not-named"),
        pytest.param({}, "NotNeeded", False, id="none-is-named"),
        pytest.param({"both:1": ALL, "other:1": {"answer": "Unasked", "reason": "r"}}, "NotNeeded", False, id="one-is-unasked"),
        pytest.param({"both:1": ALL, "docker.io/library/other:1": ALL}, "Change", True, id="another-spelling-of-its-name"),
        pytest.param(
            {"both:1": ALL, "other:1": {"answer": "Found", "platforms": ["arm64", "x86_64"]}},
            "Change",
            True,
            id="platforms-in-other-spellings",
        ),
        pytest.param({"both:1": ALL, "other:2": ALL}, "NotNeeded", False, id="another-tag-is-another-image"),
    ],
)  # fmt: skip
def test_a_toleration_needs_every_image(images, outcome, tolerates):
    decision = archfit.decide(BOTH, images)
    assert decision.outcome == outcome
    assert ("tolerations" in decision.applied(BOTH)) is tolerates


def test_an_image_that_is_not_named_narrows_nothing_and_the_others_do():
    decision = archfit.decide(BOTH, {"both:1": ["linux/amd64"]})
    assert decision.reachable == ("amd64",)
    assert decision.images["other:1"] == {
        "answer": "Unasked",
        "cause": "the caller of decide gives no answer for it",
    }


@pytest.mark.parametrize(
    "index",
    [pytest.param(True, id="an-index-restricts"), pytest.param(False, id="a-manifest-restricts-nothing")],
)
def test_an_image_volume_counts_by_what_was_read(index):
    spec = {**BOTH, "volumes": [{"name": "v", "image": {"reference": "vol:1"}}]}
    volume = {"answer": "Found", "platforms": ["linux/amd64"], "index": index}
    decision = archfit.decide(spec, {"both:1": ALL, "other:1": ALL, "vol:1": volume})
    assert ("affinity" in decision.applied(spec)) is index


def test_the_options_are_those_of_the_configuration():
    assert set(get_type_hints(Options)) == {option.key for option in TABLE} - {*NOT_FOR_PROGRAMS} | {"config"}


FILE = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"


def test_a_configuration_file_counts_where_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "archfit.yaml"
    path.write_text(f"{FILE}spec: {{clusterArchitectures: [amd64], affinity: always}}\n")
    monkeypatch.setenv("ARCHFIT_CONFIG", str(path))
    monkeypatch.setenv("ARCHFIT_AFFINITY", "nonsense")
    images = {"amd:1": ALL}
    assert "affinity" not in archfit.decide(SPEC, images).applied(SPEC)
    named = archfit.decide(SPEC, images, config=path)
    assert named.reachable == ("amd64",)
    assert "affinity" in named.applied(SPEC)
    assert "affinity" not in archfit.decide(SPEC, images, config=path, affinity="needed").applied(SPEC)
    assert "affinity" in archfit.decide(SPEC, images, config=path, affinity=None).applied(SPEC)


def test_what_the_file_enforces_holds(tmp_path):
    path = tmp_path / "archfit.yaml"
    path.write_text(f"{FILE}operator: {{enforced: [affinity]}}\n")
    with pytest.raises(archfit.ArchfitError, match="affinity is enforced by file") as caught:
        archfit.decide(SPEC, {}, config=path, affinity="never")
    assert caught.value.kind == "usage"


def test_a_lock_file_answers_platforms(tmp_path, options):
    lock = tmp_path / "archfit.lock"
    with pytest.raises(archfit.ArchfitError, match=r"archfit\.lock"):
        archfit.platforms(["both:1"], lockFile=lock, locked=True)
    lock.write_text(json.dumps({"version": 1, "images": {}}))
    answer = archfit.platforms(["both:1"], lockFile=lock, locked=True, **options)["both:1"]
    assert (answer["answer"], answer["final"]) == ("Unknown", True)
