"""A program that is run to its end, or is given up: nothing that it started goes on."""

import os
import threading
import time

import pytest

from archfit.base.errors import ArchfitError
from archfit.base.external_program import ExternalProgram, run_program, until


@pytest.fixture
def script(tmp_path):
    def made(text: str) -> str:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return made


def test_it_has_no_input(script):
    assert run_program([script("read -r line; echo end")], {}).text == "end\n"


def test_a_program_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ArchfitError, match=r"gone cannot be run: No such file"):
        run_program([str(tmp_path / "gone")], {})


def test_a_program_is_ended_with_all_that_it_started(script, tmp_path):
    before = time.monotonic()
    program = script(f"/bin/sleep 300 & echo $! > {tmp_path}/child; wait")
    with until(before + 3), pytest.raises(ArchfitError, match=r"did not end within [\d.]+ s"):
        run_program([program], {})
    assert time.monotonic() - before < 50  # a program may take 60 s, and this one 300
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    give_up = time.monotonic() + 50
    while _runs(child):  # its parent is gone: somebody else has to reap it
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_it_is_ended_where_it_writes_too_much(script):
    with pytest.raises(ArchfitError, match="wrote more than 16,777,216 bytes"):
        run_program([script("while :; do echo 0123456789012345678901234567890123456789; done")], {})


def test_its_input_is_given_whole_or_as_far_as_it_reads(script):
    given = b"0123456789" * 300_000
    assert ExternalProgram([script("/bin/cat")], {}).run(given).output == given
    assert ExternalProgram([script("exec 0<&-; echo enough")], {}).run(given).text == "enough\n"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_deadline_holds_for_its_own_thread_alone(script):
    program = script("echo here")
    found: list[str] = []
    with until(time.monotonic() - 1):
        thread = threading.Thread(target=lambda: found.append(run_program([program], {}).text))
        thread.start()
        thread.join()
        with pytest.raises(ArchfitError, match="was not run, because no time was left"):
            run_program([script("/bin/sleep 300")], {})
    assert found == ["here\n"]
    assert run_program([script("echo again")], {}).text == "again\n"
