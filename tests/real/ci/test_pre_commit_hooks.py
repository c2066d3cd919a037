""".pre-commit-hooks.yaml: pre-commit installs archfit from a clone of this repository and runs its hooks."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import machine
from ci_checkout import API, GIT, WEB, checkout, hostile_files, page_blocks, pod

MANIFEST = machine.ROOT / ".pre-commit-hooks.yaml"
# What pip needs to build archfit, and pre-commit to know its hooks.
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "scripts/hatch_build.py",
    "scripts/man_page.py",
    ".pre-commit-hooks.yaml",
    *(
        str(path.relative_to(machine.ROOT))
        for path in (machine.ROOT / "transformer").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    ),
)
(CONFIG,) = [block for block in page_blocks("ci", "yaml") if block.startswith("repos:")]
LOCK = '{"version": 1, "images": {}}\n'


@pytest.fixture(scope="session")
def hooks(real, offline, lookups, tmp_path_factory):
    """`hooks(folder, "archfit-check")` runs a hook on all files of a repository; archfit is installed once."""
    source = tmp_path_factory.mktemp("archfit")
    for name in SOURCES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(machine.ROOT / name, source / name)
    checkout(source, {})
    revision = machine.run([*GIT, "rev-parse", "HEAD"], cwd=source, check=True)
    environ = {
        **os.environ,
        **offline,
        **lookups,
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")),
    }

    def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        config = re.sub("repo: .*", f"repo: {source}", CONFIG)
        config = re.sub("rev: .*", f"rev: {revision.stdout.strip()}", config)
        (folder / ".pre-commit-config.yaml").write_text(config)
        return machine.run(
            [real.tool("pre-commit"), "run", "--color=never", "--verbose", *words], cwd=folder, env=environ
        )

    return run


def test_pre_commit_takes_the_manifest(tool):
    subprocess.run([tool("pre-commit"), "validate-manifest", MANIFEST], check=True)


def test_no_file_of_the_repository_is_run(hooks, repository, tmp_path):
    folder = repository({"rendered/web.yaml": WEB, **hostile_files(tmp_path / "owned")})
    assert hooks(folder, "archfit-check", "--all-files").returncode == 1
    assert not (tmp_path / "owned").exists()


def test_a_check_fails_for_the_file_that_has_findings(hooks, repository):
    ran = hooks(
        repository({"rendered/web.yaml": WEB, "values.yaml": "a: 1\n"}), "archfit-check", "--all-files"
    )
    assert ran.returncode == 1
    assert "- exit code: 3" in ran.stdout
    assert "v1/Pod/web spec.containers[0].image (rendered/web.yaml:8)" in ran.stdout


def test_a_check_passes_without_findings(hooks, repository):
    ran = hooks(repository({"rendered/api.yaml": API}), "archfit-check", "--all-files")
    assert ran.returncode == 0, ran.stdout
    assert "1 image runs on linux/arm64; 0 do not; 0 not known" in ran.stdout


def test_the_lock_file_follows_the_files_that_are_committed(hooks, repository):
    """Only what is staged is read, and only what is missing is added; then the commit waits for `git add`."""
    folder = repository({"rendered/api.yaml": API, "archfit.lock": LOCK})
    (folder / "rendered" / "new.yaml").write_text(pod("new", "x.example/amd:1"))
    subprocess.run([*GIT, "add", "."], cwd=folder, check=True)
    ran = hooks(folder, "archfit-lock")
    assert ran.returncode == 1
    assert "- files were modified by this hook" in ran.stdout
    lock = (folder / "archfit.lock").read_text()
    assert "x.example/amd:1" in lock
    assert "x.example/both:1" not in lock
    subprocess.run([*GIT, "add", "."], cwd=folder, check=True)
    assert hooks(folder, "archfit-lock").returncode == 0


def test_manifests_are_changed_in_place_once(hooks, repository):
    folder = repository({"rendered/web.yaml": WEB})
    ran = hooks(folder, "archfit", "--all-files")
    assert ran.returncode == 1
    assert "- files were modified by this hook" in ran.stdout
    assert "kubernetes.io/arch" in (folder / "rendered" / "web.yaml").read_text()
    subprocess.run([*GIT, "add", "."], cwd=folder, check=True)
    assert hooks(folder, "archfit", "--all-files").returncode == 0


def test_a_file_of_another_kind_starts_no_hook(hooks, repository):
    ran = hooks(repository({"rendered/README.md": "# a\n", "values.yaml": "a: 1\n"}), "--all-files")
    assert ran.returncode == 0
    assert ran.stdout.count("(no files to check)Skipped") == 3
