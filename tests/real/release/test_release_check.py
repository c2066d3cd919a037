"""`make release-check`: everything that a release publishes is built, complete, and in the table."""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import binary_archive
import pytest
from places import architecture, unpack

import machine
from archfit import __version__
from machine import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BINARY = f"binary/archfit-{__version__}-linux-{architecture()}.tar.gz"
ARTIFACTS = {
    f"python/archfit-{__version__}.tar.gz",
    f"python/archfit-{__version__}-py3-none-any.whl",
    f"sbom/archfit-{__version__}.cdx.json",
    f"chart/archfit-{__version__}.tgz",
    f"plugin/archfit-{__version__}.tgz",
    f"plugin/archfit-{__version__}.tgz.prov",
    "krew/archfit.yaml",
    BINARY,
}


@pytest.fixture
def wheel(released):
    with zipfile.ZipFile(released.dist / f"python/archfit-{__version__}-py3-none-any.whl") as opened:
        yield opened


def test_every_step_passes(released):
    assert released.status == 0, released.said
    assert "FAILED" not in released.said


def test_the_table_has_every_artifact_with_size_and_checksum(released):
    rows = re.findall(r"^(\S+/\S+) +([\d,]+)  ([0-9a-f]{64})$", released.said, re.MULTILINE)
    assert {name for name, _, _ in rows} >= ARTIFACTS
    for name, size, _ in rows:
        assert (released.dist / name).stat().st_size == int(size.replace(",", ""))
    done = machine.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=released.dist)
    assert (done.returncode, done.stdout.count(": OK\n")) == (0, len(rows)), done.stderr


def test_the_wheel_has_the_package_and_what_belongs_to_it(wheel):
    names = wheel.namelist()
    package = {name for name in names if name.startswith("archfit/")}
    info, data = f"archfit-{__version__}.dist-info", f"archfit-{__version__}.data/data/share"
    assert set(names) - package == {
        f"{data}/man/man1/archfit.1",
        *(
            f"{info}/{name}"
            for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
        ),
    }
    assert "archfit/py.typed" in package
    pages = {name for name in package if name.startswith("archfit/pages/")}
    assert {"archfit/pages/registries.md", "archfit/pages/troubleshooting.md"} <= pages
    assert all(name.endswith(".md") for name in pages)
    assert "archfit/pages/proof.md" not in pages
    assert not any(name.endswith(".pyc") for name in package)


def test_the_metadata_has_the_address(wheel):
    said = email.message_from_bytes(wheel.read(f"archfit-{__version__}.dist-info/METADATA"))
    urls = dict(line.split(", ", 1) for line in said.get_all("Project-URL") or [])
    assert urls == PROJECT["urls"]
    assert (said["Version"], said["License-Expression"]) == (__version__, "Apache-2.0")
    assert set(said.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])


def test_the_tests_run_from_the_source_archive(released, tmp_path):
    archive = released.dist / f"python/archfit-{__version__}.tar.gz"
    source = unpack(archive, tmp_path) / f"archfit-{__version__}"
    done = machine.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not real",
         "tests/project/test_versions.py", "tests/cli/test_help.py", "tests/yaml/test_split.py"],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source / "transformer")}
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_archive_of_the_binary_has_one_folder_and_no_links(released):
    with tarfile.open(released.dist / BINARY) as archive:
        members = archive.getmembers()
    assert {member.name.partition("/")[0] for member in members} == {"archfit"}
    assert [member.name for member in members if not (member.isfile() or member.isdir())] == []
    assert {(member.uid, member.gid, member.mtime) for member in members} == {
        (0, 0, int(binary_archive.EPOCH))
    }
    started = {
        member.name
        for member in members
        if member.isfile() and member.name.count("/") == 1 and member.mode & 0o100
    }
    assert started == {"archfit/archfit", "archfit/kubectl-archfit"}
    assert {"archfit/LICENSE", "archfit/archfit.1", "archfit/completions/_archfit"} <= {
        m.name for m in members
    }


def test_the_binary_has_the_libraries_it_needs_and_no_tools_of_development(binary):
    held = {path.name.partition(".")[0] for path in (binary / "_internal").iterdir()}
    assert {"archfit", "h11", "yaml", "ruamel", "jinja2", "redis", "uvicorn", "uvloop", "httptools"} <= held
    assert (
        held & {"_pytest", "pytest", "mypy", "hypothesis", "pip", "setuptools", "ruff", "rich", "tkinter"}
        == set()
    )


def test_the_binary_says_on_which_glibc_it_runs(released, binary):
    major, minor = binary_archive.needed_glibc(binary)
    assert f"needs glibc {major}.{minor} or later" in released.said
    here = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
    assert (2, 17) <= (major, minor) <= here


def test_the_binary_knows_what_it_is(binary):
    done = machine.run([binary / "archfit", "version"], check=True)
    assert f"installed             bundle, {binary / '_internal' / 'archfit'}\n" in done.stdout
    assert "YAML parser           C (libyaml)\n" in done.stdout
    assert "is missing" not in done.stdout
    assert "not installed" not in done.stdout


def test_the_completions_are_those_of_the_program(binary):
    for shell, name in binary_archive.SHELLS.items():
        done = subprocess.run([binary / "archfit", "completion", shell], capture_output=True, check=True)
        assert (binary / "completions" / name).read_bytes() == done.stdout


def test_packing_again_gives_the_same_bytes(binary, tmp_path):
    for name in ("a", "b"):
        binary_archive.pack(binary / "completions", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
