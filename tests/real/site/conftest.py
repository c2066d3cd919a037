"""The site, built once for all of its tests, as `make docs` builds it."""

import os

import pytest
from tests.real.site.site_pages import Site

import machine
from chromium import Chromium


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A warning of MkDocs fails the build, but with --quiet it counts none."""
    folder = tmp_path_factory.mktemp("site")
    program = machine.tool("mkdocs")
    done = machine.run(
        [program, "build", "--strict", "--config-file", "scripts/site/mkdocs.yml", "--site-dir", folder],
        cwd=machine.ROOT,
        env={**machine.ENVIRON, "NO_MKDOCS_2_WARNING": "1", "HOME": os.environ["HOME"]},
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert (done.returncode, done.stdout, said) == (0, "", [])
    return Site(folder)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser with a profile of its own."""
    with Chromium.started(tmp_path_factory.mktemp("chromium")) as one:
        yield one
