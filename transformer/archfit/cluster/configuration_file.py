"""What `setup cluster` and `setup workloads` share: each reads what kubectl printed and writes a configuration file."""

from __future__ import annotations

from contextlib import nullcontext
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.files import write_new


def read_input(name: str, stdin: BinaryIO, source: str, *, flag: str = "", limit: int = 0) -> bytes:
    """The content of a file, or of standard input for `-`. Raises UsageError.

    source: the command whose output it is, for the remedy. flag: the flag that named the file. limit: in bytes, 0 for
    none; the message takes it for a whole number of MiB.
    """
    where = f"{flag}: " if flag else ""
    shown = "standard input" if name == "-" else repr(name)
    if name == "-" and stdin.isatty():
        raise UsageError(f"{where}standard input is a terminal: pipe `{source}` in")
    try:
        with nullcontext(stdin) if name == "-" else open(name, "rb") as file:
            content = file.read(limit + 1 if limit else -1)
    except OSError as error:
        raise UsageError(f"{where}cannot read {shown} ({error.strerror}): name a readable file") from None
    if limit and len(content) > limit:
        size = f"{limit >> 20} MiB"
        raise UsageError(f"{where}{shown} is larger than {size}: pass the output of `{source}` only")
    return content


def deliver(
    text: str, output: str | None, stdout: BinaryIO, stderr: TextIO, messages: str, advice: str
) -> None:
    """Writes the file, then the messages. output: the file that --output names. Raises UsageError and OutputError."""
    if output is None:
        standard_streams.write(stdout, [text.encode()])
    else:
        write_new(output, text.encode())
    stderr.write(messages)
    if output is not None:
        stderr.write(f"written: {output}; {advice}\n")
