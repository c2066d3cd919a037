"""`archfit completion bash|zsh|fish`: the words of each command, as one `case` over the command.

The scripts hold all words and never start archfit, so that completion does not wait for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO

from archfit.base.errors import UsageError
from archfit.base.spelling import refused
from archfit.cli.manual import topics
from archfit.cli.usage.command_row import MESSAGES, Command, flags_of
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN, first_words, words_below
from archfit.cli.usage.help import first_sentence
from archfit.images.platforms import ARCHITECTURES
from archfit.options.table import CONFIG_FLAG
from archfit.workloads.builtin import WORKLOADS


def show_completion(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    words = BY_NAME["completion"].parser().parse(argv)[1]
    if words and words[0] not in SHELLS:
        raise UsageError(f"archfit completion: {refused(words[0], SHELLS)}")
    if len(words) != 1:
        raise UsageError("name one shell: archfit completion bash, zsh or fish")
    stdout.write(SHELLS[words[0]]().encode())
    return 0


_FILE = re.compile(r"\b(FILE|PATH|REPORT)\b").search


def places(command: Command) -> dict[str, str]:
    """What each flag that takes a value is completed with: "files", "folders" or ""."""
    kinds = {name: _place(metavar) for names, metavar, _ in _flags(command) if metavar for name in names}
    return kinds | ({CONFIG_FLAG: "files"} if command.options else {})


def _flags(command: Command) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The names of each flag, what stands for the value that follows it, "" where none does, and what it does."""
    for flag in command.flags:
        yield flag.names, flag.metavar if flag.takes_next else "", flag.brief or flag.help
    for option in command.options or MESSAGES:
        names = tuple(filter(None, (*option.flags, option.short)))
        yield names, option.metavar, option.brief or option.help


_KINDS = tuple(dict.fromkeys(kind for _, kind in WORKLOADS))
_BY_METAVAR = (
    ("ARCH", ARCHITECTURES),
    ("[OS/]ARCH", ARCHITECTURES),
    ("PLATFORM", ARCHITECTURES),
    ("KIND", _KINDS),
)


def values_of(command: Command) -> dict[str, tuple[str, ...] | None]:
    """As `flags_of`, with words for values that are none of a few: architectures, platforms, kinds."""
    values = flags_of(command)
    for names, metavar, _ in _flags(command):
        words = next((words for head, words in _BY_METAVAR if metavar.startswith(head)), ())
        values |= {name: words for name in names if words and values[name] == ()}
    return values


def described(command: Command) -> dict[str, str]:
    """A few words about each flag of a command."""
    return {name: first_sentence(text) for names, _, text in _flags(command) for name in names}


def _abouts() -> str:
    """What zsh shows beside each flag; the first command that has it says what it does."""
    about: dict[str, str] = {}
    for command in (MAIN, *COMMANDS):
        about = described(command) | about
    return "\n".join(f"        {name} {shlex.quote(text)}" for name, text in sorted(about.items()))


def _place(metavar: str) -> str:
    if _FILE(metavar):
        return "files"
    return "folders" if "DIR" in metavar or "FOLDER" in metavar else ""


def takes_files(command: Command) -> bool:
    """Whether its arguments may be files."""
    return any(_FILE(name) for name, _ in command.arguments)


def second_words(command: Command) -> list[str]:
    """What may stand right after the command: the commands of a group, or its words."""
    if command.name == "help":
        return [*first_words(), *(f"{name}.md" for name in topics())]
    return words_below(command) or list(command.words)


def _bash() -> str:
    return f"""\
# archfit: completion for bash, written by `archfit completion bash`.
_archfit() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} flags='' values='' files=-f
    local both=''
    # --flag=value stands there as three words
    if [[ $current == = ]]; then
        current=''
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
{_tables()}
    COMPREPLY=()
    if [[ $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
        if [[ $both ]]; then
            COMPREPLY+=($(compgen -f -- "$current"))
        fi
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$current"))
    elif [[ $files ]]; then
        COMPREPLY=($(compgen $files -- "$current"))
    fi
}}
complete -o filenames -F _archfit archfit
"""


