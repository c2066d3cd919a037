"""The weekly workflow that records operators: its commands, run as they are, with a repository and a GitHub of ours."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from machine import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GH = """\
#!/bin/sh
echo "$@" >> "$RUNNER_TEMP/asked"
if [ "$1 $2" = "pr list" ]; then cat "$RUNNER_TEMP/open" 2>/dev/null; fi
"""
TEXT = (ROOT / ".github" / "workflows" / "operators.yml").read_text(encoding="utf-8")
# YAML 1.1 reads the key `on` as true.
WORKFLOW = yaml.safe_load(TEXT)
RECORDED = "fixtures/operators/k6-1.2.0/whole/made.yaml"


def script(job: str, name: str) -> str:
    """The commands of a step."""
    (found,) = (step["run"] for step in WORKFLOW["jobs"][job]["steps"] if step.get("name") == name)
    return str(found)


def git(*words: str, cwd: Path) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository with a recording, and a program gh that writes down what it is asked."""
    folder = tmp_path / "clone"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(tmp_path / "origin"), cwd=tmp_path)
    git("clone", "--quiet", str(tmp_path / "origin"), str(folder), cwd=tmp_path)
    for name in (
        RECORDED,
        "transformer/archfit/workloads/kinds/example.com.yaml",
        "docs/custom-resources.md",
        "other",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a: 1\n", encoding="utf-8")
    git("add", "--all", cwd=folder)
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "Begin", cwd=folder)
    git("push", "--quiet", "origin", "HEAD:main", cwd=folder)
    (tmp_path / "gh").write_text(GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    return folder


def step(name: str, job: str, folder: Path) -> None:
    temporary = folder.parent
    subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script(job, name)],
        cwd=folder,
        env={
            "PATH": f"{temporary}:{os.environ['PATH']}",
            "HOME": str(temporary),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_OUTPUT": str(temporary / "output"),
        },
        check=True,
        capture_output=True,
    )


def proposed(folder: Path) -> str:
    """The files that the branch changes."""
    git("fetch", "--quiet", "origin", cwd=folder)
    return git("diff", "--name-only", "origin/main", "origin/operators/newest", cwd=folder)


def test_what_differs_is_proposed_once_and_renewed(clone: Path) -> None:
    temporary = clone.parent
    for number, old in enumerate(("", "7\n"), 2):
        git("reset", "--quiet", "--hard", "origin/main", cwd=clone)
        (temporary / "open").write_text(old, encoding="utf-8")
        (temporary / "asked").write_text("", encoding="utf-8")
        (clone / RECORDED).write_text(f"a: {number}\n", encoding="utf-8")
        (clone / "fixtures/operators/k6-1.2.0/more.yaml").write_text("b: 1\n", encoding="utf-8")
        (clone / "other").write_text("of the build\n", encoding="utf-8")
        step("Compare", "record", clone)
        assert "changed=true" in (temporary / "output").read_text(encoding="utf-8")
        (clone / "operators.patch").rename(temporary / "operators.patch")
        git("reset", "--quiet", "--hard", "origin/main", cwd=clone)
        step("Propose the change", "propose", clone)
        assert proposed(clone).split() == ["fixtures/operators/k6-1.2.0/more.yaml", RECORDED]
        assert git("show", f"origin/operators/newest:{RECORDED}", cwd=clone) == f"a: {number}\n"
        asked = (temporary / "asked").read_text(encoding="utf-8")
        assert ("pr create --head operators/newest" in asked) == (not old)


def test_equal_recordings_propose_nothing(clone: Path) -> None:
    step("Compare", "record", clone)
    assert not (clone.parent / "output").exists()
    assert WORKFLOW["jobs"]["propose"]["if"].endswith("needs.record.outputs.changed == 'true' }}")


def test_it_runs_weekly_with_the_newest_versions_and_no_secret() -> None:
    assert [len(one["cron"].split()) for one in WORKFLOW[True]["schedule"]] == [5]
    assert WORKFLOW[True]["schedule"][0]["cron"].split()[2:4] == ["*", "*"]
    assert script("record", "Record") == "make -C lab operators VERSIONS=newest"
    assert "secrets." not in TEXT


def test_the_job_that_writes_runs_no_file_of_the_repository() -> None:
    steps = WORKFLOW["jobs"]["propose"]["steps"]
    lines = "\n".join(one.get("run", "") for one in steps).splitlines()
    started = {line.split()[0] for line in lines if line.strip() and not line.startswith("  ")}
    assert started == {"git", "gh", "if", "fi"}
