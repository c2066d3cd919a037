"""Completion scripts, run by the shells themselves where they are installed."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

import machine
from archfit.cli.completion import SHELLS
from archfit.cli.usage.command_row import flags_of
from archfit.cli.usage.command_table import COMMANDS
from program import archfit

# The words of the command line; the last one is being typed.
_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_archfit
printf '%s\\n' "${COMPREPLY[@]}"
"""


ROWS = [
    pytest.param(["check", "web"], ["web.yaml", "webs"], id="files"),
    pytest.param(["check", "--repor"], ["--report"], id="a-flag"),
    pytest.param(["check", "--report", "web"], ["web.yaml", "webs"], id="a-file-of-an-option"),
    pytest.param(["check", "--hosts-dir", "web"], ["webs"], id="a-folder-of-an-option"),
    pytest.param(["check", "--timeout", "web"], [], id="no-file-for-a-duration"),
    pytest.param(["--config", "web"], ["web.yaml", "webs"], id="the-configuration-file"),
    pytest.param(["setup", "kpt", "--into", "web"], ["webs"], id="a-folder-of-a-tool"),
    pytest.param(["inspect", "web"], [], id="no-files-where-images-stand"),
    pytest.param(["last", "web"], [], id="no-files-where-nothing-stands"),
    pytest.param(["check", "--help-"], ["--help-all"], id="help-all"),
    pytest.param(["setup", "helm", "--qui"], ["--quiet"], id="quiet-of-a-tool"),
    pytest.param(["check", "--color", "a"], ["auto", "always"], id="colours"),
    pytest.param(["setup", "helm", "--color", "n"], ["never"], id="colours-of-a-tool"),
    pytest.param(["help", "ins"], ["inspect", "install.md"], id="help-of-a-command"),
    pytest.param(["setup", "ku"], ["kustomize"], id="a-tool"),
    pytest.param(["cache", "p"], ["path", "prune"], id="an-action"),
    pytest.param(["audi"], ["audit"], id="a-command"),
]


def completed(tmp_path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    file = tmp_path / "archfit.bash"
    file.write_text(SHELLS["bash"](), encoding="utf-8")
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
        pytest.param(["web"], ["web.yaml", "webs"], id="files-without-a-command"),
        pytest.param(["--diff", "we"], ["web.yaml", "webs"], id="files-behind-a-flag"),
        pytest.param(["web.yaml", "--in-p"], ["--in-place"], id="flags-behind-a-file"),
        *ROWS,
    ],
)
def test_bash_completes(tmp_path, words, offered):
    (tmp_path / "web.yaml").touch()
    (tmp_path / "webs").mkdir()
    assert sorted(completed(tmp_path, *words)) == sorted(offered)


@pytest.mark.real
@pytest.mark.parametrize(("words", "offered"), ROWS)
def test_fish_completes(tmp_path, words, offered):
    (tmp_path / "web.yaml").touch()
    (tmp_path / "webs").mkdir()
    (tmp_path / "archfit.fish").write_text(SHELLS["fish"](), encoding="utf-8")
    done = subprocess.run(
        [
            machine.tool("fish"),
            "--no-config",
            "-c",
            "source archfit.fish; complete -C $argv[1]",
            shlex.join(["archfit", *words[:-1]]) + f" {words[-1]}",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.stderr == ""
    found = [line.partition("\t")[0].rstrip("/") for line in done.stdout.splitlines()]
    assert sorted(found) == sorted(offered)


# Zsh completes in a terminal only: its two words that add matches print them here.
_ZSH = """
compdef() { :; }
compadd() { shift; for one; do [[ $one == "$words[CURRENT]"* ]] && print -r -- "$one"; done; return 0 }
_files() { [[ $1 == -/ ]] && print -l -- $words[CURRENT]*(N/) || print -l -- $words[CURRENT]*(N) }
compset() { words[CURRENT]=${words[CURRENT]#*=} }
source $1; shift
words=("$@"); CURRENT=$#
_archfit
"""


@pytest.mark.real
@pytest.mark.parametrize(("words", "offered"), ROWS)
def test_zsh_completes(tmp_path, words, offered):
    (tmp_path / "web.yaml").touch()
    (tmp_path / "webs").mkdir()
    (tmp_path / "_archfit").write_text(SHELLS["zsh"](), encoding="utf-8")
    done = subprocess.run(
        [machine.tool("zsh"), "-f", "-c", _ZSH, "zsh", "./_archfit", "archfit", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stderr == ""
    assert sorted(done.stdout.split()) == sorted(offered)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_holds_every_command_and_flag(shell):
    text = archfit(b"", "completion", shell).ok().decode()
    assert text == SHELLS[shell]()
    for command in COMMANDS:
        assert command.name.split()[-1] in text
        for flag in flags_of(command):
            assert (flag if shell != "fish" else flag.lstrip("-")) in text


@pytest.mark.real
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_takes_the_script(shell, tmp_path):
    program = machine.tool(shell)
    file = tmp_path / "script"
    file.write_text(SHELLS[shell](), encoding="utf-8")
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
    assert ran.stderr == f"archfit: error: {message}\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell):
    assert archfit(b"", "completion", shell).ok().decode() == SHELLS[shell]()
