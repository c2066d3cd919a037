"""`archfit check --source-root` on what kustomize builds: each origin annotation leads to the file it was read from."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from ci_checkout import API, WEB, checkout

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "base/web.yaml": WEB,
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "overlays/prod/api.yaml": API,
    "overlays/prod/kustomization.yaml": """\
resources: [../../base, api.yaml]
namePrefix: prod-
buildMetadata: [originAnnotations]
""",
}


def test_every_object_is_found(archfit, tool, tmp_path: Path) -> None:
    folder = checkout(tmp_path / "repository", FILES)
    built = subprocess.run(
        [tool("kustomize"), "build", "overlays/prod"], cwd=folder, capture_output=True, check=True
    )
    (tmp_path / "kustomize").symlink_to(tool("kustomize"))
    words = ("--no-cache", "--offline", "--image-platforms=x.example/*=linux/amd64", "--format=json")
    for stream, given in (
        (built.stdout, ["--source-root=overlays/prod"]),
        (b"", ["--kustomize", "overlays/prod"]),
    ):
        path = f"{tmp_path}:{os.environ['PATH']}"
        ran = archfit(stream, "check", *words, *given, cwd=folder, PATH=path)
        assert ran.status == 3, ran.stderr
        found = json.loads(ran.stdout)["findings"]
        assert {one["object"]["name"]: (one["file"], one.get("line", 0)) for one in found} == {
            "prod-web": ("base/web.yaml", 0),
            "prod-api": ("overlays/prod/api.yaml", 0),
        }
