"""What Homebrew, Nix, mise and asdf get from a release: scripts/release/package_managers.py."""

import hashlib
import io
import os
import platform
import re
import tarfile
import tomllib
from pathlib import Path

import package_managers
import package_sources
import pytest
from places import Wrong
from repository_address import address

from archfit import __version__
from machine import ROOT, run

SOURCES = package_sources.sources((ROOT / "locks/sources.lock").read_text(encoding="utf-8"))
PLATFORM = {"x86_64": "amd64", "aarch64": "arm64"}


@pytest.fixture
def dist(tmp_path):
    """With a source archive."""
    archive = tmp_path / "python" / f"archfit-{__version__}.tar.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"source")
    package_managers.write(tmp_path)
    return tmp_path


def test_the_sources_are_those_that_archfit_needs_with_two_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["audit"], *extras["redis"]]
    needed = {re.split(r"[<>=]", line)[0].lower().replace(".", "-") for line in lines}
    assert needed <= {one.name for one in SOURCES}
    for one in SOURCES:
        file = one.url.rpartition("/")[2]
        assert file == f"{file.partition('-')[0]}-{one.version}.tar.gz"
        assert one.url.startswith("https://files.pythonhosted.org/packages/")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"version": "0.0.1"}, id="another-version"),
        pytest.param({"sha256": "0" * 64}, id="another-checksum"),
        pytest.param({"name": "colorama"}, id="not-in-the-lock"),
    ],
)
def test_a_source_that_the_lock_lacks_is_refused(change):
    lock = (ROOT / "locks/run.lock").read_text(encoding="utf-8")
    package_managers.checked(tuple(SOURCES), lock)
    with pytest.raises(Wrong, match=r"make lock"):
        package_managers.checked((SOURCES[0]._replace(**change),), lock)


def test_a_lock_that_is_no_table_is_refused():
    with pytest.raises(Wrong, match=r"make lock"):
        package_sources.sources("h11 0.16.0\n")


def test_the_formula_has_the_archive_and_each_resource(dist):
    text = (dist / "homebrew" / "archfit.rb").read_text(encoding="utf-8")
    assert hashlib.sha256(b"source").hexdigest() in text
    assert f"{address()}/releases/download/v{__version__}/archfit-{__version__}.tar.gz" in text
    found = re.findall(r'  resource "(\S+)" do\n    url "(\S+)"\n    sha256 "(\S+)"\n  end\n', text)
    assert [(one.name, one.url, one.sha256) for one in SOURCES] == found


def test_the_flake_names_each_library(dist):
    text = (dist / "nix" / "flake.nix").read_text(encoding="utf-8")
    (named,) = re.findall(r"dependencies = with python; \[ (.*) \];", text)
    assert named.split() == [
        "pyyaml",
        "h11",
        "certifi",
        "ruamel-yaml",
        "jsonpatch",
        "jinja2",
        "redis",
    ]
    assert (text.count("{"), text.count("[")) == (text.count("}"), text.count("]"))
    assert f'version = "{__version__}"' in text


def test_the_entry_for_mise_is_toml(dist):
    entry = tomllib.loads((dist / "mise" / "archfit.toml").read_text(encoding="utf-8"))
    assert entry["backends"] == ["pipx:archfit", f"github:{'/'.join(address().split('/')[-2:])}"]
    assert entry["test"]["expected"] == "archfit {{version}}"


def _binary(folder: Path) -> str:
    """The binary's archive and the checksums, as a release has them; its name."""
    name = f"archfit-{__version__}-linux-{PLATFORM[platform.machine()]}.tar.gz"
    content = b"#!/bin/sh\necho archfit\n"
    with tarfile.open(folder / name, "w:gz") as archive:
        member = tarfile.TarInfo("archfit/archfit")
        member.size, member.mode = len(content), 0o755
        archive.addfile(member, io.BytesIO(content))
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  {name}\n", encoding="utf-8")
    return name


@pytest.mark.parametrize("spoilt", [pytest.param(False, id="as-released"), pytest.param(True, id="tampered")])
def test_asdf_installs_the_binary_that_the_checksums_name(dist, spoilt):
    released, programs, got, installed = (
        dist / name for name in ("released", "programs", "got", "installed")
    )
    for folder in (released, programs, got):
        folder.mkdir()
    name = _binary(released)
    if spoilt:
        (released / name).write_bytes(b"another")
    curl = programs / "curl"
    curl.write_text(f'#!/bin/sh\nfor word; do :; done\ncp "{released}/${{word##*/}}" .\n', encoding="utf-8")
    curl.chmod(0o755)
    environ = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "ASDF_INSTALL_VERSION": __version__,
        "ASDF_DOWNLOAD_PATH": str(got),
        "ASDF_INSTALL_PATH": str(installed),
    }
    done = [
        run([dist / "asdf" / step], env=environ)
        for step in (("download",) if spoilt else ("download", "install"))
    ]
    assert [one.returncode != 0 for one in done] == ([True] if spoilt else [False, False])
    if not spoilt:
        said = run([installed / "bin" / "archfit"], check=True)
        assert said.stdout == "archfit\n"
