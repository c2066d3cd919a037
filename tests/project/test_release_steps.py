"""The steps of `make release-check` find what is wrong; that they pass is in tests/real/release."""

import io
import sys
import tarfile
import zipfile

import assets
import binary_archive
import krew_manifest
import pytest
import python_archives
from places import Release, Wrong

from archfit import __version__
from machine import ROOT, run

TEMPLATE = krew_manifest.TEMPLATE.read_text(encoding="utf-8")


def wheel_names():
    package = [path.relative_to(ROOT / "transformer").as_posix() for path in python_archives._package_files()]
    package += [*python_archives._pages(), *python_archives._chart()]
    return package + [name.format(version=__version__) for name in python_archives._WANTED if "{" in name]


@pytest.fixture
def dist(tmp_path, monkeypatch):
    """Makes a Release whose wheel holds empty files of some names, and whose source archive holds what git knows."""
    monkeypatch.setattr(python_archives, "tracked", lambda: {"README.md"})

    def made(names):
        folder = tmp_path / "python"
        folder.mkdir()
        with zipfile.ZipFile(folder / f"archfit-{__version__}-py3-none-any.whl", "w") as wheel:
            for name in names:
                wheel.writestr(name, "")
        with tarfile.open(folder / f"archfit-{__version__}.tar.gz", "w:gz") as archive:
            archive.addfile(tarfile.TarInfo(f"archfit-{__version__}/README.md"), io.BytesIO())
        return Release(tmp_path, tmp_path, sys.executable)

    return made


def test_a_complete_wheel_is_fine(dist):
    assert python_archives.content(dist(wheel_names())).startswith(
        f"{len(set(wheel_names()))} files in the wheel"
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("archfit/py.typed", id="marker-of-types"),
        pytest.param("archfit/cli/main.py", id="module"),
        pytest.param("archfit/audit/report/page.css", id="style"),
        pytest.param("archfit/pages/registries.md", id="page"),
        pytest.param("archfit/chart/values.yaml", id="chart"),
        pytest.param(f"archfit-{__version__}.data/data/share/man/man1/archfit.1", id="man-page"),
        pytest.param("archfit/cli/schemas/lock.schema.json", id="schema"),
        pytest.param(f"archfit-{__version__}.dist-info/licenses/LICENSE", id="licence"),
    ],
)
def test_what_the_wheel_lacks_is_named(dist, name):
    with pytest.raises(Wrong, match=rf"the wheel lacks \['{name}'\]"):
        python_archives.content(dist([one for one in wheel_names() if one != name]))


@pytest.mark.parametrize(
    "name",
    [
        "tests/test_a.py",
        "archfit/__pycache__/cli.cpython-311.pyc",
        "archfit/notes.txt",
        "archfit/pages/proof.md",
        "conftest.py",
        ".env",
    ],
)
def test_what_the_wheel_should_not_have_is_named(dist, name):
    with pytest.raises(Wrong, match=rf"should not have \['{name}'\]"):
        python_archives.content(dist([*wheel_names(), name]))


def test_what_the_source_archive_lacks_is_named(dist, monkeypatch):
    release = dist(wheel_names())
    monkeypatch.setattr(python_archives, "tracked", lambda: {"README.md", "Makefile"})
    with pytest.raises(Wrong, match=r"the source archive lacks \['Makefile'\] and has \[\]"):
        python_archives.content(release)


def test_the_manifest_of_krew_keeps_the_platforms_that_have_an_archive(tmp_path):
    archive = tmp_path / f"archfit-{__version__}-linux-arm64.tar.gz"
    archive.write_bytes(b"x")
    made = krew_manifest.text(TEMPLATE, __version__, [archive])
    assert "arch: arm64" in made
    assert "arch: amd64" not in made
    assert "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" in made
    assert not made.startswith("#")


@pytest.mark.parametrize(
    ("version", "name", "message"),
    [
        pytest.param(__version__, "", "no platform for any archive", id="no-archive"),
        pytest.param(__version__, f"archfit-{__version__}-linux-riscv64.tar.gz", "no platform for", id="new-platform"),
        pytest.param("9.9.9", f"archfit-{__version__}-linux-amd64.tar.gz", "python scripts/release/versions.py 9.9.9", id="version"),
    ],
)  # fmt: skip
def test_a_manifest_that_does_not_fit_is_refused(tmp_path, version, name, message):
    archives = [tmp_path / name] if name else []
    for path in archives:
        path.write_bytes(b"x")
    with pytest.raises(Wrong, match=message):
        krew_manifest.text(TEMPLATE, version, archives)


@pytest.mark.parametrize(
    ("changelog", "expected"),
    [
        pytest.param(
            "# C\n\n## 0.2.0 - D\n\n### Added\n\n- b\n\n## 0.1.0 - D\n\n- a\n", "### Added\n\n- b\n", id="two"
        ),
        pytest.param("# C\n\n## 0.1.0 - D\n\n- a\n", "- a\n", id="one"),
    ],
)
def test_the_notes_are_the_newest_entry(changelog, expected):
    assert assets.notes(changelog) == expected


def test_a_release_without_one_of_the_binaries_is_refused(tmp_path):
    for name in ("python/a", "python/b", "binary/a", "sbom/a", "krew/a"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(Wrong, match="dist/binary has 1 files, not 2"):
        assets.gather(tmp_path, tmp_path / "assets")


def test_the_key_of_the_plugin_is_a_file_of_the_release_and_the_plugin_is_not(tmp_path):
    for name in ("python/a", "python/b", "binary/c", "binary/d", "sbom/e", "krew/f", "plugin/a.tgz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "plugin" / "archfit-plugin.gpg").write_bytes(b"key")
    names = {path.name for path in assets.gather(tmp_path, tmp_path / "assets")}
    assert names == {"a", "b", "c", "d", "e", "krew.yaml", "archfit-plugin.gpg"}
    assert "archfit-plugin.gpg\n" in (tmp_path / "assets" / "SHA256SUMS").read_text(encoding="utf-8")


def test_the_newest_symbol_decides_the_c_library(tmp_path):
    (tmp_path / "a.so").write_bytes(b"\x7fELF GLIBC_2.17\0GLIBC_2.34\0GLIBC_2.4")
    (tmp_path / "b.txt").write_bytes(b"GLIBC_2.99")
    assert binary_archive.needed_glibc(tmp_path) == (2, 34)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(("--tag", "v9.9.9", "versions"), "the tag v9.9.9 is not v", id="another-tag"),
        pytest.param(("nothing",), "there is no step nothing", id="unknown-step"),
    ],
)
def test_the_program_fails_with_the_reason(tmp_path, words, says):
    done = run([sys.executable, ROOT / "scripts" / "release", "--dist", tmp_path, *words])
    assert done.returncode != 0
    assert says in done.stdout + done.stderr
