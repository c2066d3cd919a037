"""`stamp` in the program: from a function's configuration, in check, in the report, not in patch."""

import json

import pytest
import yaml
from registry import Registry

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
WEB = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: h.example/web:1
"""


@pytest.fixture
def served():
    with Registry({"h.example/web:1": AMD}) as running:
        yield running


@pytest.fixture
def run(served, archfit):
    def run(given, *words):
        return archfit(given, *words, "--no-cache", *served.mirrors())

    return run


@pytest.fixture
def stamped(served, run):
    """A stamped file whose image has moved to more platforms since."""
    before = run(WEB, "--stamp").ok()
    served.put("h.example/web:1", BOTH)
    return before


def test_check_says_what_an_in_place_run_would_change(stamped, run):
    assert run(stamped, "check", "--stamp").status == 3
    assert run(run(stamped, "--stamp").ok(), "check", "--stamp").status == 0


def test_a_patch_has_no_stamp(run):
    """It belongs to files that are edited in place; kustomize adds annotations while it builds."""
    assert run(WEB, "patch", "--stamp").ok() == run(WEB, "patch").ok()


def test_a_function_reads_it_from_its_configuration(run):
    item = b"- " + WEB.replace(b"\n", b"\n  ")[:-2]
    head = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    for config in (
        b"functionConfig: {apiVersion: archfit.dev/v1alpha1, kind: ArchFit, spec: {stamp: true}}\n",
        b"functionConfig: {apiVersion: v1, kind: ConfigMap, data: {stamp: 'true'}}\n",
    ):
        out = yaml.safe_load(run(head + item + config).ok())
        assert list(out["items"][0]["metadata"]["annotations"]) == ["archfit.dev/added"]
        assert "archfit.dev/added" not in str(out["items"][0]["spec"])


def test_the_report_has_the_whole_patch_and_what_undoes_the_edits(stamped, run, tmp_path):
    path = tmp_path / "report.json"
    out = run(stamped, "--stamp", f"--report={path}").ok()
    report = json.loads(path.read_text(encoding="utf-8"))
    assert {step["op"] for step in report["decisions"][0]["patch"]} == {"add", "remove", "test"}
    for edit in reversed(report["edits"]):
        out = out[: edit["start"]] + edit["was"].encode() + out[edit["end"] :]
    assert out == stamped
