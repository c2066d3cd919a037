"""A table as plain values: cells, columns with a heading for each form, rows."""

from __future__ import annotations

from typing import Literal, TypeAlias

from archfit.audit.amount import cpu_text, memory_text
from archfit.startup.record import Record

Kind: TypeAlias = Literal["text", "count", "number", "image", "state", "details", "meter", "names"]
"""count: 1,200 on the page, 1200 elsewhere. image: monospace. state: one word with a mark. names: lines.

details: a summary that opens. meter: a share with a bar; the key is of 100."""
Form: TypeAlias = Literal["page", "text", "markdown"]


class Cell(Record):
    """One cell. key: by which it is sorted, "" for the text itself. lines: what a summary opens.

    badge: a word that the page sets off behind the text; the other forms have it in brackets within the text.
    """

    text: str
    key: str = ""
    lines: tuple[str, ...] = ()
    badge: str = ""

    @property
    def plain(self) -> str:
        """The text without the badge."""
        return self.text.replace(f" ({self.badge})", "", 1) if self.badge else self.text


class Column(Record):
    """One column, with its heading in each form; None where the form leaves it out. paper: whether a sheet has it."""

    page: str | None
    kind: Kind = "text"
    text: str | None = None
    markdown: str | None = None
    paper: bool = True


class Table(Record):
    """One table. name: for ids. heading: above it in text, "" for the caption in capitals."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    heading: str = ""

    def of(self, form: Form) -> Table:
        """The table with the columns of one form. The page leaves out those that say nothing."""
        places = [place for place, column in enumerate(self.columns) if getattr(column, form) is not None]
        if form == "page" and self.rows:
            places = [place for place in places if any(row[place].text for row in self.rows)]
        return self.replace(
            columns=tuple(self.columns[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
        )

    def texts(self) -> list[list[str]]:
        """The rows as plain texts: a count without separators."""
        counts = [column.kind == "count" for column in self.columns]
        return [
            [cell.key if is_count else cell.text for cell, is_count in zip(row, counts, strict=True)]
            for row in self.rows
        ]


def count(value: int) -> Cell:
    """A whole number."""
    return Cell(f"{value:,}", f"{value}")


def cpu(thousandths: int) -> Cell:
    """1/1000 CPU as CPUs."""
    return Cell(cpu_text(thousandths), f"{thousandths}")


def memory(size: int) -> Cell:
    """Bytes."""
    return Cell(memory_text(size), f"{size}")
