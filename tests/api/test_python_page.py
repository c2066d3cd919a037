"""The Python of docs/python.md runs as it stands there, block after block."""

import os
import re

import archfit
from archfit.base import errors
from archfit.lookup.store.open import default_path
from machine import ROOT
from warm_cache import warm

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_blocks_of_the_page_run_in_order(capsys):
    warm({"nginx:1.27": ["linux/amd64"]}, default_path(os.environ))
    program = compile("\n".join(BLOCKS), "docs/python.md", "exec")
    exec(program, {"__name__": "page"})
    said = capsys.readouterr().out
    assert "web Change restricted to amd64 (arm64 is not offered by nginx:1.27)" in said
    assert "'path': '/spec/template/spec/affinity'" in said
    assert "                - amd64" in said


def test_the_page_names_every_name_and_every_kind_of_error():
    assert [
        name for name in archfit.__all__ if f"`{name}" not in PAGE and f"archfit.{name}" not in PAGE
    ] == []
    kinds = re.findall(r"'(\w+)'", str(errors.ErrorKind))
    assert kinds
    assert re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE) == kinds
