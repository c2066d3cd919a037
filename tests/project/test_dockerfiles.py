"""The Dockerfiles: what they may copy, what they say of the project, and what hadolint says of them."""

import re
import shutil
import sys
import tomllib
import zipfile

import pytest

import machine
from container_image import labels
from machine import ROOT

FILES = [ROOT / "Dockerfile", *sorted((ROOT / "transformer").rglob("Dockerfile"))]
ALLOWED = [
    line.removeprefix("!")
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line.startswith("!")
]


def instructions(text: str) -> str:
    """The text without comments."""
    return re.sub(r"(?m)^#.*\n", "", text)


def test_the_context_holds_files_that_exist():
    assert [name for name in ALLOWED if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_copied_is_in_the_context(path):
    copied = re.findall(r"^COPY (?!--from)(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    sources = [source for line in copied for source in line.split()[:-1]]
    assert [source for source in sources if source not in ALLOWED] == []


@pytest.mark.parametrize("path", FILES[1:], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_copied_builds_the_wheel(path, tmp_path):
    for line in re.findall(r"^COPY (?!--from)(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        for source in line.split()[:-1]:
            if (ROOT / source).is_dir():
                shutil.copytree(
                    ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(ROOT / source, tmp_path / source)
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    done = machine.run(words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith("share/man/man1/archfit.1")]


def test_the_labels_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {
        name.rpartition(".")[2]: value
        for name, value in labels(ROOT / "Dockerfile").items()
        if name.startswith("org.opencontainers.image.")
    } == {
        "title": project["name"],
        "description": "Places pods by the CPU architectures their images support",
        "source": project["urls"]["Source"],
        "documentation": project["urls"]["Documentation"],
        "licenses": project["license"],
    }
    assert project["description"].startswith(
        labels(ROOT / "Dockerfile")["org.opencontainers.image.description"]
    )


def test_no_step_is_for_one_architecture():
    text = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert re.findall(r"amd64|arm64|x86_64|aarch64|TARGETARCH|--platform", text) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_bases_have_a_tag_and_the_user_is_a_number(path):
    text = instructions(path.read_text(encoding="utf-8"))
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert bases
    assert [base for base in bases if not re.search(r":[a-z]*[0-9]", base)] == []
    assert re.findall(r"^USER (\S+)$", text, re.MULTILINE)[-1].partition(":")[0].isdigit()


@pytest.mark.real
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_hadolint_has_nothing_to_say(path):
    # DL3008: Debian removes old versions of packages, so a pinned one cannot be installed later.
    done = machine.run([machine.tool("hadolint"), "--ignore", "DL3008", "--no-color", path])
    assert (done.returncode, done.stdout) == (0, "")
