"""Start-up is part of the product: what a run may import, counted and not timed."""

import json
import os
import subprocess
import sys

import pytest

from archfit.store.directories import default_path
from warming import warm

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: 'x.example/a:1'}\n"
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
NETWORK = {"ssl", "http.client", "httpx", "asyncio", "socket", "concurrent.futures"}
HEAVY = {"logging", "rich", "jsonpatch", "dataclasses", "typing", "ruamel", "argparse", "inspect"}
UNKNOWN = {"archfit.workloads.coverage.known_kinds", "archfit.workloads.coverage.unknown_kinds"}
PARSER = {"yaml", "yaml._yaml"}
_LOADED = (
    "import sys, json\nfrom archfit.cli import main\ncode = main([])\n"
    "sys.stderr.write('\\n' + json.dumps([code, sorted(sys.modules)]))"
)


def loaded(stream):
    """The modules that a bare run over the stream has loaded, less those of an empty interpreter."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", _LOADED], input=stream, capture_output=True, check=True
    )
    code, modules = json.loads(done.stderr.decode().splitlines()[-1])
    assert code == 0, done.stderr.decode()
    empty = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(modules) - set(empty.stdout.split())


@pytest.fixture
def warm_cache():
    warm({"x.example/a:1": ["linux/amd64", "linux/arm64"]}, default_path(os.environ))


@pytest.mark.usefixtures("warm_cache")
def test_a_warm_run_loads_nothing_of_the_network_and_nothing_heavy():
    assert loaded(POD) & (NETWORK | HEAVY | UNKNOWN) == set()


def test_a_run_with_nothing_to_do_loads_no_parser_no_decisions_and_no_cache():
    beyond = NETWORK | HEAVY | PARSER | {"sqlite3", "archfit.placement.decide", *UNKNOWN}
    assert loaded(CONFIG_MAP) & beyond == set()
