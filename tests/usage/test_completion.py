"""Completion scripts, run by the shells themselves where they are installed."""

from __future__ import annotations

import subprocess

import pytest

import machine
from archfit.usage.command_table import COMMANDS
from archfit.usage.completion import SHELLS, flags_of, script
from program import archfit

# The words of the command line; the last one is being typed.
_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_archfit
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(tmp_path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    file = tmp_path / "archfit.bash"
    file.write_text(script("bash"), encoding="utf-8")
    done = subprocess.run(
        ["bash", "--norc", "-c", _BASH, "bash", str(file), "archfit", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.real
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(["c"], ["check", "cache", "completion"], id="commands"),
        pytest.param(["setup", "k"], ["kustomize", "kpt"], id="tools"),
        pytest.param(["cache", ""], ["path", "info", "prune", "clear"], id="words"),
        pytest.param(["check", "--require"], ["--require"], id="own-flags"),
        pytest.param(["check", "--on-u"], ["--on-unknown"], id="options"),
        pytest.param(["--on-u"], ["--on-unknown"], id="options-without-a-command"),
        pytest.param(["check", "--format", "s"], ["sarif"], id="values"),
        pytest.param(["check", "--format", "=", "s"], ["sarif"], id="values-behind-an-equals-sign"),
        pytest.param(["--on-absent", ""], ["fail", "leave"], id="values-of-an-option"),
        pytest.param(["setup", "cluster", "--arch"], ["--arch-taint"], id="flags-of-a-tool"),
        pytest.param(["inspect", "--on-u"], [], id="no-option-of-other-commands"),
        pytest.param(["check", "web"], ["web.yaml"], id="files"),
        pytest.param(["web"], ["web.yaml"], id="files-without-a-command"),
        pytest.param(["--diff", "we"], ["web.yaml"], id="files-behind-a-flag"),
        pytest.param(["web.yaml", "--in-p"], ["--in-place"], id="flags-behind-a-file"),
    ],
)
def test_bash_completes(tmp_path, words, offered):
    (tmp_path / "web.yaml").touch()
    assert completed(tmp_path, *words) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_holds_every_command_and_flag(shell):
    text = archfit(b"", "completion", shell).ok().decode()
    assert text == script(shell)
    for command in COMMANDS:
        assert command.name.split()[-1] in text
        for flag in flags_of(command):
            assert (flag if shell != "fish" else flag.lstrip("-")) in text


@pytest.mark.real
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_takes_the_script(shell, tmp_path):
    program = machine.tool(shell)
    file = tmp_path / "script"
    file.write_text(script(shell), encoding="utf-8")
    subprocess.run([program, "-n", str(file)], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param((), "name one shell: archfit completion bash, zsh or fish", id="none"),
        pytest.param(("bash", "zsh"), "name one shell: archfit completion bash, zsh or fish", id="two"),
        pytest.param(
            ("csh",), "archfit completion: 'csh' is not one of bash, zsh, fish: write 'zsh'", id="another"
        ),
    ],
)
def test_another_shell_is_wrong_usage(words, message):
    ran = archfit(b"", "completion", *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert ran.stderr == f"error: {message}\n"
