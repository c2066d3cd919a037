"""What runs archfit or renders a stream: folders of kustomize, charts and plugins of helm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def kustomization(folder: Path, stream: Path) -> Path:
    """A folder that `kustomize build` turns into the stream."""
    target = folder / f"kustomize-{stream.stem}"
    target.mkdir()
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "kustomization.yaml").write_text(f"resources: [{stream.name}]\n", encoding="utf-8")
    return target


def function(folder: Path, stream: Path, name: str, program: str) -> Path:
    """The same, with a program as its exec function."""
    target = folder / f"kustomize-{stream.stem}-{name}"
    target.mkdir()
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "kustomization.yaml").write_text(
        f"resources: [{stream.name}]\ntransformers: [function.yaml]\n", encoding="utf-8"
    )
    (target / "function.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nmetadata:\n  name: function\n  annotations:\n"
        f"    config.kubernetes.io/function: |\n      exec:\n        path: {program}\n",
        encoding="utf-8",
    )
    return target


def chart(folder: Path, stream: Path) -> Path:
    """A chart that renders the stream through `.Files.Get`."""
    target = folder / f"chart-{stream.stem}"
    (target / "templates").mkdir(parents=True)
    (target / "Chart.yaml").write_text("apiVersion: v2\nname: big\nversion: 0.1.0\n", encoding="utf-8")
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "templates" / "all.yaml").write_text(
        f'{{{{ .Files.Get "{stream.name}" }}}}\n', encoding="utf-8"
    )
    return target


def plugin(folder: Path, name: str, command: str) -> None:
    """A post-renderer of Helm 4."""
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(
        f"apiVersion: v1\ntype: postrenderer/v1\nname: {name}\nversion: 0.1.0\nruntime: subprocess\n"
        f"runtimeConfig:\n  platformCommand:\n  - command: {command}\n",
        encoding="utf-8",
    )
