"""Bytes and text that count how much of them is searched: `find` is fast, but not where each line begins one.

data = searched(b"..")      bytes with the same methods; what archfit decodes of it counts, too, inside of `counting`
with counting() as found:   found.total: bytes and characters that find, rfind, count, split, translate and `in` read
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from unittest import mock

from archfit.yaml import tree
from archfit.yaml.scan import Span

if TYPE_CHECKING:
    from collections.abc import Iterator


class Found:
    """total: what was read so far."""

    total = 0


_found = Found()


def _searching(base: Any) -> Any:
    class Searched(base):  # type: ignore[misc]  # bytes or str
        def find(self, what: Any, start: int = 0, end: int | None = None) -> int:
            found: int = base.find(self, what, start, end)
            stop = min(len(self), len(self) if end is None else end)
            _found.total += max(stop - start, 0) if found < 0 else found + len(what) - start
            return found

        def rfind(self, what: Any, start: int = 0, end: int | None = None) -> int:
            found: int = base.rfind(self, what, start, end)
            stop = min(len(self), len(self) if end is None else end)
            _found.total += max(stop - start, 0) if found < 0 else stop - found
            return found

        def count(self, what: Any, start: int = 0, end: int | None = None) -> int:
            _found.total += max(min(len(self), len(self) if end is None else end) - start, 0)
            return int(base.count(self, what, start, end))

        def split(self, *arguments: Any) -> Any:
            _found.total += len(self)
            return base.split(self, *arguments)

        def translate(self, *arguments: Any) -> Any:
            _found.total += len(self)
            return base.translate(self, *arguments)

        def __contains__(self, what: Any) -> bool:
            return bool(self.find(what) >= 0)

        __hash__ = base.__hash__

    return Searched


searched = _searching(bytes)
_Text = _searching(str)


@contextlib.contextmanager
def counting() -> Iterator[Found]:
    """Counts from here on."""
    real, parser = Span.text, tree._Parser
    _found.total = 0
    with (
        mock.patch.object(Span, "text", lambda self, data: _Text(real(self, data))),
        mock.patch.object(tree, "_Parser", lambda text: parser(str(text))),  # the parser takes no subclass
    ):
        yield _found
