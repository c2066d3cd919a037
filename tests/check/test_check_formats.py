"""The formats of `archfit check`: JSON, GitHub's workflow commands, GitLab's Code Quality, SARIF 2.1.0, Markdown."""

import json
import re

import jsonschema
import pytest

from archfit.base import documentation
from archfit.base.results import ObjectRef
from archfit.check.findings import RULES, Check, Finding
from archfit.check.reports import code_quality, commands, markdown
from archfit.check.sarif import MOST_RESULTS, log
from case_files import document

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
WINDOWS = (
    b"---\napiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {os: {name: windows}, containers: []}\n"
)
# What the SARIF 2.1.0 schema (OASIS) demands of the parts that archfit writes, and nothing beside them.
ESSENTIAL = document("schemas/sarif.json")


def test_json_holds_every_finding_whole(check):
    lacking = {
        "rule": "required-platform",
        "severity": "error",
        "message": "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64",
        "image": "x.example/amd:1",
        "missing": ["linux/arm64"],
        "offers": ["linux/amd64"],
    }
    ran = check(STREAM + WINDOWS, "--require", "arm64", "--format", "json")
    assert json.loads(ran.stdout) == {
        "schema": "archfit.dev/check/v1alpha2",
        "archfit": json.loads(ran.stdout)["archfit"],
        "check": "require",
        "require": ["linux/arm64"],
        "exit": 3,
        "pods": 2,
        "images": 1,
        "running": 0,
        "lacking": 1,
        "notKnown": 0,
        "stated": 0,
        "leftAlone": 0,
        "leftAloneByAnnotation": 0,
        "notChecked": 1,
        "objectsNotChecked": 0,
        "findings": [
            {
                **lacking,
                "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "", "name": "web"},
                "field": "spec.template.spec.containers[0].image",
                "file": "shop/templates/web.yaml",
                "document": 1,
                "source": "shop/templates/web.yaml",
            },
            {
                **lacking,
                "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "", "name": "p"},
                "field": "spec.containers[0].image",
                "line": 23,
                "document": 2,
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


@pytest.mark.parametrize(
    ("stream", "words", "status"),
    [
        pytest.param(STREAM, [], 3, id="placement"),
        pytest.param(STREAM, ["--require", "arm64,s390x"], 3, id="require"),
        pytest.param(STREAM, ["--exclude", "*"], 0, id="clean"),
        pytest.param(STREAM.replace(b"Source: shop/", b"Source: a b/\xc3\xa9"), [], 3, id="odd-file-name"),
        pytest.param(b"\xff\xfe", [], 1, id="failed"),
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


def located(finding):
    """Where SARIF says that a finding is, and its fingerprints."""
    (result,) = json.loads(log(Check(3, (), (finding,), 1, 1)))["runs"][0]["results"]
    return result["locations"][0]["physicalLocation"], result["partialFingerprints"]


def test_sarif_names_a_line_and_leaves_its_hash_to_the_upload():
    place, prints = located(Finding("placement", "error", "m", file="a b.yaml", line=3))
    assert place == {
        "artifactLocation": {"uri": "a%20b.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3},
    }
    assert set(prints) == {"archfit/v1"}


@pytest.mark.parametrize(
    ("finding", "uri"),
    [
        ({"file": "web/templates/a.yaml"}, {"uri": "web/templates/a.yaml", "uriBaseId": "%SRCROOT%"}),
        ({"file": "/tmp/a.yaml", "line": 3}, {"uri": "file:///tmp/a.yaml"}),
        ({"line": 3}, {"uri": "stdin"}),
        ({"source": "web/templates/a.yaml"}, {"uri": "web/templates/a.yaml"}),
    ],
    ids=["whole-file", "outside", "stream", "source"],
)
def test_sarif_says_itself_which_finding_it_is_where_no_line_of_the_repository_does(finding, uri):
    """codeql-action takes the hash of line 1 for each of them, and GitHub then shows one alert for all."""
    place, prints = located(Finding("placement", "error", "m", **finding))
    assert place["artifactLocation"] == uri
    assert prints["primaryLocationLineHash"] == f"{prints['archfit/v1']}:1"


def test_sarif_links_the_page_once_it_is_published(monkeypatch):
    """A path in a checkout is no address."""
    check = Check(0, (), (), 0, 0)
    assert "informationUri" not in json.loads(log(check))["runs"][0]["tool"]["driver"]
    monkeypatch.setattr(documentation, "SITE", "https://archfit.example")
    told = json.loads(log(check))
    jsonschema.validate(told, ESSENTIAL)
    assert told["runs"][0]["tool"]["driver"]["informationUri"] == "https://archfit.example/check.html"


@pytest.mark.load
def test_sarif_is_cut_where_github_would_refuse_it():
    found = [Finding("notice", "warning", f"w{number}") for number in range(MOST_RESULTS)]
    found.append(Finding("placement", "error", "the error"))
    told = json.loads(log(Check(3, (), tuple(found), 1, 1)))
    run = told["runs"][0]
    assert len(run["results"]) == MOST_RESULTS
    assert run["results"][0]["message"]["text"] == "the error"
    assert run["invocations"][0]["toolExecutionNotifications"] == [
        {"level": "warning", "message": {"text": "1 finding left out: GitHub takes 25,000 in a file"}}
    ]
    jsonschema.validate({**told, "runs": [{**run, "results": run["results"][:5]}]}, ESSENTIAL)


# What GitLab reads of a Code Quality report (doc/ci/testing/code_quality.md).
CODE_QUALITY = document("schemas/code-quality.json")


def test_code_quality_of_a_file(check, tmp_path):
    (tmp_path / "web.yaml").write_bytes(STREAM)
    ran = check(b"", "web.yaml", "--format=gitlab", cwd=tmp_path)
    assert ran.status == 3
    (issue,) = json.loads(ran.stdout)
    jsonschema.validate([issue], CODE_QUALITY)
    assert issue == {
        "description": "apps/v1/Deployment/web spec.template.spec: archfit would change it: restricted to amd64 "
        "(arm64 is not offered by x.example/amd:1)",
        "check_name": "archfit/placement",
        "fingerprint": issue["fingerprint"],
        "severity": "major",
        "location": {"path": "web.yaml", "lines": {"begin": 9}},
    }


def test_code_quality_without_a_line_says_the_place_in_words():
    """GitLab takes no issue without a path and a line."""
    found = (
        Finding("placement", "error", "m", file="web/templates/a.yaml", document=3),
        Finding("notice", "warning", "n", line=12, document=2),
        Finding("not-checked", "info", "o", source="web/templates/b.yaml"),
    )
    issues = json.loads(code_quality(Check(3, (), found, 1, 1)))
    jsonschema.validate(issues, CODE_QUALITY)
    assert [(one["severity"], one["description"], one["location"]) for one in issues] == [
        (
            "major",
            "m (web/templates/a.yaml, document 3)",
            {"path": "web/templates/a.yaml", "lines": {"begin": 1}},
        ),
        ("minor", "n (document 2, line 12)", {"path": "stdin", "lines": {"begin": 12}}),
        ("info", "o (web/templates/b.yaml)", {"path": "web/templates/b.yaml", "lines": {"begin": 1}}),
    ]


def test_code_quality_without_findings_is_an_empty_list(check):
    ran = check(STREAM, "--format=gitlab", "--exclude=*")
    assert (ran.status, ran.stdout) == (0, b"[]\n")


def test_equal_issues_have_fingerprints_of_their_own():
    """GitLab shows issues with one fingerprint as one."""
    same = Finding("placement", "error", "m", file="a.yaml", line=3)
    once = json.loads(code_quality(Check(3, (), (same,), 1, 1)))
    twice = json.loads(code_quality(Check(3, (), (same, same.replace(line=9)), 1, 1)))
    assert once[0]["fingerprint"] == twice[0]["fingerprint"] != twice[1]["fingerprint"]


def test_markdown_of_what_archfit_would_change(check):
    assert check(STREAM, "--format=markdown").stdout.decode() == (
        "## archfit: 1 of 2 pod specs is not as archfit would leave it; 1 pod spec left alone (1 by archfit.dev/skip)\n"
        "\n"
        "| Object | Finding | Place |\n"
        "| --- | --- | --- |\n"
        "| apps/v1/Deployment/web spec.template.spec | archfit would change it: restricted to amd64 (arm64 is not "
        "offered by x.example/amd:1) | shop/templates/web.yaml, document 1 |\n"
    )


def test_markdown_of_images_that_lack_a_platform(check):
    assert check(STREAM + WINDOWS, "--format=markdown", "--require=arm64").stdout.decode() == (
        "## archfit: 0 images run on linux/arm64; 1 does not; 0 not known; 1 pod spec not looked at\n"
        "\n"
        "| Image | Does not run on | It offers | Object | Place |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| x.example/amd:1 | linux/arm64 | linux/amd64 | apps/v1/Deployment/web "
        "spec.template.spec.containers&#91;0&#93;.image | shop/templates/web.yaml, document 1 |\n"
        "| x.example/amd:1 | linux/arm64 | linux/amd64 | v1/Pod/p spec.containers&#91;0&#93;.image, which archfit "
        'leaves alone: archfit.dev/skip is "true" | document 2, line 23 |\n'
        "\n"
        "<details><summary>1 pod spec not looked at</summary>\n"
        "\n"
        "| Object | Why | Place |\n"
        "| --- | --- | --- |\n"
        "| v1/Pod/w spec | it is for windows nodes | document 3, line 28 |\n"
        "\n"
        "</details>\n"
    )


def test_markdown_of_a_check_that_could_not_be_made(check):
    text = check(b"a: 1\nb: 2\n", "--format=markdown").stdout.decode()
    assert text.startswith(
        "## archfit: the check could not be made\n\n### Problems\n\n| Object | Message | Place |\n"
    )


def test_markdown_without_findings_is_its_head(check):
    assert check(STREAM, "--format=markdown", "--exclude=*").stdout == (
        b"## archfit: as archfit would leave it: 2 pod specs, 0 images; "
        b"2 pod specs left alone (1 by archfit.dev/skip)\n"
    )


def test_names_are_no_markup_in_markdown():
    hostile = "![x](http://evil.example/p.png) @admin #1 <img src=x> a|b"
    finding = Finding("placement", "error", hostile, ObjectRef("v1", "Pod", "", "[a](b)"), file="`c`")
    text = markdown(
        Check(3, (), (finding, finding.replace(rule="notice", severity="warning")), 1, 1)
    ).decode()
    assert not re.search(r"!\[|\]\(|://|@admin| #1|<img|`", text)
    assert all(line.count("|") == 4 for line in text.splitlines() if line.startswith("|"))


def test_markdown_is_bounded():
    found = tuple(Finding("placement", "error", "m" * 5000, file=f"{number}.yaml") for number in range(500))
    text = markdown(Check(3, (), found, 500, 1)).decode()
    assert len(text) < 65_536
    assert "rows left out." in text


NOT_KNOWN = b"""---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec:
  containers:
    - {name: a, image: "$(x)"}
    - {name: b, image: x.example/both:1}
"""
NUMBERS = "1 image runs on linux/arm64; 1 does not; 1 not known (placeholder)"
CAUSE = "'$(x)' still holds a placeholder that nothing has filled in"


def test_every_format_has_the_three_numbers_and_the_image_that_is_not_known(check):
    def report(form, *words):
        return check(STREAM + NOT_KNOWN, "--require=arm64", f"--format={form}", *words).stdout.decode()

    assert report("text").splitlines()[-1] == NUMBERS
    assert report("markdown").splitlines()[0] == f"## archfit: {NUMBERS}"
    assert f"### Not known: {CAUSE} (1 image, 1 place)" in report("markdown")
    github = report("github").splitlines()
    assert github[-1] == NUMBERS
    assert [line for line in github if line.startswith("::error title=archfit not-known::v1/Pod/q ")]
    gitlab = json.loads(report("gitlab"))
    assert (gitlab[-1]["check_name"], gitlab[-1]["severity"]) == ("archfit/summary", "info")
    assert gitlab[-1]["description"] == NUMBERS
    assert [one["severity"] for one in gitlab if one["check_name"] == "archfit/not-known"] == ["major"]
    (run,) = json.loads(report("sarif"))["runs"]
    assert run["properties"] == {"running": 1, "lacking": 1, "notKnown": 1}
    assert [one["level"] for one in run["results"] if one["ruleId"] == "not-known"] == ["error"]
    told = json.loads(report("json"))
    assert (told["images"], told["running"], told["lacking"], told["notKnown"]) == (3, 1, 1, 1)
    assert [one["cause"] for one in told["findings"] if one["rule"] == "not-known"] == [CAUSE]


def test_allowed_is_a_warning_in_every_format(check):
    for form, said in (
        ("github", "::warning title=archfit not-known::"),
        ("gitlab", '"severity": "minor"'),
        ("sarif", '"level": "warning",'),
        ("json", '"severity": "warning"'),
    ):
        ran = check(NOT_KNOWN, "--require=arm64", "--allow-unknown", f"--format={form}")
        assert (ran.status, said in ran.stdout.decode()) == (0, True)
