"""The formats of `archfit check`: JSON, GitHub's workflow commands, SARIF 2.1.0."""

import json
import re

import jsonschema
import pytest
from registry import Registry

from archfit.report.check_listing import text
from archfit.report.findings import RULES, Check, Finding
from archfit.report.github import commands
from archfit.report.sarif import log
from archfit.results import ObjectRef

IMAGES = {"x.example/amd:1": ["linux/amd64"], "x.example/both:1": ["linux/amd64", "linux/arm64"]}
STREAM = b"""---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: a
          image: x.example/amd:1
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations:
    archfit.dev/skip: "true"
spec:
  containers:
    - name: a
      image: x.example/amd:1
"""
# What the SARIF 2.1.0 schema (OASIS) demands of the parts that archfit writes, and nothing beside them.
_TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~/%@:+-]+$"}},
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
        "logicalLocations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
            },
        },
    },
}
_RULE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "shortDescription": _TEXT,
        "defaultConfiguration": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"level": _LEVEL},
        },
    },
}
_RESULT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message", "locations"],
    "properties": {
        "ruleId": {"enum": list(RULES)},
        "ruleIndex": {"type": "integer", "minimum": 0, "exclusiveMaximum": len(RULES)},
        "kind": {"enum": ["informational", "fail"]},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": {"type": "array", "minItems": 1, "items": _LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
ESSENTIAL = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
                                },
                            }
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["executionSuccessful"],
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "exitCode": {"type": "integer"},
                            },
                        },
                    },
                    "results": {"type": "array", "items": _RESULT},
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def check(archfit):
    with Registry(IMAGES) as served:
        yield lambda text, *words, **more: archfit(
            text, "check", "--no-cache", *served.mirrors(), *words, **more
        )


def test_json_holds_every_finding_whole(check):
    windows = (
        b"---\napiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {os: {name: windows}, containers: []}\n"
    )
    ran = check(STREAM + windows, "--require", "arm64", "--format", "json")
    assert json.loads(ran.stdout) == {
        "archfit": json.loads(ran.stdout)["archfit"],
        "check": "require",
        "require": ["linux/arm64"],
        "exit": 3,
        "pods": 2,
        "images": 1,
        "notChecked": 1,
        "findings": [
            {
                "rule": "required-platform",
                "severity": "error",
                "message": "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64",
                "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "", "name": "web"},
                "field": "spec.template.spec.containers[0].image",
                "file": "shop/templates/web.yaml",
                "document": 1,
                "source": "shop/templates/web.yaml",
                "image": "x.example/amd:1",
                "missing": ["linux/arm64"],
                "offers": ["linux/amd64"],
            },
            {
                "rule": "required-platform",
                "severity": "error",
                "message": "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64",
                "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "", "name": "p"},
                "field": "spec.containers[0].image",
                "line": 23,
                "document": 2,
                "image": "x.example/amd:1",
                "missing": ["linux/arm64"],
                "offers": ["linux/amd64"],
                "leftAlone": 'archfit.dev/skip is "true"',
            },
            {
                "rule": "not-checked",
                "severity": "info",
                "message": "it is for windows nodes",
                "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "", "name": "w"},
                "field": "spec",
                "line": 28,
                "document": 3,
            },
        ],
    }


def test_github_commands_name_file_and_line_of_a_file(check, tmp_path):
    (tmp_path / "web.yaml").write_bytes(STREAM)
    ran = check(b"", "web.yaml", "--format=github", cwd=tmp_path)
    assert ran.stdout.decode() == (
        "::error file=web.yaml,line=9,title=archfit placement::apps/v1/Deployment/web spec.template.spec: "
        "archfit would change it: restricted to amd64 (arm64 is not offered by x.example/amd:1)\n"
    )


def test_github_commands_name_the_source_of_a_stream_without_a_line(check):
    """A line of the stream means nothing in the template that it was rendered from."""
    assert check(STREAM, "--format=github").stdout.startswith(
        b"::error file=shop/templates/web.yaml,title=archfit placement::"
    )


