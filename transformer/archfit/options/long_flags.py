"""Flags that are written out, read without argparse, which takes a fifth of a small run.

    flag = "--" name ( "=" | next argument ) value      an option, or --config; the value is neither empty nor
                                                        "--", and as an argument it does not begin with "-"
         | "--" [ "no-" ] name                          a switch

An empty argument is ignored. A command line with anything else, or with a mistake, is left to `arguments`, which knows
every rule and says what is wrong.
"""

from __future__ import annotations

from archfit.base.errors import UsageError
from archfit.options.layers import Given, Layer
from archfit.options.option_types import SWITCH
from archfit.options.table import CONFIG_FLAG, Option
from archfit.options.text_form import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def read(argv: Sequence[str], rows: Sequence[Option]) -> tuple[Layer, str | None] | None:
    """The layer of the flags and the configuration file that they name; None where `arguments` has to read them.

    rows: the options of the command at hand.
    """
    known = {flag: option for option in rows for flag in option.flags}
    texts: dict[str, list[str]] = {}
    words = iter(argv)
    for word in words:
        flag, equals, value = word.partition("=")
        option = known.get(flag)
        if option and option.type is SWITCH:
            if equals:
                return None
            value = "true" if flag == option.flags[0] else "false"
        elif option or flag == CONFIG_FLAG:
            value = value if equals else next(words, "")
            if value in ("", "--") or (not equals and value.startswith("-")):
                return None
        elif word:
            return None
        else:
            continue
        texts.setdefault(option.key if option else CONFIG_FLAG, []).append(value)
    try:
        return layer(texts, rows), texts.get(CONFIG_FLAG, [None])[-1]
    except UsageError:
        return None


def layer(texts: Mapping[str, Sequence[str] | None], rows: Sequence[Option]) -> Layer:
    """The layer of the flags. texts: what each was given, by the option's key. Raises UsageError."""
    given = {
        option.key: Given(parsed(option, found), option.flags[0])
        for option in rows
        if (found := texts.get(option.key))
    }
    names = ", ".join(value.where for value in given.values())
    return Layer(f"flags ({names})", given)


def parsed(option: Option, texts: Sequence[str]) -> object:
    """The value of the texts that a flag was given. Raises UsageError."""
    if "" in texts:
        raise UsageError(f"{option.flags[0]}: is empty: write a value, or leave the flag out")
    try:
        return option.type.text(texts)
    except Problem as problem:
        raise UsageError(f"{option.flags[0]}: {problem.message}") from None
