"""Help, of archfit, of a group of commands, and of one command.

Whole, 100 columns: what `--help-all` shows. To fit a screen, 80 columns: what `--help`, `archfit help` and a bare
`archfit` on a terminal show; of what does not fit, `about` keeps its examples, options and `rare` flags their names.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from archfit.base.documentation import place
from archfit.cli.usage.command_row import MESSAGES, Command, Flag
from archfit.cli.usage.command_table import COMMANDS, MAIN, by_group, members
from archfit.options.option_types import SWITCH
from archfit.options.table import CONFIG_BRIEF, CONFIG_FLAG, CONFIG_HELP, Option, default_text

WIDTH = 100
_INDENT = 30
EXAMPLE = "  "
_PARTS = (("placement:", "spec"), ("registries, cache and report:", "operator"))


def help_text(command: Command) -> str:
    """What `--help-all` shows."""
    lines = [*usage(command), "", command.summary]
    if command.about:
        lines += ["", *paragraphs(command.about)]
    own = [*command.arguments, *(flag_entry(flag) for flag in command.flags)]
    if own:
        lines += ["", *entries(own)]
    if command is MAIN:
        lines += ["", "commands:", *entries(command_rows())]
        lines += ["", "`archfit COMMAND --help-all` shows all about a command."]
    elif not command.run:
        lines += ["", *entries((member.name, member.summary) for member in members(command))]
        lines += ["", f"`archfit {command.name} TOOL --help-all` shows all about a tool."]
    for title, part in _PARTS:
        options = [option for option in command.options if option.part == part and option.flags]
        if options:
            lines += ["", title, *entries(option_entry(option) for option in options)]
    lines += ["", *(["in general:"] if command.options else []), *entries(general(command))]
    if command.options:
        lines += ["", *textwrap.wrap(_sources(command.options[0]), WIDTH)]
    if command.run:
        lines += ["", *textwrap.wrap(exits(command), WIDTH)]
    return "\n".join([*lines, ""])


def usage(command: Command) -> Iterator[str]:
    """How it is called, a line for each form."""
    return (f"{'usage:' if not at else '      '} archfit {form}" for at, form in enumerate(command.usage))


def command_rows() -> Iterator[tuple[str, str]]:
    """Every command that a user can start, with its summary."""
    return ((command.name, command.summary) for command in COMMANDS if command.run)


def flag_entry(flag: Flag) -> tuple[str, str]:
    """A command's own flag and what it does."""
    default = "" if "default:" in flag.help else flag.default or ""
    return flag.head, _whole(flag.help, default, repeatable=flag.repeatable)


def option_head(option: Option) -> str:
    """An option's flag, with what stands for its value."""
    head = ", ".join(option.flags) if option.type is SWITCH else f"{option.flags[0]} {option.metavar}"
    return f"{option.short}, {head}" if option.short else head


def option_entry(option: Option) -> tuple[str, str]:
    """An option's flag and what it does."""
    default = "" if option.type is SWITCH else default_text(option)
    return option_head(option), _whole(option.help, default, repeatable=option.repeatable)


def _whole(text: str, default: str, *, repeatable: bool) -> str:
    return text + " May be repeated." * repeatable + (f" Default: {default}." if default else "")


def exits(command: Command) -> str:
    """The exit codes of a command as one sentence."""
    return f"Exit: {', '.join(f'{code} {why}' for code, why in command.exits)}."


def general(command: Command) -> Iterator[tuple[str, str]]:
    """What every command takes."""
    if command.options:
        yield f"{CONFIG_FLAG} FILE", CONFIG_HELP
    else:
        yield from map(option_entry, MESSAGES)
    yield "-h, --help", "Show the help that fits a screen, and exit."
    yield "--help-all", "Show the help with every option, and exit."
    yield "-V, --version", "Show the version and exit."


def paragraphs(text: str, width: int = WIDTH) -> Iterator[str]:
    """The text wrapped; examples stay as they are."""
    for line in text.split("\n"):
        yield from [line] if line.startswith(EXAMPLE) or not line else textwrap.wrap(line, width)


