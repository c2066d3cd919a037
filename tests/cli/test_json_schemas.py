"""`archfit schema`: what the program writes and reads follows them."""

import ast
import json

import jsonschema
import pytest
from registry import Registry

from archfit import __version__
from archfit.base import results
from archfit.base.documentation import schema_id
from archfit.base.errors import InvalidLock
from archfit.check.findings import RULES
from archfit.cli.schema import schema
from archfit.cli.usage.command_table import BY_NAME
from archfit.lookup.lockfile import parse

SCHEMAS = {name: json.loads(schema(name)) for name in BY_NAME["schema"].words}
IMAGES = {
    "x.example/amd:1": ["linux/amd64"],
    "x.example/arm:1": ["linux/arm64"],
    "x.example/both:1": ["linux/amd64", "linux/arm64"],
}
DIGEST = "sha256:" + "0" * 64
DIGEST_LINE = {"digest": DIGEST, "kind": "index", "platforms": ["linux/amd64"]}


def workload(name: str, *images: str, kind: str = "Deployment", pod: str = "", head: str = "") -> str:
    containers = "".join(f"        - {{name: c{at}, image: '{image}'}}\n" for at, image in enumerate(images))
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return (
        f"# Source: shop/templates/{name}.yaml\napiVersion: {version}\nkind: {kind}\n"
        f"metadata:\n  name: {name}\n  namespace: shop\n{head}"
        f"spec:\n  template:\n    spec:\n{pod}      containers:\n{containers}"
    )


STREAM = "---\n".join(
    (
        workload("web", "x.example/amd:1", "x.example/both:1"),
        workload("api", "x.example/both:1"),
        workload("move", "x.example/amd:1", kind="Job"),
        workload("agent", "x.example/amd:1", kind="DaemonSet"),
        workload("old", "x.example/amd:1", head='  annotations: {archfit.dev/skip: "true"}\n'),
        workload("fixed", "x.example/amd:1", pod="      nodeSelector: {kubernetes.io/arch: amd64}\n"),
        workload("never", "x.example/amd:1", "x.example/arm:1"),
        workload("gone", "x.example/gone:1"),
        workload("down", "y.example/app:1"),
        workload("later", "ko://x", "{{ .image }}", ""),
        workload("wrong", "x.example/both:1", "NOT/A:reference:at:all"),
        workload(
            "owned", "x.example/amd:1", head="  ownerReferences: [{kind: R, name: a, controller: true}]\n"
        ),
        workload("windows", "x.example/amd:1", pod="      nodeSelector: {kubernetes.io/os: windows}\n"),
        "apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: game}\n"
        "spec: {template: {spec: {containers: [{name: a, image: 'x.example/both:1'}]}}}\n",
    )
)
LEAVE = ("--on-absent=leave", "--on-unknown=leave", "--on-conflict=leave", "--deny-host=y.example")


@pytest.fixture(scope="module")
def mirrors():
    with Registry(IMAGES) as served:
        yield served.mirrors()


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_printed(archfit, name):
    shown = archfit(b"", "schema", name).ok()
    file = "archfit" if name == "config" else name
    schema = json.loads(shown)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == schema_id(file) == f"https://archfit.dev/schemas/{file}.json"


def test_the_table_of_commands_has_the_same_names(archfit):
    assert list(BY_NAME["schema"].words) == [name for name, _ in BY_NAME["schema"].arguments] == list(SCHEMAS)
    assert archfit(b"", "schema").ok() == archfit(b"", "schema", "config").ok()
    for words in (["chart"], ["lock", "audit"]):
        ran = archfit(b"", "schema", *words)
        assert (ran.status, ran.stdout) == (2, b"")
        assert "config, report, check, explain, audit" in ran.stderr


def test_the_words_of_the_schema_are_those_of_the_results():
    report, check = SCHEMAS["report"]["properties"], SCHEMAS["check"]
    decision, result = (report[name]["items"]["properties"] for name in ("decisions", "results"))
    finding = check["properties"]["findings"]["items"]["properties"]
    assert decision["outcome"]["enum"] == ast.literal_eval(results.Outcome.removeprefix("Literal"))
    for severity in (result["severity"], finding["severity"]):
        assert severity["enum"] == ast.literal_eval(results.Severity.removeprefix("Literal"))
    rules = {rule["const"]: rule["description"] for rule in finding["rule"]["oneOf"]}
    assert rules == RULES


def test_check_explain_and_report_give_the_same_reasons(archfit, mirrors, tmp_path):
    place, stream = tmp_path / "report.json", STREAM.encode()
    words = (*LEAVE, "--exclude=Deployment/shop/wrong", "--no-cache", *mirrors)
    explained = json.loads(archfit(stream, "explain", "--format=json", *words).stdout)["pods"]
    changes = [pod for pod in explained if pod["outcome"] == "Change"]
    sarif = json.loads(archfit(stream, "check", "--format=sarif", *words, f"--report={place}").stdout)
    shown = [
        found["message"]["text"] for found in sarif["runs"][0]["results"] if found["ruleId"] == "placement"
    ]
    assert len(shown) == len(changes) > 3
    for pod, text in zip(changes, shown, strict=True):
        assert f": archfit would change it: {pod['reason']}" in text
    decisions = json.loads(place.read_bytes())["decisions"]
    assert [(pod["reason"], pod["reasons"]) for pod in explained] == [
        (decision["reason"], decision["reasons"]) for decision in decisions
    ]
    effects = {(reason["about"], reason["effect"]) for pod in explained for reason in pod["reasons"]}
    assert effects >= {("affinity", "added"), ("tolerations", "left out"), ("tolerations", "added")}


