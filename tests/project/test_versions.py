"""Every file that says archfit's version says that of pyproject.toml, and one command writes another one everywhere."""

import re
import shutil
import sys
from pathlib import Path

import pytest
import repository_address
import versions
from places import Wrong

from archfit import __version__
from machine import ROOT, run

# What may go on to say the version after another one was written.
KEEPS = {
    "scripts/release/versions.py": "examples in a docstring",
    "CHANGELOG.md": "a person writes it",
    "benchmarks/callers.py": "a chart and a plugin of its own",
    "lab/applies/operations.py": "a chart of its own",
    "transformer/archfit/integrations/helm/setup_check.py": "a chart of its own",
    "transformer/archfit/cli/installation.py": "an example in a docstring",
    "transformer/archfit/cli/last.py": "an example in a docstring",
    "transformer/archfit/reports/report.py": "an example in a docstring",
}


def saying(root: Path, version: str) -> set[str]:
    """The files that hold the version, but for fixtures and locked packages."""
    found = re.compile(rf"(?<![\w.]){re.escape(version)}(?![\w.]*\d)".encode())
    return {
        name
        for path in repository_address.files(root)
        if not (name := path.relative_to(root).as_posix()).startswith("fixtures/")
        and found.search(path.read_bytes())
    }


def test_every_file_says_the_version_of_pyproject():
    assert versions.wrong(ROOT) == []
    said = {name for name, _, _ in versions.said(ROOT)}
    assert {
        "pyproject.toml",
        "transformer/archfit/__init__.py",
        "charts/archfit/Chart.yaml",
        "helm-plugin/plugin.yaml",
        "transformer/archfit/integrations/helm/files/plugin.yaml",
        "kustomize-plugin/function.yaml",
        "scripts/release/templates/krew.yaml",
        "docs/install.md",
        "Dockerfile",
    } <= said


def test_another_version_is_written_everywhere(copy):
    before = saying(copy, __version__)
    changed = versions.write(copy, "98.7.6")
    assert saying(copy, __version__) - set(KEEPS) == set(), (
        "add the form to PLACES in scripts/release/versions.py"
    )
    assert versions.wrong(copy) == []
    assert before - set(KEEPS) <= set(changed)
    versions.write(copy, __version__)
    assert saying(copy, __version__) == before


@pytest.fixture
def small(tmp_path):
    """A repository of few files."""
    for name in ("pyproject.toml", "CHANGELOG.md", "README.md", "charts/archfit/Chart.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_file_with_another_version_is_named(small):
    chart = small / "charts" / "archfit" / "Chart.yaml"
    chart.write_text(
        chart.read_text(encoding="utf-8").replace(f"appVersion: {__version__}", "appVersion: 9.9.9")
    )
    assert versions.wrong(small) == [f"charts/archfit/Chart.yaml:6: 9.9.9, not {__version__}"]


@pytest.mark.parametrize(
    ("heading", "newest", "found"),
    [
        pytest.param("## Unreleased", "Unreleased", 0, id="between-releases"),
        pytest.param(f"## {__version__} - 2026-01-31", __version__, 0, id="a-release"),
        pytest.param(f"## [{__version__}] - 2026-01-31", __version__, 0, id="with-a-link"),
        pytest.param("## 0.0.1 - 2026-01-31", "0.0.1", 1, id="forgotten"),
    ],
)
def test_the_newest_entry_of_the_changelog(small, heading, newest, found):
    (small / "CHANGELOG.md").write_text(
        f"# Changelog\n\n{heading}\n\n## 0.0.1 - 2025-01-01\n", encoding="utf-8"
    )
    assert versions.changelog(small) == newest
    assert len(versions.wrong(small)) == found


@pytest.mark.parametrize("version", ["v1.2.3", "1.2", "1.2.3-rc1", ""])
def test_what_is_no_version_is_refused(small, version):
    with pytest.raises(Wrong, match="is not a version: write three numbers"):
        versions.write(small, version)


def test_the_program_says_the_version():
    program = ROOT / "scripts" / "release" / "versions.py"
    done = run([sys.executable, program])
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n")
