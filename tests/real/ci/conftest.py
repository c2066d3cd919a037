"""Repositories as CI systems check them out, and what lets them install archfit without the internet."""

import sys
from pathlib import Path

import pytest
from registry import Registry

import machine
from ci_checkout import checkout
from program import PROGRAM

AMD, BOTH = ["linux/amd64"], ["linux/amd64", "linux/arm64"]


@pytest.fixture(scope="session")
def offline(real):
    """The environment in which pip takes wheels from the wheelhouse alone."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(real.tool("wheelhouse")),
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_COMPILE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@pytest.fixture(scope="session")
def python():
    """The Python that has wheels in the wheelhouse."""
    return sys.executable


@pytest.fixture(scope="session")
def registry():
    """Two images run on amd64 alone, x.example/both:1 on arm64 too."""
    with Registry({"x.example/amd:1": AMD, "ghcr.io/team/app:1": AMD, "x.example/both:1": BOTH}) as served:
        yield served


@pytest.fixture(scope="session")
def lookups(registry):
    """The environment in which archfit asks that registry."""
    return {"ARCHFIT_MIRROR": " ".join(registry.mirrors()[1::2]), "ARCHFIT_NO_CACHE": "true"}


@pytest.fixture
def repository(tmp_path):
    """`repository({"rendered/web.yaml": text})` is the folder of a Git repository with these files, committed."""
    return lambda files: checkout(tmp_path / "repository", files)


@pytest.fixture(scope="session")
def job_folder(tmp_path_factory):
    """RUNNER_TEMP: all runs of the action are steps of one job, so archfit is installed once."""
    return tmp_path_factory.mktemp("runner-temp")


def path_with(folder: Path, programs: dict[str, str]) -> dict[str, str]:
    """PATH with these programs before those of the system."""
    for name, program in programs.items():
        (folder / name).symlink_to(program)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.fixture
def with_helm(real, tmp_path_factory):
    """A PATH with helm, kustomize and kubectl, as on GitHub's machines."""
    programs = (("helm", "helm3"), ("kustomize", "kustomize"), ("kubectl", "kubectl"))
    return path_with(tmp_path_factory.mktemp("bin"), {name: real.tool(program) for name, program in programs})


@pytest.fixture
def with_archfit(real, tmp_path_factory):
    """A PATH with archfit, as in an image that has it."""
    return path_with(tmp_path_factory.mktemp("bin"), {"archfit": str(PROGRAM)})


@pytest.fixture(scope="session")
def schema_of(real):
    """`schema_of("gitlab-ci", file)` is what the schema of that kind of file says against it, "" for nothing."""

    def checked(kind: str, *files: Path) -> str:
        words = [real.tool("check-jsonschema"), "--builtin-schema", f"vendor.{kind}", *files]
        done = machine.run(words)
        return done.stdout + done.stderr if done.returncode else ""

    return checked
