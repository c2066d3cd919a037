"""docs/install.md, followed literally: each block in a home of its own, in a copy of the checkout.

Programs come from .tools, packages from the index that pip uses. Blocks that need an engine, root or another repository
are `text` blocks, and are tested elsewhere: the image in test_container, krew in test_krew.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import machine
from archfit import __version__
from machine import ROOT

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
_SECTION = re.compile(r"^##? ([^\n]*)\n(.*?)(?=^##? [A-Z]|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {heading: _BLOCK.findall(text) for heading, text in _SECTION.findall(PAGE)}
# With the Python of the installed program; the smoke starts every command, as `make release-check` does.
EVERY_COMMAND = f"$(head -1 ~/.local/bin/archfit | cut -c3-) -I {ROOT}/tests/support/smoke.py"
TRIED = {
    "Install archfit",
    "Every way",
    "Extras",
    "A binary without Python",
    "Shell completion",
    "The man page",
}


@pytest.fixture
def machine_of_a_user(tmp_path):
    """Runs a script with a home, a checkout as working directory, and a PATH with pipx, uv and what they install."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "transformer", "docs", "scripts"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, checkout / name)
    home = tmp_path / "home"
    programs = tmp_path / "programs"
    for folder in (home, programs):
        folder.mkdir()
    for name in ("pipx", "uv"):
        (programs / name).symlink_to(machine.tool(name))
    (programs / "python3").symlink_to(sys._base_executable)
    given = {
        name: value for name, value in machine.ENVIRON.items() if name.startswith(("PIP_", "UV_", "SSL_"))
    }
    environ = {**given, "HOME": str(home), "LANG": "C.UTF-8", "UV_PYTHON": sys._base_executable,
               "PIPX_DEFAULT_PYTHON": sys._base_executable,
               "PATH": os.pathsep.join([str(home / ".local" / "bin"), str(programs), "/usr/bin", "/bin"])}  # fmt: skip

    def run(script, **more):
        done = machine.run(["bash", "-e", "-c", script], cwd=checkout, env={**environ, **more})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run.home = home
    run.programs = programs
    return run


def test_every_block_is_tried():
    assert {heading for heading, blocks in BLOCKS.items() if blocks} == TRIED


def test_the_first_block_installs_with_pipx(machine_of_a_user):
    (block,) = BLOCKS["Install archfit"]
    assert machine_of_a_user(block).endswith(f"archfit {__version__}\n")
    said = machine_of_a_user("archfit version; kubectl-archfit --version; ls ~/.local/bin")
    assert "installed             wheel, " in said
    assert said.endswith(f"archfit {__version__}\narchfit\nkubectl-archfit\n")
    machine_of_a_user(EVERY_COMMAND)
    (upgrade,) = re.findall(r"^(pipx install --force \.) ", PAGE, re.MULTILINE)
    assert machine_of_a_user(f"{upgrade} && archfit --version").endswith(f"archfit {__version__}\n")
    (extra,) = re.findall(r"`(pipx install --force '\.\[serve\]')`", PAGE)
    assert "extra serve           httptools" in machine_of_a_user(f"{extra} && archfit version")
    machine_of_a_user("pipx uninstall archfit && ! command -v archfit")


def test_uv_installs_it_too(machine_of_a_user):
    for line in ("uv tool install .", "uv tool install --force '.[serve]'"):
        assert f"`{line}`" in PAGE
        assert machine_of_a_user(f"{line} && archfit --version").endswith(f"archfit {__version__}\n")
        machine_of_a_user(EVERY_COMMAND)
    assert "extra serve           httptools" in machine_of_a_user("archfit version")
    machine_of_a_user("uv tool uninstall archfit && ! command -v archfit")


@pytest.mark.parametrize(
    "install",
    [
        pytest.param("pipx install .", id="pipx"),
        pytest.param("uv tool install .", id="uv-tool"),
        pytest.param(
            "python3 -m venv ~/v && ~/v/bin/pip install -q . && ln -s ~/v/bin/archfit ~/.local/bin", id="venv"
        ),
        pytest.param(
            "uv venv -q ~/v && uv pip install -q --python ~/v . && ln -s ~/v/bin/archfit ~/.local/bin",
            id="uv-venv",
        ),
    ],
)
def test_the_command_for_a_missing_package_works(machine_of_a_user, install):
    (machine_of_a_user.home / ".local" / "bin").mkdir(parents=True)
    machine_of_a_user(install)
    ask = "archfit cache info --cache redis://127.0.0.1:1/0 2>&1 || true"
    (command,) = re.findall(
        r"packages that are not installed \(redis\): (.*?)(?:;|$)", machine_of_a_user(ask), re.MULTILINE
    )
    machine_of_a_user(command)
    assert "not installed" not in machine_of_a_user(ask)


def test_a_virtual_environment_and_the_extras(machine_of_a_user):
    (block,) = BLOCKS["Every way"]
    assert f"archfit               {__version__}\n" in machine_of_a_user(block)
    (block,) = BLOCKS["Extras"]
    said = machine_of_a_user(block)
    for name in ("audit", "redis", "serve"):
        assert re.search(rf"^extra {name} +[a-z0-9-]+ \d", said, re.MULTILINE)
    assert (machine_of_a_user.home / "archfit" / "share" / "man" / "man1" / "archfit.1").exists()


def test_completion_man_page_and_files_that_remain(machine_of_a_user):
    (machine_of_a_user.programs / "archfit").symlink_to(Path(sys.executable).parent / "archfit")
    for heading in ("Shell completion", "The man page"):
        (block,) = BLOCKS[heading]
        machine_of_a_user(block)
    home = machine_of_a_user.home
    assert "_archfit" in (home / ".local/share/bash-completion/completions/archfit").read_text(
        encoding="utf-8"
    )
    assert (home / ".zsh" / "_archfit").read_text(encoding="utf-8").startswith("#compdef archfit")
    assert "complete -c archfit" in (home / ".config/fish/completions/archfit.fish").read_text(
        encoding="utf-8"
    )
    assert (home / ".local/share/man/man1/archfit.1").exists()
    pod = "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\n"
    machine_of_a_user(f"printf '{pod}' | archfit")
    undo = (ROOT / "docs" / "undo.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^rm -rf .*$", undo, re.MULTILINE)
    machine_of_a_user(line)
    left = [path for path in home.rglob("*") if path.name in {"last.json", "lookups.sqlite"}]
    assert left == []


def test_the_binary_is_where_the_page_says(binary, tmp_path):
    (block,) = BLOCKS["A binary without Python"]
    build, start = block.splitlines()
    assert build == "make bundle"
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "archfit").symlink_to(binary)
    done = machine.run(["sh", "-c", start], cwd=tmp_path, check=True)
    assert done.stdout == f"archfit {__version__}\n"
    size = sum(path.stat().st_size for path in binary.rglob("*") if path.is_file())
    (said,) = re.findall(r"It takes (\d+) MB on\s+disk", PAGE)
    assert abs(size / 1e6 - int(said)) < 8
