"""Lines of the log never stop the server, whoever reads them."""

import io
import json
import logging
import os
import threading
from typing import Any

from archfit.webhook.server_log import LibraryMessages, ServerLog, unbuffered


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lower_levels_are_not_written():
    stream = io.StringIO()
    log = ServerLog(stream.write, "warning")
    for level in ("debug", "info", "warning", "error"):
        log.line(level, level)
    log.close()
    assert [line["message"] for line in lines(stream)] == ["warning", "error"]


def test_a_reader_that_stops_costs_lines_and_nothing_else():
    goes_on = threading.Event()

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            goes_on.wait(30)
            return super().write(text)

    stream = Full()
    log = ServerLog(stream.write, most=1 << 20)
    refused: list[None] = []
    log.refused = lambda: refused.append(None)
    for number in range(25_000):
        log.line("info", str(number))
        assert log.held <= (1 << 20) + 1000
    assert len(refused) > 10_000
    goes_on.set()
    log.close()
    assert len(lines(stream)) == 25_000 - len(refused)
    assert log.held == 0


def test_a_long_text_is_cut():
    stream = io.StringIO()
    log = ServerLog(stream.write)
    log.line("info", "m", name="n" * 3_000_000, images=2)
    log.close()
    assert lines(stream)[0]["name"] == "n" * 500
    assert lines(stream)[0]["images"] == 2


def test_lines_go_to_the_descriptor_of_a_stream():
    reader, writer = os.pipe()
    with open(reader, encoding="utf-8") as read, open(writer, "w", encoding="utf-8") as stream:
        log = ServerLog(unbuffered(stream))
        log.line("info", "müde")
        log.close()
        assert json.loads(read.readline())["message"] == "müde"


def test_a_stream_that_is_closed_is_no_error():
    stream = io.StringIO()
    log = ServerLog(stream.write)
    stream.close()
    log.line("info", "nobody reads this")
    log.close()


def test_what_would_forge_a_line_is_escaped():
    stream = io.StringIO()
    log = ServerLog(stream.write)
    log.line("info", "m", name='a\n{"level": "forged"}\u202e\x1b')
    log.close()
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().strip().isprintable()
    assert lines(stream)[0]["name"] == 'a\n{"level": "forged"}\u202e\x1b'


def test_messages_of_libraries_come_without_traceback():
    stream = io.StringIO()
    log = ServerLog(stream.write)
    error = ValueError("hush-4711")
    text = "Exception in ASGI application\n"
    record = logging.LogRecord(
        "uvicorn.error", logging.ERROR, "x.py", 1, text, None, (ValueError, error, None)
    )
    LibraryMessages(log).emit(record)
    log.close()
    (line,) = lines(stream)
    assert (line["message"], line["library"], line["error"]) == (
        "Exception in ASGI application",
        "uvicorn.error",
        "ValueError",
    )
    assert "hush" not in stream.getvalue()
