"""docs/ci.md: CI systems take every block, and every command and step does what the page says."""

import json
import os
import re
import subprocess

import pytest
import yaml
from tests.real.ci.action_runner import ActionRunner
from tests.real.ci.gitlab_component import BASH, component_jobs, run_job

import machine
from ci_checkout import LOCK, WEB, checkout, page_blocks, pod, write_files
from program import PROGRAM

PAGE, LOCK_PAGE = "ci", "lock"
ACTION = machine.ROOT / "action.yml"
COMPONENT = (machine.ROOT / "templates" / "archfit.yml").read_text(encoding="utf-8")
YAML = [block for page in (PAGE, LOCK_PAGE) for block in page_blocks(page, "yaml")]
OTHERS = {
    kind: next(block for block in YAML if block.startswith(start))
    for kind, start in (
        ("azure-pipelines", "pool:"),
        ("circle-ci", "version: 2.1"),
        ("buildkite", "steps:\n  - label:"),
    )
}
OF_GITHUB_OR_GITLAB = [block for block in YAML if block not in OTHERS.values()]
WORKFLOWS = [block for block in OF_GITHUB_OR_GITLAB if re.search("^jobs:$", block, re.MULTILINE)]
HOOKS = [block for block in YAML if block.startswith("repos:")]
GITLAB = [block for block in OF_GITHUB_OR_GITLAB if block not in WORKFLOWS and block not in HOOKS]
JSON = [json.loads(block) for block in page_blocks(PAGE, "json")]
TEXT = (machine.ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", WORKFLOWS, ids=range(len(WORKFLOWS)))
def test_github_takes_the_workflow(tool, schema_of, tmp_path, block):
    files = {
        ".github/workflows/archfit.yaml": block,
        ".archfit/action.yml": ACTION.read_text(encoding="utf-8"),
    }
    folder = checkout(tmp_path, files)
    linted = machine.run([tool("actionlint")], cwd=folder)
    assert (linted.returncode, linted.stdout) == (0, "")
    assert schema_of("github-workflows", folder / ".github/workflows/archfit.yaml") == ""


@pytest.mark.parametrize("block", GITLAB, ids=range(len(GITLAB)))
def test_gitlab_takes_the_configuration(schema_of, tmp_path, block):
    (tmp_path / "ci.yml").write_text(block)
    assert schema_of("gitlab-ci", tmp_path / "ci.yml") == ""


@pytest.mark.parametrize("kind", OTHERS)
def test_other_systems_take_their_configuration(schema_of, tmp_path, kind):
    (tmp_path / "config.yml").write_text(OTHERS[kind])
    assert schema_of(kind, tmp_path / "config.yml") == ""


def test_pre_commit_takes_the_configuration(tool, tmp_path):
    (tmp_path / "config.yaml").write_text(HOOKS[0])
    subprocess.run([tool("pre-commit"), "validate-config", tmp_path / "config.yaml"], check=True)


# Where Renovate looks for the configuration of a repository, the first ones.
PLACES = (
    "renovate.json",
    ".github/renovate.json",
    ".gitlab/renovate.json",
    ".renovaterc",
    ".renovaterc.json",
)


def test_renovate_takes_the_preset_and_the_configurations(tool, tmp_path):
    """All in one folder; config.json is Renovate's own."""
    preset = json.loads((machine.ROOT / "templates" / "renovate.json").read_text(encoding="utf-8"))
    of_repositories = [preset, *(value for value in JSON if "allowedCommands" not in value)]
    (own,) = [value for value in JSON if "allowedCommands" in value]
    files = dict(zip(PLACES, of_repositories, strict=False))
    assert len(files) == len(of_repositories)
    files |= {"package.json": {"renovate-config": {"default": preset}}, "config.json": own}
    write_files(tmp_path, {name: json.dumps(value) for name, value in files.items()})
    words = [tool("renovate-config-validator"), "--strict"]
    environ = {**os.environ, "LOG_LEVEL": "info", "RENOVATE_CONFIG_FILE": "config.json"}
    done = machine.run(words, cwd=tmp_path, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in files:
        assert f"Validating {name}" in done.stdout + done.stderr


def test_the_preset_names_the_authors_of_both_jobs():
    preset = json.loads((machine.ROOT / "templates" / "renovate.json").read_text(encoding="utf-8"))
    shown = re.findall(r'git config user.email "([^"]+)"', "\n".join(page_blocks(LOCK_PAGE, "yaml")))
    assert preset["gitIgnoredAuthors"] == shown
    assert [value["gitIgnoredAuthors"] for value in JSON if "gitIgnoredAuthors" in value] == [shown[:1]]


def test_a_command_of_renovate_is_one_that_it_allows():
    commands = [
        command for value in JSON for command in value.get("postUpgradeTasks", {}).get("commands", [])
    ]
    allowed = [pattern for value in JSON for pattern in value.get("allowedCommands", [])]
    assert commands
    assert [
        command for command in commands if not any(re.search(pattern, command) for pattern in allowed)
    ] == []


def table(heading: str, after: str) -> dict[str, tuple[str, ...]]:
    """The rows of the first table with that heading behind a text, by their first cell."""
    found = re.search(rf"^\| {heading} \|.*\n\|.*\n((?:\|.*\n)+)", TEXT.partition(after)[2], re.MULTILINE)
    assert found
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]
    return {row[0].strip("`"): tuple(row[1:]) for row in rows}


def test_the_tables_are_those_of_the_action_and_the_component():
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    component = next(yaml.safe_load_all(COMPONENT))["spec"]["inputs"]
    for inputs, shown in (
        (action["inputs"], table("Input", "## GitHub")),
        (component, table("Input", "## GitLab")),
    ):
        assert list(shown) == list(inputs)
        defaults = {name: str(row.get("default", "")).removesuffix(".") for name, row in inputs.items()}
        told = {
            name: cells[-1].strip("` |").replace("the root of the repository", "")
            for name, cells in shown.items()
        }
        assert told == {
            name: value.lower() if value in {"True", "False"} else value for name, value in defaults.items()
        }
    assert list(table("Output", "## GitHub")) == list(action["outputs"])


FILES = {
    "rendered/web.yaml": pod("web", "ghcr.io/team/app:1"),
    "rendered.yaml": "# Source: shop/templates/pod.yaml\n" + WEB,
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "charts/shop/values.yaml": "",
    "values/production.yaml": "",
    "charts/shop/templates/pod.yaml": WEB,
    "archfit.lock": LOCK.replace("x.example/locked:1", "ghcr.io/team/app:1"),
}
STEPS = [
    step
    for block in WORKFLOWS
    for job in yaml.safe_load(block)["jobs"].values()
    for step in job["steps"]
    if step.get("uses") == "./.archfit"
]


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    return checkout(tmp_path_factory.mktemp("workspace"), FILES)


@pytest.mark.parametrize("step", STEPS, ids=range(len(STEPS)))
def test_a_step_of_a_workflow_finds_what_is_there(
    step, workspace, job_folder, offline, lookups, python, with_helm
):
    inputs = {name: str(value).lower() if value is True else value for name, value in step["with"].items()}
    runner = ActionRunner(ACTION, job_folder, {**offline, **lookups, **with_helm})
    ran = runner.run(workspace, {"python": python, **inputs})
    assert ran.status == 3, ran.log
    place = "charts/shop/templates/pod.yaml" if "helm" in inputs else "rendered/web.yaml"
    assert f"::error file={place}," in ran.log


INCLUDES = [include["inputs"] for block in GITLAB for include in yaml.safe_load(block).get("include", [])]


@pytest.mark.parametrize("inputs", INCLUDES, ids=range(len(INCLUDES)))
def test_the_component_finds_what_is_there(inputs, workspace, lookups, with_archfit):
    """In an image that has archfit; test_gitlab_component.py installs it."""
    jobs = component_jobs(COMPONENT, inputs | {"package": ""})
    ran = run_job(jobs["archfit"], workspace, {**lookups, **with_archfit})
    assert ran.returncode == 3, ran.stderr


def test_the_job_without_the_component_writes_the_report(workspace, lookups, with_archfit):
    (job,) = [yaml.safe_load(block)["archfit"] for block in GITLAB if block.startswith("archfit:\n")]
    ran = run_job(job, workspace, {**lookups, **with_archfit})
    assert ran.returncode == 3, ran.stderr
    report = job["artifacts"]["reports"]["codequality"]
    names = [issue["check_name"] for issue in json.loads((workspace / report).read_text())]
    assert names == ["archfit/required-platform", "archfit/summary"]


def test_the_commands_work(tmp_path, offline, lookups, python):
    """Both blocks, in a folder with a checkout of this repository."""
    folder = checkout(tmp_path / "work", {"rendered/web.yaml": pod("web", "ghcr.io/team/app:1")})
    (folder / "archfit").symlink_to(machine.ROOT)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(python)
    (tmp_path / "bin" / "archfit").symlink_to(PROGRAM)
    environ = {**os.environ, **offline, **lookups, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    first, others = page_blocks(PAGE, "sh")
    for script in (first, others):
        ran = machine.run([*BASH, script], cwd=folder, env=environ)
        assert ran.returncode == 3, ran.stderr
        assert "ghcr.io/team/app:1 does not run on linux/arm64" in ran.stdout
    assert json.loads((folder / "archfit.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((folder / "archfit.json").read_text())["exit"] == 3
