"""Workers, each a process with one thread, that share the scripts of a campaign among them."""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from campaign.images import STREAMS
from campaign.playing import Outcome, played
from campaign.scripts import Script, script

WORKERS = 2


def work(given: argparse.Namespace, worker: int, told: Any) -> None:
    """A worker's life: outcomes go into `told`, at the end None."""
    for name in list(os.environ):
        if name.startswith(("ARCHFIT_", "XDG_")) or name.lower().endswith("_proxy"):
            del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="archfit-campaign-") as folder:
        numbers = given.only or range(given.count)
        scripts = (script(given.seed, number, STREAMS) for number in numbers[worker::WORKERS])
        for played_script, outcome in played(given.seed, Path(folder), scripts):
            told.put((played_script, outcome))
    told.put(None)


def outcomes(given: argparse.Namespace) -> Iterator[tuple[Script, Outcome]]:
    """Of all workers, as they come. Raises RuntimeError where a worker has ended without a word."""
    context = multiprocessing.get_context("spawn")
    told = context.SimpleQueue()
    workers = [context.Process(target=work, args=(given, worker, told)) for worker in range(WORKERS)]
    for process in workers:
        process.start()
    left = len(workers)
    while left:
        if told.empty():
            if any(process.exitcode for process in workers):
                raise RuntimeError("a worker of the campaign has failed")
            time.sleep(0.05)
            continue
        entry = told.get()
        if entry is None:
            left -= 1
        else:
            yield entry
    for process in workers:
        process.join()
