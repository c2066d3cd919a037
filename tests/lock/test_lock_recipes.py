"""docs/lock.md: what it shows is true, and its recipes do their work on a bot's branch."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from registry import Registry

import machine
from archfit.lookup.lockfile import parse, render
from lock_runs import pod
from program import PROGRAM

PAGE = (Path(__file__).parents[2] / "docs" / "lock.md").read_text(encoding="utf-8")
BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
OLD, NEW, OTHER = "docker.io/library/nginx:1.27", "docker.io/library/nginx:1.28", "quay.io/team/app:1"
BRANCH = "renovate/nginx-1.x"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


WORKFLOW, JOBS = (yaml.safe_load(block) for block in blocks("yaml"))
GITHUB: str = WORKFLOW["jobs"]["lock"]["steps"][-1]["run"]
GITLAB: str = "\n".join(JOBS["archfit-lock"]["script"])


def test_the_file_that_it_shows_is_as_archfit_writes_it():
    (shown,) = blocks("json")
    assert render(parse(shown.encode(), "archfit.lock")).decode() == shown


def test_the_workflow_has_what_github_requires():
    """YAML 1.1 reads its key `on` as true, and GitHub does not."""
    assert set(WORKFLOW) == {"name", True, "permissions", "concurrency", "jobs"}
    assert WORKFLOW[True] == {"push": {"branches": ["renovate/**", "dependabot/**"]}}
    assert WORKFLOW["permissions"] == {"contents": "write"}, "and nothing else"
    (job,) = WORKFLOW["jobs"].values()
    assert set(job) == {"runs-on", "steps"}
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert job["steps"][-1]["shell"] == "bash", "with -e and -o pipefail, which the default lacks"


def test_the_job_has_what_gitlab_requires():
    (job,) = JOBS.values()
    assert set(job) == {"image", "rules", "resource_group", "script"}
    assert all(isinstance(line, str) for line in job["script"]), "a colon and a blank would make it a mapping"
    pattern = re.search(r"=~ /(.*)/$", job["rules"][0]["if"])
    assert pattern is not None
    matches = re.compile(pattern[1].replace(r"\/", "/")).match
    assert [bool(matches(name)) for name in (BRANCH, "dependabot/docker/x", "main", "my/renovate/x")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.fixture
def registry():
    with Registry({"nginx:1.27": BOTH, "nginx:1.28": AMD, "quay.io/team/app:1": AMD}) as served:
        yield served


class Checkout:
    """A bot's branch as CI checks it out, with its remote; `helm` prints the manifests."""

    def __init__(self, folder: Path, registry: Registry, *images: str) -> None:
        self.folder = folder / "checkout"
        self._bin = folder / "bin"
        for made in (self.folder, self._bin, folder / "temp"):
            made.mkdir()
        self._environ = {
            **os.environ,
            "PATH": f"{self._bin}:{PROGRAM.parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "RUNNER_TEMP": str(folder / "temp"),
            "ARCHFIT_MIRROR": " ".join(registry.mirrors()[1::2]),
            "ARCHFIT_NO_CACHE": "true",
            "CI_COMMIT_BRANCH": BRANCH,
            "CI_SERVER_FQDN": "gitlab.example",
            "CI_PROJECT_PATH": "team/web",
            "LOCK_PUSH_TOKEN": "hush",
        }
        remote = folder / "remote.git"
        (folder / ".gitconfig").write_text(
            "[user]\n name = bot\n email = bot@example\n[push]\n autoSetupRemote = true\n"
            f'[url "{remote}"]\n insteadOf = https://oauth2:hush@gitlab.example/team/web.git\n'
        )
        self.rendered(*images)
        self.run("git", "init", "--quiet", "--bare", str(remote))
        self.run("git", "init", "--quiet", "--initial-branch", BRANCH)
        self.run("git", "remote", "add", "origin", str(remote))

    def rendered(self, *images: str, status: int = 0) -> None:
        """What `helm template` prints from now on."""
        (self._bin / "helm").write_text(f"#!/bin/sh\ncat <<'EOT'\n{pod(*images)}EOT\nexit {status}\n")
        (self._bin / "helm").chmod(0o755)

    def run(self, *command: str) -> str:
        """Standard output. Raises CalledProcessError."""
        done = machine.run(command, cwd=self.folder, env=self._environ, check=True)
        return done.stdout

    def recipe(self, script: str) -> None:
        """As both CI systems run it: bash, ending at the first failure."""
        self.run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)

    def pushed(self) -> list[str]:
        """The subjects of the remote branch, the newest first."""
        return (
            self.run("git", "ls-remote", "origin", BRANCH)
            and self.run("git", "log", "--format=%s", f"origin/{BRANCH}").splitlines()
        )

    def fetched(self) -> dict[str, Any]:
        """The lock file of the remote branch."""
        self.run("git", "fetch", "--quiet", "origin")
        return parse(self.run("git", "show", f"origin/{BRANCH}:archfit.lock").encode(), "archfit.lock")


@pytest.fixture
def checkout(real, tmp_path, registry):
    """The bot has replaced nginx:1.27 by nginx:1.28 and knows nothing of the lock file."""
    made = Checkout(tmp_path, registry, "nginx:1.27", "quay.io/team/app:1")
    made.rendered("nginx:1.27", "quay.io/team/app:1")
    made.run("bash", "-c", "helm template | archfit lock && git add . && git commit --quiet -m 'Begin'")
    made.rendered("nginx:1.28", "quay.io/team/app:1")
    made.run("git", "commit", "--quiet", "--allow-empty", "-m", "Update nginx to 1.28")
    made.run("git", "push", "--quiet")
    return made


def test_the_first_steps_that_it_shows_work(checkout):
    shown, *_ = blocks("sh")
    checkout.recipe(shown)
    assert b"kubernetes.io/arch" in (checkout.folder / "placed.yaml").read_bytes()
    assert list(parse((checkout.folder / "archfit.lock").read_bytes(), "")) == [OLD, NEW, OTHER]


RECIPES = pytest.mark.parametrize("script", [GITHUB, GITLAB], ids=["github", "gitlab"])


@RECIPES
def test_the_recipe_pushes_the_lock_file_of_the_update(checkout, script):
    checkout.recipe(script)
    assert list(checkout.fetched()) == [NEW, OTHER]
    assert checkout.pushed() == ["Lock the images of this update", "Update nginx to 1.28", "Begin"]
    placed = checkout.run("bash", "-c", "helm template | archfit --lock-file archfit.lock --locked")
    assert "kubernetes.io/arch" in placed


@RECIPES
def test_run_again_it_pushes_nothing(checkout, script):
    """Its own push starts the pipeline again."""
    checkout.recipe(script)
    first = checkout.run("git", "rev-parse", "HEAD")
    checkout.recipe(script)
    assert checkout.run("git", "rev-parse", "HEAD") == first
    assert checkout.run("git", "status", "--porcelain", "archfit.lock") == ""


@RECIPES
@pytest.mark.parametrize("failure", ["the render", "the lookup"])
def test_where_something_fails_it_fails_and_pushes_nothing(checkout, registry, script, failure):
    if failure == "the render":
        checkout.rendered("nginx:1.28", status=1)
    else:
        registry.remove("nginx:1.28")
    with pytest.raises(subprocess.CalledProcessError):
        checkout.recipe(script)
    assert list(checkout.fetched()) == [OLD, OTHER]
    assert len(checkout.pushed()) == 2
