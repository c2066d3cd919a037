"""action.yml: GitHub takes it, and its steps do what docs/ci.md says, run as the runner runs them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.real.ci.action_runner import ActionRunner

import machine
from ci_checkout import API, CONFIG, LOCK, LOCKED, WEB, hostile_files, pod

ACTION = machine.ROOT / "action.yml"
ROWS = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
CHART = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "charts/shop/values.yaml": "image: x.example/both:1\n",
    "charts/shop/amd.yaml": "image: x.example/amd:1\n",
    "charts/shop/templates/pod.yaml": pod("{{ .Release.Namespace }}", "{{ .Values.image }}"),
}


@pytest.fixture(scope="session")
def action(offline, lookups, python, job_folder):
    """`action(workspace, path="rendered")` runs it."""
    runner = ActionRunner(ACTION, job_folder, {**offline, **lookups})

    def run(workspace: Path, environ: dict[str, str] | None = None, **inputs: str):
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        return runner.run(workspace, {"python": python, **given}, **(environ or {}))

    return run


def test_github_takes_the_action(schema_of):
    assert schema_of("github-actions", ACTION) == ""


def test_a_workflow_that_uses_it_passes_the_linter(tool, repository):
    """It reads the action of `uses: ./` and compares the names of inputs and outputs."""
    workflow = """\
on: push
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: ./
        id: archfit
        with:
{inputs}      - run: echo "$FOUND"
        env:
          FOUND: {outputs}
"""
    inputs = "".join(f"          {name}: x\n" for name in ROWS["inputs"])
    outputs = "".join(f"${{{{ steps.archfit.outputs.{name} }}}}" for name in ROWS["outputs"])
    files = {
        "action.yml": ACTION.read_text(),
        ".github/workflows/a.yml": workflow.format(inputs=inputs, outputs=outputs),
    }
    folder = repository(files)
    linted = machine.run([tool("actionlint")], cwd=folder)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_no_input_is_part_of_a_script():
    """An expression in a script would be code, whoever wrote its value."""
    assert [step["name"] for step in ROWS["runs"]["steps"] if "${{" in step["run"]] == []
    used = set(re.findall(r"inputs\.([a-z-]+)", str([step["env"] for step in ROWS["runs"]["steps"]])))
    assert used == set(ROWS["inputs"])


def test_findings_are_annotations_a_summary_sarif_and_a_failure(action, repository):
    ran = action(
        repository({"rendered/web.yaml": WEB, "rendered/api.yaml": API}), path="rendered", require="arm64"
    )
    assert ran.status == 3
    assert ran.commands == [
        "::error file=rendered/web.yaml,line=8,title=archfit required-platform::v1/Pod/web spec.containers[0].image: "
        "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64"
    ]
    assert ran.summary.startswith("## archfit: 1 image runs on linux/arm64; 1 does not; 0 not known\n")
    assert (ran.outputs["exit-code"], ran.outputs["findings"]) == ("3", "1")
    with open(ran.outputs["sarif-file"], encoding="utf-8") as file:
        (result,) = json.load(file)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "rendered/web.yaml"
    with open(ran.outputs["json-file"], encoding="utf-8") as file:
        assert json.load(file)["exit"] == 3


@pytest.mark.parametrize("python_path", [None, "."], ids=["working-folder", "python-path"])
def test_no_file_of_the_checkout_is_run(offline, lookups, python, repository, tmp_path, python_path):
    """A pull request's venv.py or json.py would run with the rights of the job, and could forge its findings."""
    owned = tmp_path / "owned"
    folder = repository({"rendered/web.yaml": WEB, **hostile_files(owned)})
    (tmp_path / "runner-temp").mkdir()
    runner = ActionRunner(ACTION, tmp_path / "runner-temp", {**offline, **lookups})
    environ = {} if python_path is None else {"PYTHONPATH": str(folder)}
    ran = runner.run(folder, {"python": python, "path": "rendered", "require": "arm64"}, **environ)
    assert not owned.exists(), owned.read_text()
    assert (ran.status, ran.outputs["findings"]) == (3, "1"), ran.log


def test_without_findings_it_passes(action, repository):
    """The folder .github holds YAML that is no manifest; the default is the root of the repository."""
    files = {
        "api.yaml": API,
        ".github/workflows/a.yaml": "on: push\njobs: {}\n",
        "mkdocs.yml": "site_name: a\n",
    }
    ran = action(repository(files), require="arm64")
    assert (ran.status, ran.outputs["exit-code"], ran.outputs["findings"]) == (0, "0", "0")
    assert ran.summary == "## archfit: 1 image runs on linux/arm64; 0 do not; 0 not known\n"
    assert ran.commands == []


def test_the_log_can_have_text_instead_of_annotations(action, repository):
    ran = action(repository({"web.yaml": WEB}), path="web.yaml", format="text")
    assert ran.status == 3
    assert "1 of 1 pod spec is not as archfit would leave it" in ran.log
    assert ran.commands == []


@pytest.mark.parametrize(
    ("fail_on", "manifest", "status", "code"),
    [
        ("findings", WEB, 3, "3"),
        ("problems", WEB, 0, "3"),
        ("never", WEB, 0, "3"),
        ("findings", "a: 1\nb: 2\n", 1, "1"),
        ("problems", "a: 1\nb: 2\n", 1, "1"),
        ("never", "a: 1\nb: 2\n", 0, "1"),
    ],
)
def test_fail_on_decides_whether_the_step_fails(action, repository, fail_on, manifest, status, code):
    ran = action(repository({"web.yaml": manifest}), path="web.yaml", fail_on=fail_on)
    assert (ran.status, ran.outputs["exit-code"]) == (status, code)
    assert "sarif-file" in ran.outputs


