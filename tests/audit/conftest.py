"""`archfit audit` in this process, without a network."""

import os

import pytest

from archfit.audit.command import audit as run
from program import Ran, called
from warm_cache import warm


@pytest.fixture
def audit(tmp_path, monkeypatch):
    """`audit(input, "--format", "json")` in an empty folder; a warm cache knows two images."""
    cache = tmp_path / "lookups.sqlite"
    both = ["linux/amd64", "linux/arm64"]
    warm({"quay.io/team/both:1": both, "quay.io/team/intel:1": both[:1]}, str(cache))
    monkeypatch.chdir(tmp_path)

    def audited(text: bytes, *words: str, **environ: str) -> Ran:
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environ}
        return called(run, ["--offline", "--cache", str(cache), *words], text, environ)

    return audited
