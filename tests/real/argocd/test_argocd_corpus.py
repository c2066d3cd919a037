"""Every manifest of the corpus as an application of plain files: the same bytes as through the pipe.

ResourceLists are left out: they are what kustomize hands to a function, never a file of an application.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from argocd_caller import Plugin, repository
from program import archfit as run_archfit

if TYPE_CHECKING:
    from pathlib import Path

    from corpus_streams import Corpus

# Whatever an image is, it counts as one for amd64: many pods change, and no registry is needed.
ASSUMING = {
    "ARCHFIT_OFFLINE": "true",
    "ARCHFIT_NO_CACHE": "true",
    "ARCHFIT_ON_UNKNOWN": "assume",
    "ARCHFIT_ASSUME": "linux/amd64",
    "ARCHFIT_ON_CONFLICT": "leave",
}


@pytest.mark.parametrize("folder", ["crd", "helm3", "helm4", "kubectl", "manifests"])
def test_the_corpus_comes_out_as_through_the_pipe(
    plugin: Plugin, tmp_path: Path, corpus: Corpus, folder: str
) -> None:
    streams = [stream for name, stream in corpus.streams.items() if name.startswith(f"{folder}/")]
    assert streams
    for number, stream in enumerate(streams):
        app = repository(tmp_path / str(number), {}) / "app"
        app.mkdir(parents=True)
        text = stream.read()
        (app / stream.path.name).write_bytes(text)
        head = b"" if text.startswith(b"---") else f"---\n# Source: {stream.path.name}\n".encode()
        whole = head + text + (b"" if text.endswith(b"\n") else b"\n")
        piped = run_archfit(whole, **ASSUMING)
        ran = plugin.run("generate", cwd=app, **ASSUMING)
        assert (ran.status, ran.stdout) == (piped.status, piped.stdout), stream.name