@pytest.mark.parametrize("fail_on", ["findings", "never"])
def test_wrong_usage_fails_always_and_is_annotated(action, repository, fail_on):
    ran = action(repository({"web.yaml": WEB}), path="nowhere", fail_on=fail_on)
    assert (ran.status, ran.outputs["exit-code"], ran.outputs["sarif-file"]) == (2, "2", "")
    assert "::error title=archfit::archfit: error: cannot read 'nowhere'" in ran.log


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"format": "sarif"}, "the input format is github or text"),
        ({"fail_on": "always"}, "the input fail-on is findings, problems or never"),
        ({"locked": "yes"}, "the input locked is true or false"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_an_input_that_is_wrong_is_named(action, repository, inputs, said):
    ran = action(repository({"web.yaml": WEB}), path="web.yaml", **inputs)
    assert (ran.status, ran.log) == (2, f"::error title=archfit::{said}\n")


HOSTILE = [
    "$(touch owned)",
    "`touch owned`",
    '"; touch owned; "',
    "a b.yaml",
    "--report=owned",
    "-x.yaml",
    "'",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_may_have_any_name(action, repository, name):
    """The list of a pull request's changed files goes into `path`, too."""
    folder = repository({name: WEB})
    ran = action(folder, path=f"{name}\n")
    assert ran.status == 3
    assert not (folder / "owned").exists()


@pytest.mark.parametrize(
    "name",
    [
        "helm",
        "helm_values",
        "helm_args",
        "kustomize",
        "require",
        "source_root",
        "config",
        "lock_file",
        "args",
    ],
)
def test_no_input_is_run_as_code(action, repository, with_helm, name):
    folder = repository({"web.yaml": WEB})
    ran = action(folder, with_helm, path="web.yaml", **{name: "$(touch owned)`touch owned`;touch owned"})
    assert ran.status in {1, 2, 3}
    assert not (folder / "owned").exists()


def test_charts_are_rendered_and_their_templates_annotated(action, repository, with_helm):
    ran = action(
        repository(CHART),
        with_helm,
        helm="charts/shop",
        helm_values="charts/shop/amd.yaml",
        helm_args="--namespace=team\n",
        require="arm64",
    )
    assert ran.status == 3
    (command,) = ran.commands
    assert command.startswith(
        "::error file=charts/shop/templates/pod.yaml,title=archfit required-platform::v1/Pod/team "
    )


def test_a_chart_that_does_not_render_fails(action, repository, with_helm):
    files = {**CHART, "charts/shop/templates/pod.yaml": "{{ fail `no` }}"}
    ran = action(repository(files), with_helm, helm="charts/shop", fail_on="never")
    assert ran.status == 1
    assert "execution error" in ran.log


def test_what_a_chart_prints_is_no_command_to_the_runner(action, repository, with_helm):
    files = {
        **CHART,
        "charts/shop/templates/pod.yaml": '{{ fail "\\n::add-mask::a\\n::set-output name=findings::0\\n" }}',
    }
    ran = action(repository(files), with_helm, helm="charts/shop")
    assert ran.status == 1
    assert "\n::add-mask::a\n" in ran.log
    assert ran.commands == []


@pytest.mark.parametrize("builder", ["kustomize", "kubectl"])
def test_kustomizations_are_built(action, repository, with_helm, builder):
    if builder == "kubectl":
        Path(with_helm["PATH"].split(":")[0], "kustomize").unlink()
        assert shutil.which("kustomize", path=with_helm["PATH"]) is None
    files = {
        "prod/kustomization.yaml": "resources: [web.yaml]\nbuildMetadata: [originAnnotations]\n",
        "prod/web.yaml": WEB,
        "api.yaml": API,
    }
    ran = action(repository(files), with_helm, kustomize="prod", path="api.yaml", require="arm64")
    assert ran.status == 3
    assert ran.summary.startswith("## archfit: 1 image runs on linux/arm64; 1 does not; 0 not known\n")
    assert [command.partition(",")[0] for command in ran.commands] == ["::error file=prod/web.yaml"]


def test_configuration_lock_file_and_arguments_reach_archfit(action, repository):
    files = {
        "web.yaml": pod("web", LOCKED),
        "skip.yaml": pod("skip", "x.example/unknown:1"),
        "archfit.lock": LOCK,
        "archfit.yaml": CONFIG,
    }
    ran = action(
        repository(files),
        path="web.yaml\n\n  skip.yaml  \n",
        config="archfit.yaml",
        lock_file="archfit.lock",
        locked="true",
        args="--exclude=*/*/skip\n",
    )
    assert (ran.status, ran.outputs["findings"]) == (3, "1")
    assert "s390x is not offered by x.example/locked:1" in ran.log


def test_a_python_that_is_too_old_is_named(offline, repository, tmp_path):
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    (tmp_path / "temp").mkdir()
    ran = ActionRunner(ACTION, tmp_path / "temp", offline).run(
        repository({"web.yaml": WEB}), {"python": str(old)}
    )
    assert ran.status == 1
    assert ran.log == (
        "::error title=archfit::archfit needs Python 3.11 or later: use actions/setup-python before this step, "
        "or set the input python\n"
    )


def test_it_changes_nothing_in_the_repository(action, repository):
    folder = repository({"web.yaml": WEB})
    action(folder, path="web.yaml")
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, check=True).stdout
        == b""
    )
