"""Completion scripts, run by the shells themselves where they are installed."""

import os
import shlex

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


@pytest.fixture(autouse=True)
def _files(tmp_path):
    (tmp_path / "web.yaml").touch()
    (tmp_path / "webs").mkdir()


def offered_by(program: str, *words: str, cwd) -> list[str]:
    """What a shell prints."""
    done = machine.run([program, *words], check=True, cwd=cwd, env={**os.environ, "HOME": str(cwd)})
    assert done.stderr == ""
    return sorted(line.rstrip() for line in done.stdout.splitlines() if line)


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
    (tmp_path / "archfit.bash").write_text(SHELLS["bash"](), encoding="utf-8")
    found = offered_by(
        "bash", "--norc", "-c", _BASH, "bash", "./archfit.bash", "archfit", *words, cwd=tmp_path
    )
    assert found == sorted(offered)


@pytest.mark.real
@pytest.mark.parametrize(("words", "offered"), ROWS)
def test_fish_completes(tmp_path, words, offered):
    (tmp_path / "archfit.fish").write_text(SHELLS["fish"](), encoding="utf-8")
    line = shlex.join(["archfit", *words[:-1]]) + f" {words[-1]}"
    code = "source archfit.fish; complete -C $argv[1]"
    found = offered_by(machine.tool("fish"), "--no-config", "-c", code, line, cwd=tmp_path)
    assert sorted(one.partition("\t")[0].rstrip("/") for one in found) == sorted(offered)


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
    (tmp_path / "_archfit").write_text(SHELLS["zsh"](), encoding="utf-8")
    found = offered_by(
        machine.tool("zsh"), "-f", "-c", _ZSH, "zsh", "./_archfit", "archfit", *words, cwd=tmp_path
    )
    assert found == sorted(offered)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_holds_every_command_and_flag(shell):
    text = archfit(b"", "completion", shell).ok().decode()
    assert text == SHELLS[shell]()
    for command in COMMANDS:
        assert command.name.split()[-1] in text
        for flag in flags_of(command):
            assert (flag if shell != "fish" else flag.lstrip("-")) in text
