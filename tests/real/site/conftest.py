"""The site, built once for all of its tests, as `make docs` builds it."""

from __future__ import annotations

import os
import subprocess

import pytest

import machine
from site_pages import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site as a folder of pages. A warning of MkDocs fails the build, but with --quiet it counts none."""
    program = machine.tool("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [program, "build", "--strict", "--site-dir", folder],
        cwd=machine.ROOT,
        env={**machine.ENVIRON, "NO_MKDOCS_2_WARNING": "1", "HOME": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert (done.returncode, done.stdout, said) == (0, "", [])
    return Site(folder)
