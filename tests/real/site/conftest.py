"""The site, built once for all of its tests, as `make docs` builds it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.real.site.site_pages import Site

import machine
from chromium import Chromium


def built(root, folder):
    """The site of a checkout. A warning of MkDocs fails the build, but with --quiet it counts none."""
    program = machine.tool("mkdocs")
    done = subprocess.run(
        [program, "build", "--strict", "--config-file", "scripts/site/mkdocs.yml", "--site-dir", folder],
        cwd=root,
        env={**machine.ENVIRON, "NO_MKDOCS_2_WARNING": "1", "HOME": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert (done.returncode, done.stdout, said) == (0, "", [])
    return Site(folder)


def left_out(folder, names):
    """What is made, not written."""
    made = {"site", "dist"} if Path(folder) == machine.ROOT else {"__pycache__"}
    return {name for name in names if name in made or (name.startswith(".") and name != ".github")}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site as it is."""
    return built(machine.ROOT, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """The site as it will be once the repository has an address."""
    spec = importlib.util.spec_from_file_location(
        "repository_address", machine.ROOT / "scripts" / "repository_address.py"
    )
    repository_address = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(machine.ROOT / "scripts")
        spec.loader.exec_module(repository_address)
    root = tmp_path_factory.mktemp("archfit") / "checkout"
    shutil.copytree(machine.ROOT, root, ignore=left_out)
    (root / ".tools").symlink_to(machine.ROOT / ".tools")
    repository_address.write(root, "https://github.com/acme/archfit")
    return built(root, tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser with a profile of its own."""
    with Chromium.started(tmp_path_factory.mktemp("chromium")) as one:
        yield one
