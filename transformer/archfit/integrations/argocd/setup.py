"""`archfit setup argocd [--into DIR] [--discover] [--image NAME] [--bundle-image NAME] [--check]`.

    --into DIR    writes two Kustomize components for Argo CD's own kustomization, see argocd_files
    --check       diagnoses an installation, from inside the sidecar or on DIR; see check_argocd

A file that is there already and differs is somebody's work: nothing is written then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.errors import ArchfitError, UsageError
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.setup_check import check
from archfit.options.arguments import Parser, wanted

HELP = f"""\
usage: archfit setup argocd [--into DIR] [--discover] [--image NAME] [--bundle-image NAME] [--force]
       archfit setup argocd --check [--into DIR]

Writes what plugs archfit into Argo CD, as two Kustomize components: sidecar/ (a config management plugin for Helm,
Kustomize and plain files) and build-options/ (a function that `kustomize build` in repo-server starts).

  --into DIR            Write there; default: argocd-archfit.
  --discover            Let the plugin find applications itself; else they name it: `plugin: {{name: archfit}}`.
  --image NAME          The sidecar's image; default: {setup_files.SIDECAR_IMAGE}.
  --bundle-image NAME   The init container's image; default: {setup_files.BUNDLE_IMAGE}.
  --force               Write over files that differ.
  --check               Write nothing; say what is wrong with an installation. Run it in the sidecar:
                        kubectl exec -n argocd deploy/argocd-repo-server -c archfit -- archfit setup argocd --check
  -h, --help            Shows this and ends.
"""
_DEFAULT = "argocd-archfit"


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup argocd`. The exit code; raises ArchfitError."""
    if wanted(argv) == "help":
        stdout.write(HELP.encode())
        return 0
    parser = Parser("archfit setup argocd")
    for flag, metavar in (("--into", "DIR"), ("--image", "NAME"), ("--bundle-image", "NAME")):
        parser.add_argument(flag, metavar=metavar)
    for flag in ("--discover", "--force", "--check"):
        parser.add_argument(flag, action="store_true")
    found, words = parser.read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup argocd --help")
    for flag, value in (
        ("--into", found.into),
        ("--image", found.image),
        ("--bundle-image", found.bundle_image),
    ):
        if value is not None and (not value or value.split() != [value]):
            raise UsageError(
                f"{flag}: {value!r} cannot be used: write it without blanks, or leave the flag out"
            )
    if found.check:
        return check(found.into, stdout, environ)
    wanted_files = setup_files.files(
        discover=found.discover,
        sidecar_image=found.image or setup_files.SIDECAR_IMAGE,
        bundle_image=found.bundle_image or setup_files.BUNDLE_IMAGE,
    )
    folder = found.into or _DEFAULT
    _write(folder, wanted_files, force=found.force, stderr=stderr)
    stderr.write(
        f"Now add the line `components: [{os.path.join(folder, 'sidecar')}]` to the kustomization that installs Argo "
        "CD, and build the sidecar's image; docs/argocd.md says the rest.\n"
    )
    return 0


def _write(folder: str, texts: Mapping[str, str], *, force: bool, stderr: TextIO) -> None:
    """Writes all files, or none where one is somebody's. Raises ArchfitError."""
    try:
        there = {name: _content(os.path.join(folder, name)) for name in texts}
        other = [name for name, text in texts.items() if there[name] not in (None, text.encode())]
        if other and not force:
            raise ArchfitError(
                f"{os.path.join(folder, other[0])} is there already and differs: nothing was written. Write over it "
                "with --force, or choose another folder with --into"
            )
        changed = [name for name, text in texts.items() if there[name] != text.encode()]
        for name in changed:
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(texts[name].encode())
    except OSError as error:
        raise ArchfitError(
            f"cannot write {error.filename or folder} ({error.strerror}): choose a folder with --into"
        ) from None
    stderr.write(f"{'written' if changed else 'up to date'}: {folder}\n")


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