def entries(rows: Iterable[tuple[str, str]], indent: int = _INDENT, width: int = WIDTH) -> Iterator[str]:
    """Two columns: a name and what it means."""
    for head, text in rows:
        wrapped = textwrap.wrap(text, width - indent, break_on_hyphens=False)
        if len(head) + len(EXAMPLE) + 2 > indent:
            yield EXAMPLE + head
        else:
            yield (EXAMPLE + head).ljust(indent) + wrapped.pop(0)
        yield from (" " * indent + line for line in wrapped)


def _sources(option: Option) -> str:
    return (
        f"Each flag has a variable, as {option.variable} for {option.flags[0]}, and a key in the configuration file. "
        "Flags win over variables, variables over the file. Durations are written as 90s, 15m, 6h, 7d."
    )


LINES, COLUMNS = 40, 80
_SHORT_INDENT = 28
_GROUP_INDENT = 24
_SENTENCE = re.compile(r"(.+?[^.][.])(?: |$)", re.DOTALL).match


def short_help(command: Command) -> str:
    """What `--help` shows."""
    common = _common(command)
    if command is MAIN:
        return _text(
            command, paragraphs(command.about, COLUMNS), _commands(), ["options:", *_two_columns(common)]
        )
    summary = list(paragraphs(command.summary, COLUMNS))
    if not command.run:
        rows = ((member.name, member.summary) for member in members(command))
        return _text(command, summary, entries(rows, _GROUP_INDENT, COLUMNS))
    about = list(paragraphs(command.about, COLUMNS))
    examples = [line for line in about if line.startswith(EXAMPLE)]
    own, rest = list(_two_columns(_own(command))), list(_two_columns(common))
    usual = tuple(flag for flag in command.flags if not flag.rare)
    rare = [flag.head for flag in command.flags if flag.rare]
    heads = [head for head, _ in common]
    texts = [
        _text(command, summary, about, own, rest),
        _text(command, summary, examples, own, rest),
        _text(command, summary, examples, own, _also(heads)),
        _text(
            command, summary, examples, _two_columns(_own(command.replace(flags=usual))), _also(rare + heads)
        ),
    ]
    return next((text for text in texts if text.count("\n") <= LINES), texts[-1])


def _also(heads: Iterable[str]) -> Iterable[str]:
    names = ", ".join(re.sub(r"\[?[ =][^-].*", "", head).split(", ")[-1] for head in heads)
    return paragraphs(f"Also: {names}." if names else "", COLUMNS)


def _text(command: Command, *parts: Iterable[str]) -> str:
    texts = ("\n".join(part) for part in (usage(command), *parts, _rest(command)))
    return "\n\n".join(text for text in texts if text) + "\n"


def _commands() -> Iterator[str]:
    yield "commands:"
    names = ((title, [row.name.split()[-1] for row in commands]) for title, commands in by_group().items())
    yield from entries(((title, ", ".join(group)) for title, group in names), _GROUP_INDENT, COLUMNS)


def _own(command: Command) -> list[tuple[str, str]]:
    arguments = ((name, first_sentence(text)) for name, text in command.arguments)
    return [*arguments, *((flag.head, flag.brief or first_sentence(flag.help)) for flag in command.flags)]


def _common(command: Command) -> list[tuple[str, str]]:
    rows = _own(command)[len(command.arguments) :] if command is MAIN else []
    rows += [(option_head(option), option.brief) for option in command.options if option.brief]
    return [*rows, (f"{CONFIG_FLAG} FILE", CONFIG_BRIEF)] if command.options else rows


def _two_columns(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """`entries`, where a long name and a short text share a line."""
    for head, text in rows:
        line = f"{EXAMPLE}{head}  {text}"
        if len(head) + 4 > _SHORT_INDENT and len(line) <= COLUMNS:
            yield line
        else:
            yield from entries([(head, text)], _SHORT_INDENT, COLUMNS)


def first_sentence(text: str) -> str:
    """What stands before the first full stop."""
    match = _SENTENCE(text)
    return match[1] if match else text


def _rest(command: Command) -> Iterator[str]:
    if command is not MAIN and command.run:
        yield from paragraphs(exits(command), COLUMNS)
        if command.options or command.flags:
            yield f"All options: {command.program} --help-all"
    elif command is not MAIN:
        yield f"More about a tool: {command.program} TOOL --help"
    else:
        yield "More about a command: archfit COMMAND --help"
        yield "All options:          archfit --help-all, man archfit"
        yield f"When something fails: {place('troubleshooting')}"
