"""A TOML file of the operator, as checked values. Errors name file and key, and never repeat a value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from archfit.base.errors import UsageError
from archfit.base.files import read_regular
from archfit.base.spelling import expected

_MAX_BYTES = 4 * 1024 * 1024


class TomlTable:
    """A table of the file at `path`; a value of another type raises UsageError. where: its name, "" for the root."""

    def __init__(self, path: str, where: str, values: dict[str, Any]) -> None:
        self.path = path
        self.where = where
        self._values = values

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raises UsageError for the value of a key."""
        raise UsageError(f"{self.path}, {f'{self.where}.' if self.where else ''}{key}: {why}")

    def only(self, known: Iterable[str]) -> None:
        """Raises UsageError for a key that is not known."""
        names = list(known)
        for key in self._values:
            if key not in names:
                self.refuse(key, f"there is no such key: {expected(key, names)}")

    def get(self, key: str) -> Any:
        """The value as TOML gives it, None where there is none."""
        return self._values.get(key)

    def text(self, key: str) -> str:
        value = self._values.get(key, "")
        if not isinstance(value, str):
            self.refuse(key, "has to be a string")
        return value

    def switch(self, key: str) -> bool:
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, "has to be true or false")
        return value

    def texts(self, key: str) -> list[str]:
        value = self._values.get(key, [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(item, str) for item in texts):
            self.refuse(key, "has to be a string or a list of strings")
        return texts

    def inner(self, key: str, contents: str) -> TomlTable:
        """The table below a key, empty where there is none. contents: for the message."""
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, f"has to be a table of {contents}")
        return TomlTable(self.path, f"{self.where}.{key}" if self.where else key, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def tables(self, key: str) -> list[TomlTable]:
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.refuse(key, f"has to be a list of tables: write [[{key}]]")
        name = f"{self.where}.{key}" if self.where else key
        return [TomlTable(self.path, f"{name}[{index}]", item) for index, item in enumerate(value)]

    def named(self, key: str) -> list[tuple[str, TomlTable]]:
        """The tables below a table, by name and in the file's order."""
        value = self._values.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
            self.refuse(key, "has to be a table of tables")
        return [(name, TomlTable(self.path, f"{key}.{name!r}", item)) for name, item in value.items()]


def read_toml(path: str) -> TomlTable:
    """The root table. Raises UsageError where the file cannot be read or is not TOML."""
    try:
        content = read_regular(path, _MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise UsageError(f"{path} is larger than {_MAX_BYTES} bytes")
        return TomlTable(path, "", tomllib.loads(content.decode("utf-8-sig")))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror or error}): name a file that can be read"
        ) from None
    except (ValueError, RecursionError) as error:
        where = str(error).rpartition("(")[2].removesuffix(")") if "(at " in str(error) else "anywhere"
        raise UsageError(f"{path} is not TOML ({where}): correct it") from None
