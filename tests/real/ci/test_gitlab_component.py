"""templates/archfit.yml: GitLab takes it, and its job does what docs/ci.md says, run as a runner runs it."""

import json
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.real.ci.gitlab_component import BASH, SH, component_jobs, run_job

import machine
from archfit import __version__
from ci_checkout import API, CONFIG, LOCK, LOCKED, WEB, hostile_files, pod

COMPONENT = (machine.ROOT / "templates" / "archfit.yml").read_text(encoding="utf-8")
SHELLS = pytest.mark.parametrize("shell", [BASH, SH], ids=["bash", "sh"])


@pytest.fixture
def job(lookups, with_archfit):
    """`job(folder, path="rendered")` runs the job in an image that has archfit."""

    def run(folder: Path, shell=BASH, **inputs):
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        (found,) = component_jobs(COMPONENT, given).values()
        return run_job(found, folder, {**lookups, **with_archfit}, shell)

    return run


def test_gitlab_takes_header_and_jobs(schema_of, tmp_path):
    header, _ = yaml.safe_load_all(COMPONENT)
    (tmp_path / "header.yml").write_text(yaml.safe_dump(header))
    (tmp_path / "jobs.yml").write_text(yaml.safe_dump(component_jobs(COMPONENT, {})))
    assert schema_of("gitlab-ci", tmp_path / "header.yml", tmp_path / "jobs.yml") == ""


def test_every_input_is_described_and_used():
    header, body = yaml.safe_load_all(COMPONENT)
    inputs = header["spec"]["inputs"]
    assert [name for name, row in inputs.items() if not row.get("description")] == []
    assert [name for name in inputs if f"$[[ inputs.{name} ]]" not in str(body)] == []
    assert inputs["version"]["default"] == f"v{__version__}"


def test_no_input_is_part_of_a_script():
    """It would be code, whoever wrote its value."""
    _, body = yaml.safe_load_all(COMPONENT)
    assert [line for found in body.values() for line in found["script"] if "$[[" in line] == []


def test_two_uses_have_names_of_their_own():
    """GitLab merges jobs of one name."""
    assert list(component_jobs(COMPONENT, {"job-name": "archfit:shop"})) == ["archfit:shop"]


@SHELLS
def test_findings_are_a_report_and_a_failure(job, repository, shell):
    folder = repository({"rendered/web.yaml": WEB, "rendered/api.yaml": API})
    ran = job(folder, shell, path="rendered", require="arm64")
    assert ran.returncode == 3, ran.stderr
    assert "1 image runs on linux/arm64; 1 does not; 0 not known" in ran.stdout
    (artifact,) = component_jobs(COMPONENT, {})["archfit"]["artifacts"]["reports"].values()
    issue, summary = json.loads((folder / artifact).read_text())
    assert summary["check_name"] == "archfit/summary"
    assert issue["location"] == {"path": "rendered/web.yaml", "lines": {"begin": 8}}


@SHELLS
def test_without_findings_it_passes_with_an_empty_report(job, repository, shell):
    folder = repository({"api.yaml": API, ".gitlab-ci.yml": "include: []\n"})
    ran = job(folder, shell, require="arm64")
    assert ran.returncode == 0, ran.stderr
    assert json.loads((folder / "gl-code-quality-report.json").read_text()) == []


def test_a_check_that_cannot_be_made_fails_with_a_report(job, repository):
    folder = repository({"web.yaml": "a: 1\nb: 2\n"})
    assert job(folder, path="web.yaml").returncode == 1
    (issue,) = json.loads((folder / "gl-code-quality-report.json").read_text())
    assert issue["check_name"] == "archfit/problem"