def _zsh() -> str:
    return f"""\
#compdef archfit
# archfit: completion for zsh, written by `archfit completion zsh`.
_archfit() {{
    local current=$words[CURRENT] previous=$words[CURRENT-1] flags='' values='' files=-f both='' flag
    local -A about=(
{_abouts()}
    )
    local -a COMP_WORDS=("${{(@)words}}")
    local COMP_CWORD=$((CURRENT - 1))
    setopt local_options ksh_arrays
    if [[ $current == --*=* ]]; then
        previous=${{current%%=*}}
        compset -P '*='
    fi
{_tables()}
    unsetopt ksh_arrays
    if [[ -n $values ]]; then
        compadd -- ${{=values}}
        if [[ -n $both ]]; then
            _files
        fi
    elif [[ $current == -* ]]; then
        local -a shown=()
        for flag in ${{=flags}}; do
            shown+=("$flag${{about[$flag]:+  -- }}${{about[$flag]}}")
        done
        compadd -l -d shown -- ${{=flags}}
    elif [[ $files == -d ]]; then
        _files -/
    elif [[ -n $files ]]; then
        _files
    fi
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _archfit "$@"
else
    compdef _archfit archfit
fi
"""


def _tables() -> str:
    """The words for a command line, in the language that bash and zsh share. Sets flags, values, files and both."""
    longest_first = sorted(COMMANDS, key=lambda command: -command.name.count(" "))
    lines = [
        '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
        *(f"    {line}" for command in longest_first for line in _branch(command)),
        f"    *) flags={_quoted(flags_of(MAIN))}",
        *(f"        {line}" for line in _values(MAIN)),
        "        ;;",
        "    esac",
        "    if [[ $COMP_CWORD == 1 && $current != -* ]]; then",
        f"        values={_quoted(first_words())} both=yes",
        "    fi",
    ]
    return "\n".join(lines)


def _branch(command: Command) -> Iterator[str]:
    pattern = f"'{command.name}'" if " " in command.name else f"'{command.name} '*"
    yield f"{pattern}) flags={_quoted(flags_of(command))}"
    words = second_words(command)
    if words:
        yield f"    [[ $COMP_CWORD == 2 && $current != -* ]] && values={_quoted(words)}"
    if not takes_files(command):
        yield "    files=''"
    yield from (f"    {line}" for line in _values(command))
    yield "    ;;"


def _values(command: Command) -> Iterator[str]:
    known = {name: values for name, values in values_of(command).items() if values}
    by_place: dict[str, list[str]] = {}
    for name, place in places(command).items():
        if name not in known:
            by_place.setdefault(place, []).append(name)
    if known or by_place:
        yield "case $previous in"
        yield from (f"{name}) values={_quoted(values)} ;;" for name, values in known.items())
        yield from (f"{'|'.join(names)}) files={_COMPGEN[place]} ;;" for place, names in by_place.items())
        yield "esac"


def _quoted(words: Mapping[str, object] | list[str] | tuple[str, ...]) -> str:
    return shlex.quote(" ".join(words))


def _fish() -> str:
    lines = [
        "# archfit: completion for fish, written by `archfit completion fish`.",
        "function __archfit_is",
        "    set -l words (commandline -opc)",
        "    set -e words[1]",
        '    string match -q -- "$argv[1] *" "$words "',
        "end",
        "function __archfit_words",
        "    count (commandline -opc)",
        "end",
    ]
    top = "test (__archfit_words) = 1"
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        condition = f"__archfit_is {first}; and test (__archfit_words) = 2" if second else top
        lines.append(_fish_line(condition, f"{'-f ' if second else ''}-a {second or first}", command.summary))
        where = f"__archfit_is {shlex.quote(command.name)}"
        next_word = f"{where}; and test (__archfit_words) = 2"
        lines += [_fish_line(next_word, f"-f -a {word}") for word in command.words]
        if second_words(command) and not command.words and command.run:
            names = " ".join(second_words(command))
            lines.append(_fish_line(next_word, f"-f -a {shlex.quote(names)}"))
        if command.run and not takes_files(command):
            lines.append(_fish_line(where, "-f"))
        lines += _fish_flags(command, where)
    names = " ".join(first_words())
    bare = f"not contains -- (commandline -opc)[2] {names}"
    lines += _fish_flags(MAIN, bare)
    return "\n".join([*lines, ""])


def _fish_flags(command: Command, condition: str) -> Iterator[str]:
    kinds = places(command)
    about = described(command)
    for name, values in values_of(command).items():
        flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        if values:
            flag += f" -x -a {shlex.quote(' '.join(values))}"
        elif values is not None:
            flag += _FISH[kinds.get(name, "")]
        yield _fish_line(condition, flag, about.get(name, ""))


def _fish_line(condition: str, what: str, text: str = "") -> str:
    described = f" -d {shlex.quote(text)}" if text else ""
    return f"complete -c archfit -n {shlex.quote(condition)} {what}{described}"


_FISH = {"files": " -r -F", "folders": " -x -a '(__fish_complete_directories)'", "": " -x"}
_COMPGEN = {"files": "-f", "folders": "-d", "": "''"}
SHELLS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