def test_github_commands_name_no_file_where_there_is_none(check):
    plain = STREAM.replace(b"# Source: shop/templates/web.yaml\n", b"")
    line = check(plain, "--format=github").stdout.decode()
    assert line.startswith("::error title=archfit placement::")
    assert "(document 1, line 8)" in line


def test_github_commands_are_escaped_as_the_toolkit_does():
    finding = Finding("notice", "warning", "50%\r\n::error::x", file="a,b:c%.yaml", line=3)
    assert commands(Check(0, (), (finding,), 0, 0)).decode() == (
        "::warning file=a%2Cb%3Ac%25.yaml,line=3,title=archfit notice::50%25\\r%0A\\x3a:error::x\n"
    )


def test_errors_come_first_and_infos_that_explain_are_left_out():
    found = [
        Finding("notice", "info", "explains"),
        Finding("not-checked", "info", "left out"),
        Finding("notice", "warning", "old answer"),
        Finding("placement", "error", "changes"),
    ]
    names = re.findall(
        "^::(.*?) .*::(.*)$", commands(Check(3, (), tuple(found), 1, 1)).decode(), re.MULTILINE
    )
    assert names == [("error", "changes"), ("warning", "old answer"), ("notice", "left out")]


def test_text_holds_no_control_characters():
    finding = Finding("placement", "error", "a\x1b[31mb\nc", ObjectRef("v1", "Pod", "", "x\u0085"))
    assert text(Check(3, (), (finding,), 1, 1)).decode().splitlines()[0] == r"v1/Pod/x\x85: a\x1b[31mb\nc"


@pytest.mark.parametrize(
    ("stream", "words", "status"),
    [
        pytest.param(STREAM, [], 3, id="placement"),
        pytest.param(STREAM, ["--require", "arm64,s390x"], 3, id="require"),
        pytest.param(STREAM, ["--exclude", "*"], 0, id="clean"),
        pytest.param(STREAM.replace(b"Source: shop/", b"Source: a b/\xc3\xa9"), [], 3, id="odd-file-name"),
        pytest.param(b"", [], 1, id="failed"),
        pytest.param(b"a: 1\nb: 2\n", [], 1, id="failed-with-a-line"),
    ],
)
def test_sarif_keeps_to_its_schema(check, stream, words, status):
    ran = check(stream, "--format", "sarif", *words)
    assert ran.status == status
    told = json.loads(ran.stdout)
    jsonschema.validate(told, ESSENTIAL)
    (run,) = told["runs"]
    assert run["invocations"] == [{"executionSuccessful": status != 1, "exitCode": status}]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(RULES)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        # Section 3.27.10: a result that is no failure has the level none.
        assert (result["kind"] == "fail") == (result["level"] != "none")


def test_a_schema_that_checks_refuses_what_is_wrong():
    told = json.loads(log(Check(0, (), (Finding("notice", "warning", "a"),), 0, 0)))
    jsonschema.validate(told, ESSENTIAL)
    del told["runs"][0]["results"][0]["message"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told, ESSENTIAL)


def test_fingerprints_stay_when_text_above_grows(check, tmp_path):
    prints = []
    for stream in (STREAM, b"# one\n# two\n" + STREAM):
        (tmp_path / "web.yaml").write_bytes(stream)
        run = json.loads(check(b"", "web.yaml", "--format=sarif", cwd=tmp_path).stdout)["runs"][0]
        prints.append([result["partialFingerprints"] for result in run["results"]])
    assert prints[0] == prints[1]


def test_two_uses_of_one_image_are_two_results():
    first = Finding("required-platform", "error", "m", field="spec.containers[0].image", image="a")
    second = first.replace(field="spec.containers[1].image")
    run = json.loads(log(Check(3, ("linux/arm64",), (first, second), 1, 1)))["runs"][0]
    assert len({one["partialFingerprints"]["archfit/v1"] for one in run["results"]}) == 2
