"""What `archfit setup TOOL` takes over of the user's configuration: the part `spec`, which anyone may supply.

The part `operator` and the path of the lock file stay where they are: what a tool reads is committed and shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from archfit.base.errors import ArchfitError, Problem, UsageError
from archfit.base.files import read_file
from archfit.cli.setup.owned_files import content_of_users_file
from archfit.cli.setup.yaml_files import on_few_lines
from archfit.edit.render import flow
from archfit.options.config_file import from_file
from archfit.options.table import CONFIG_FLAG, CONFIG_VARIABLE
from archfit.startup.record import Record
from archfit.yaml.config_yaml import parse_config


class ToolConfiguration(Record):
    """path: as the user named it, "" for none. spec: by option, as YAML to write. advice: a line about what stays."""

    path: str
    spec: Mapping[str, Any]
    advice: str = ""

    def check(self, path: str) -> str:
        """That a tool's file says the same, in a line. Raises ArchfitError where it does not."""
        try:
            values: Any = parse_config((content_of_users_file(path) or b"").decode(errors="replace")).values
        except Problem as problem:
            raise ArchfitError(f"{path} line {problem.line}: {problem.message}") from None
        spec = values.get("spec") if isinstance(values, dict) else None
        spec = spec if isinstance(spec, dict) else {}
        for key, value in self.spec.items():
            if key not in spec or spec[key] != value:
                there = flow(spec[key]) if key in spec else "nothing"
                here = f"{self.path} {flow(value)}"
                raise ArchfitError(f"{path} says {there} for {key}, and {here}: write the same into both")
        return f"{path} says what {self.path} says"


def configuration(named: str | None, environ: Mapping[str, str]) -> ToolConfiguration:
    """The file that the flag or the variable names. Raises UsageError."""
    by = CONFIG_VARIABLE if named is None else CONFIG_FLAG
    path = environ.get(CONFIG_VARIABLE, "") if named is None else named
    if named is None and not path:
        return ToolConfiguration("", {})
    text = _content(by, path)
    from_file(text, path, by)
    values: Any = parse_config(text.decode("utf-8-sig")).values
    spec = dict(values.get("spec") or {})
    stays = [part for part in ("operator", "lockFile") if values.get(part) or spec.pop(part, None)]
    advice = f"{' and '.join(stays)} of {path}: not written; name a file with it in ARCHFIT_CONFIG where archfit runs\n"
    nodes = {key: on_few_lines(value) for key, value in spec.items()}
    return ToolConfiguration(path, nodes, advice if stays else "")


def _content(flag: str, path: str) -> bytes:
    if not path:
        raise UsageError(f"{flag}: is empty: write a path, or leave the flag out")
    try:
        return read_file(path)
    except OSError as error:
        raise UsageError(f"{flag}: cannot read {path!r} ({error.strerror}): name a readable file") from None


def compared(named: str | None, environ: Mapping[str, str], paths: Iterable[str]) -> Iterator[str]:
    """That each of a tool's files says the same as the configuration, in a line. Raises ArchfitError, UsageError."""
    own = configuration(named, environ)
    for path in paths if own.path else ():
        yield own.check(path)
