"""What renders an application, and an application of plain files.

    Chart.yaml                                              helm template
    kustomization.yaml, kustomization.yml, Kustomization    kustomize build
    *.yaml, *.yml, *.json                                   the files themselves, in the order of their names

The first row that the working directory fits counts, as in Argo CD; the parameter source-type says otherwise. Plain
files get a `# Source:` line, as Helm writes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from archfit.base.errors import ArchfitError, InvalidInput
from archfit.base.files import SUFFIXES
from archfit.base.printable import visible
from archfit.cli.inputs.input_files import KUSTOMIZATIONS, holds_object
from archfit.integrations.argocd.repository import check_inside, is_irregular
from archfit.integrations.argocd.source_parameters import ApplicationSource, helm_arguments
from archfit.startup.record import Record
from archfit.yaml.stream import BOM, check_utf8

# argo-cd v3.5.1, reposerver/repository/repository.go: a file with this mark is not for the cluster.
_SKIPPED = b"+argocd:skip-file-rendering"
_NOTHING = re.compile(rb"(?:(?:---|\.\.\.)?(?:[ \t\r]*(?:null|~|\{\}))?[ \t\r]*(?:#[^\n]*)?\n)*").fullmatch


class Renderers(Record):
    """The operator's programs, and what the operator adds to their arguments.

    dependencies: `helm dependency build` runs first.
    """

    helm: str = "helm"
    kustomize: str = "kustomize"
    helm_options: tuple[str, ...] = ()
    kustomize_options: tuple[str, ...] = ()
    dependencies: bool = False


def renderer_of(source: ApplicationSource) -> str:
    """helm, kustomize or directory; "" where the working directory holds nothing that could be rendered."""
    if source.renderer:
        return source.renderer
    if os.path.isfile("Chart.yaml"):
        return "helm"
    if any(os.path.isfile(name) for name in KUSTOMIZATIONS):
        return "kustomize"
    return "directory" if next(_files(source, "."), "") else ""


def command_of(renderer: str, source: ApplicationSource, programs: Renderers) -> list[str]:
    """The words that render a chart or a kustomization."""
    if renderer == "helm":
        return [programs.helm, "template", *helm_arguments(source), *programs.helm_options]
    return [programs.kustomize, "build", ".", *programs.kustomize_options]


def plain_files(source: ApplicationSource, root: str) -> tuple[bytes, list[str]]:
    """The plain files as one stream, and a message for each file that is left out. Raises ArchfitError."""
    parts, left_out = list[bytes](), list[str]()
    for path in _files(source, "."):
        name = path.removeprefix("./")
        check_inside(path, root, "a file of the application")
        if is_irregular(path):  # Argo CD leaves it out, too
            left_out.append(f"{visible(name)} is not rendered: it is not a regular file")
            continue
        try:
            with open(path, "rb") as file:
                content = file.read().removeprefix(BOM)
            check_utf8(content)
        except OSError as error:
            raise ArchfitError(f"{visible(name)}: cannot be read ({error.strerror})") from None
        except InvalidInput as error:
            raise ArchfitError(f"{visible(name)}: {error.message}") from None
        if _SKIPPED in content:
            left_out.append(f"{visible(name)} is not rendered: it says {_SKIPPED.decode()}")
        elif not holds_object(content):
            left_out.append(f"{visible(name)} is not rendered: it holds no Kubernetes object")
        else:
            head = b"" if content.startswith(b"---") else f"---\n# Source: {visible(name)}\n".encode()
            parts.append(head + content + (b"" if content.endswith(b"\n") else b"\n"))
    return b"".join(parts), left_out


def _files(source: ApplicationSource, folder: str) -> Iterator[str]:
    """The manifests below the folder, by name, without hidden files and folders."""
    with os.scandir(folder) as listing:
        entries = sorted(
            (entry for entry in listing if not entry.name.startswith(".")), key=lambda entry: entry.name
        )
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if source.recurse:
                yield from _files(source, entry.path)
        elif entry.name.endswith(SUFFIXES):
            name = entry.path.removeprefix("./")
            included = not source.include or fnmatchcase(name, source.include)
            if included and not (source.exclude and fnmatchcase(name, source.exclude)):
                yield entry.path


def is_empty(stream: bytes) -> bool:
    """Whether Argo CD would see no object in it: blanks, comments, and documents that are null."""
    return _NOTHING(stream.removeprefix(BOM) + b"\n") is not None