@pytest.mark.parametrize(
    ("words", "status", "outcomes"),
    [
        pytest.param(LEAVE, 1, None, id="a reference that is wrong"),
        pytest.param((*LEAVE, "--exclude=Deployment/shop/wrong"), 0, 5, id="all outcomes"),
        pytest.param(("check", *LEAVE, "--exclude=Deployment/shop/wrong"), 3, 5, id="check"),
        pytest.param((), 1, None, id="errors"),
        pytest.param(("--affinity=perhaps",), 2, 0, id="wrong usage"),
    ],
)
def test_every_report_follows_its_schema(archfit, mirrors, tmp_path, words, status, outcomes):
    place = tmp_path / "report.json"
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    more = () if status == 2 else (*mirrors, "--no-cache", f"--report={place}")
    ran = archfit(STREAM.encode(), *words, *more, **environ)
    assert ran.status == status, ran.stderr
    last = archfit(b"", "last", "--json", **environ).ok()
    reports = [json.loads(last), *([json.loads(place.read_bytes())] if place.exists() else [])]
    assert len(reports) == (1 if status == 2 else 2)
    for report in reports:
        jsonschema.validate(report, SCHEMAS["report"])
        if outcomes is not None:
            assert len({decision["outcome"] for decision in report["decisions"]}) >= outcomes


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((), id="placement"),
        pytest.param(("--require=arm64",), id="require"),
        pytest.param((*LEAVE, "--require=arm64,linux/s390x"), id="two platforms"),
    ],
)
def test_every_check_follows_its_schema(archfit, mirrors, tmp_path, words):
    (tmp_path / "web.yaml").write_text(STREAM, encoding="utf-8")
    for file in ("-", "web.yaml"):
        ran = archfit(
            STREAM.encode(), "check", "--format=json", "--no-cache", *mirrors, *words, file, cwd=tmp_path
        )
        found = json.loads(ran.stdout)
        assert len(found["findings"]) > 3
        jsonschema.validate(found, SCHEMAS["check"])


@pytest.mark.parametrize("name", ["report", "check"])
def test_a_member_that_the_schema_lacks_is_refused(name):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"secrets": []}, SCHEMAS[name])


@pytest.mark.parametrize(
    ("name", "words", "status"),
    [
        pytest.param("report", ("--report=/dev/stdout", "-o=out.yaml"), 0, id="report"),
        pytest.param("report", ("last",), 0, id="last"),
        pytest.param("check", ("check",), 3, id="check"),
        pytest.param("explain", ("explain",), 0, id="explain"),
        pytest.param("audit", ("audit",), 0, id="audit"),
        pytest.param("audit-images", ("audit", "--images"), 0, id="audit-images"),
        pytest.param("patch", ("patch",), 0, id="patch"),
        pytest.param("inspect", ("inspect", *IMAGES, "x.example/gone:1"), 1, id="inspect"),
        pytest.param("login-check", ("login-check", "x.example"), 0, id="login-check"),
        *(pytest.param("cache", ("cache", word), 0, id=f"cache-{word}") for word in BY_NAME["cache"].words),
        pytest.param("doctor", ("doctor",), 0, id="doctor"),
        pytest.param("version", ("version",), 0, id="version"),
        pytest.param("lock-changes", ("lock",), 0, id="lock"),
    ],
)
def test_every_document_begins_with_its_schema_and_the_version(
    archfit, mirrors, tmp_path, name, words, status
):
    environ = {"XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    stream = STREAM.partition("---\n")[0].encode()
    archfit(stream, *mirrors, **environ).ok()
    form = () if words[0].startswith("--report") else ("--format=json",)
    asking = () if words[0] in {"last", "cache", "doctor", "version"} else mirrors
    ran = archfit(stream, *words, *form, *asking, cwd=tmp_path, **environ)
    assert ran.status == status, ran.stderr
    document = json.loads(ran.stdout)
    assert list(document)[:2] == ["schema", "archfit"]
    assert document["schema"].split("/")[:2] == ["archfit.dev", name]
    assert document["archfit"] == __version__
    jsonschema.validate(document, SCHEMAS[name])


def test_a_lock_file_follows_its_schema(archfit, mirrors, tmp_path):
    stream = STREAM.partition("---\n")[0].encode()
    archfit(stream, "lock", "--no-cache", *mirrors, cwd=tmp_path).ok()
    content = (tmp_path / "archfit.lock").read_bytes()
    assert len(parse(content, "archfit.lock")) == 2
    jsonschema.validate(json.loads(content), SCHEMAS["lock"])


@pytest.mark.parametrize(
    "lock",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"version": 2, "images": {}}, id="another format"),
        pytest.param({"version": 1, "images": {}, "more": 1}, id="another key"),
        pytest.param({"version": 1, "images": {"x.example/a:1": {"kind": "index"}}}, id="half an entry"),
        *(
            pytest.param({"version": 1, "images": {"x.example/a:1": {**DIGEST_LINE, **wrong}}}, id=name)
            for name, wrong in {
                "a short digest": {"digest": "sha256:00"},
                "an unknown kind": {"kind": "picture"},
                "no platform": {"platforms": []},
                "an artifact with platforms": {"kind": "artifact"},
                "a word as platform": {"platforms": ["amd64"]},
                "a note": {"note": ""},
            }.items()
        ),
    ],
)
def test_what_the_schema_of_the_lock_file_refuses_archfit_refuses(lock):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(lock, SCHEMAS["lock"])
    with pytest.raises(InvalidLock):
        parse(json.dumps(lock).encode(), "archfit.lock")
