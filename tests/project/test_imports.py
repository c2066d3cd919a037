"""Start-up is part of the product: what a run may import, counted and not timed."""

import ast
import json
import os
import subprocess
import sys

import pytest

from archfit.store.directories import default_path
from machine import ROOT
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


def test_one_module_knows_the_http_library() -> None:
    """Beside it, only the streams that it is given."""
    knows = {"httpx": set(), "httpcore": set()}
    for path in (ROOT / "transformer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.partition(".")[0] in knows:
                    knows[name.partition(".")[0]].add(path.stem)
    assert knows == {"httpx": {"http_transport"}, "httpcore": {"http_transport", "network_stream"}}
