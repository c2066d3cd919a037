"""Dependencies are few and locked; locks/lowest.lock has the lowest versions that pyproject.toml admits."""

import os
import re
import tomllib

import pytest

import machine
from machine import ROOT

_BOUND = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")
_PIN = re.compile(r"^([a-z0-9._-]+)==([0-9.]+)", re.MULTILINE)


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _name(text):
    return re.sub(r"[-_.]+", "-", text).lower()


def _parts(version):
    return tuple(map(int, re.sub(r"(\.0)+$", "", version).split(".")))


def test_every_dependency_has_a_lower_bound_and_is_locked_at_it():
    """If not: make lock."""
    project = _project()
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(text for extra in extras for text in extra)]
    bounds = {_name(name): _parts(version) for text in wanted for name, version in _BOUND.findall(text)}
    assert len(bounds) == len(wanted)
    lock = (ROOT / "locks/lowest.lock").read_text(encoding="utf-8")
    pins = {_name(name): _parts(version) for name, version in _PIN.findall(lock)}
    assert {name: pins.get(name) for name in bounds} == bounds


@pytest.mark.real
def test_the_lowest_python_is_the_one_that_is_tested(tmp_path):
    """To the patch release: what came with 3.11.4 is not there on a system that has 3.11.2."""
    wanted = _parts(_project()["requires-python"].removeprefix(">="))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"sys\.version_info >= (\(.*?\))", makefile)) == {str(wanted)}
    for name, version in (("python3.12", "3.12.10"), ("python3.11", "3.11.0"), ("python3.13", "3.13.0")):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{version} $3"\n', encoding="utf-8")
        (tmp_path / name).chmod(0o700)
    environ = {name: text for name, text in os.environ.items() if name not in {"MAKEFLAGS", "LOWEST"}}
    environ["PATH"] = f"{tmp_path}:{environ['PATH']}"
    words = ["make", "-s", "-C", ROOT, "lowest-python"]
    ran = machine.run(words, env=environ, check=True)
    assert ran.stdout == "python3.11\n"
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert steps.index('PYTHON="$(make -s lowest-python)"\nexport PYTHON\n') < steps.index("make test-all\n")


def test_every_lock_has_a_hash_for_each_package():
    for path in (
        "locks/dev.lock",
        "locks/build.lock",
        "locks/run.lock",
        "locks/lowest.lock",
        "locks/docs.lock",
        "locks/bundle.lock",
    ):
        lock = (ROOT / path).read_text(encoding="utf-8").replace("\\\n", " ")
        pinned = [line for line in lock.splitlines() if "==" in line]
        assert pinned
        assert all("--hash=sha256:" in line for line in pinned), path


def _pins(name):
    return dict(re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "locks" / name).read_text(encoding="utf-8")))


def _names(lines):
    return {_name(re.split(r"[<>=~! ;\[]", line)[0]) for line in lines}


def test_the_image_has_the_versions_that_are_tested():
    """If not: make lock."""
    run = _pins("run.lock")
    assert run.items() <= _pins("dev.lock").items()
    project = _project()
    extras = project["optional-dependencies"].values()
    assert _names([*project["dependencies"], *(text for extra in extras for text in extra)]) <= _names(run)


def test_the_lock_file_names_no_package_index():
    lock = (ROOT / "locks/dev.lock").read_text(encoding="utf-8")
    assert re.findall(r"https?://|--(?:extra-)?index-url|--find-links", lock) == []


def test_every_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["dependency-groups"]["dev"] + project["build-system"]["requires"]
    assert _names(project["project"]["dependencies"] + wanted) <= _names(_pins("dev.lock"))


def test_what_builds_the_wheel_is_what_the_tests_build_it_with():
    build = _pins("build.lock")
    assert "hatchling" in build
    assert build.items() <= _pins("dev.lock").items()