@SHELLS
def test_configuration_lock_file_and_arguments_reach_archfit(job, repository, shell):
    files = {
        "with a blank/web.yaml": "# Source: web/templates/web.yaml\n" + pod("web", LOCKED),
        "skip.yaml": pod("skip", "x.example/unknown:1"),
        "charts/web/templates/web.yaml": "",
        "archfit.lock": LOCK,
        "archfit.yaml": CONFIG,
    }
    folder = repository(files)
    ran = job(
        folder,
        shell,
        path="with a blank/web.yaml\nskip.yaml",
        source_root="charts",
        config="archfit.yaml",
        lock_file="archfit.lock",
        locked=True,
        args="--exclude=*/*/skip",
    )
    assert ran.returncode == 3, ran.stderr
    assert (
        "s390x is not offered by x.example/locked:1) (charts/web/templates/web.yaml, document 1)"
        in ran.stdout
    )


@SHELLS
@pytest.mark.parametrize(
    "name",
    ["$(touch owned)", "`touch owned`", '"; touch owned; "', "a*b.yaml", "--report=owned", "'", "a\\b"],
)
def test_a_file_may_have_any_name(job, repository, shell, name):
    folder = repository({name: WEB, "axb.yaml": API})
    ran = job(folder, shell, path=name)
    assert ran.returncode == 3, ran.stderr
    assert "1 of 1 pod spec is not" in ran.stdout
    assert not (folder / "owned").exists()


def test_it_installs_what_package_names(offline, lookups, repository, tmp_path, python):
    """An image with Python and without archfit."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(python)
    jobs = component_jobs(COMPONENT, {"package": str(machine.ROOT), "path": "web.yaml", "require": "amd64"})
    environ = {**offline, **lookups, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    ran = run_job(jobs["archfit"], repository({"web.yaml": WEB}), environ)
    assert (ran.returncode, ran.stdout) == (0, "1 image runs on linux/amd64; 0 do not; 0 not known\n"), (
        ran.stderr
    )


@pytest.mark.parametrize("installed", [True, False], ids=["image-with-archfit", "installs-it"])
@SHELLS
def test_no_file_of_the_checkout_is_run(
    with_archfit, offline, lookups, repository, tmp_path, python, shell, installed
):
    """A merge request's venv.py or json.py would run with the rights of the job, and could forge its findings."""
    owned = tmp_path / "owned"
    folder = repository({"rendered/web.yaml": WEB, **hostile_files(owned)})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(python)
    path = with_archfit if installed else {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    inputs = {"path": "rendered", "require": "arm64", **({} if installed else {"package": str(machine.ROOT)})}
    environ = {**offline, **lookups, **path, "PYTHONPATH": str(folder)}
    ran = run_job(component_jobs(COMPONENT, inputs)["archfit"], folder, environ, shell)
    assert not owned.exists(), owned.read_text()
    assert ran.returncode == 3, ran.stderr
    issue, _ = json.loads((folder / "gl-code-quality-report.json").read_text())
    assert issue["check_name"] == "archfit/required-platform"


def test_otherwise_it_installs_its_version_from_the_repository(repository, tmp_path):
    (tmp_path / "bin").mkdir()
    log = tmp_path / "log"
    (tmp_path / "bin" / "python3").write_text(
        f'#!/bin/sh\nmkdir -p "$4/bin"\nprintf \'#!/bin/sh\\necho "$@" >> {log}\\n\' > "$4/bin/python"\n'
        'cp "$4/bin/python" "$4/bin/archfit"\nchmod +x "$4"/bin/*\n'
    )
    (tmp_path / "bin" / "python3").chmod(0o755)
    jobs = component_jobs(COMPONENT, {"version": "main"})
    ran = run_job(
        jobs["archfit"], repository({"web.yaml": WEB}), {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    )
    assert ran.returncode == 0, ran.stderr
    locked, installed, checked = log.read_text().splitlines()
    project = tomllib.loads((machine.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = project["urls"]["Source"]
    pip = "-I -m pip install --quiet --disable-pip-version-check --no-deps "
    assert locked == (
        f"{pip}--require-hashes --requirement {source}/raw/main/locks/build.lock"
        f" --requirement {source}/raw/main/locks/run.lock"
    )
    assert installed == f"{pip}--no-build-isolation {source}/archive/main.tar.gz"
    assert checked == "check --format gitlab=gl-code-quality-report.json ."
