"""`archfit audit` in this process, without a network."""

import io
import os

import pytest

from archfit.audit.command import audit as run
from archfit.base.errors import ArchfitError
from program import Ran
from warm_cache import warm


@pytest.fixture
def audit(tmp_path, monkeypatch):
    """`audit(input, "--format", "json")` in an empty folder; a warm cache knows two images."""
    cache = tmp_path / "lookups.sqlite"
    both = ["linux/amd64", "linux/arm64"]
    warm({"quay.io/team/both:1": both, "quay.io/team/intel:1": both[:1]}, str(cache))
    monkeypatch.chdir(tmp_path)

    def audited(text: bytes, *words: str, **environ: str) -> Ran:
        stdout, stderr = io.BytesIO(), io.StringIO()
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environ}
        words = ("--offline", "--cache", str(cache), *words)
        try:
            status = run(words, io.BytesIO(text), stdout, stderr, environ)
        except ArchfitError as error:
            return Ran(error.exit_code, stdout.getvalue(), f"{stderr.getvalue()}error: {error}\n")
        return Ran(status, stdout.getvalue(), stderr.getvalue())

    return audited
