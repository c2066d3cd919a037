"""`archfit setup argocd [--into DIR] [--discover] [--image NAME] [--bundle-image NAME] [--check]`.

    --into DIR    writes two Kustomize components for Argo CD's own kustomization, see setup_files
    --check       checks an installation, in the sidecar or in DIR; see setup_check

Where a file is there already and differs, nothing is written: it may hold somebody's work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.errors import UsageError
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.setup_check import check
from archfit.integrations.owned_files import File, write_files
from archfit.options.arguments import Parser, help_or_version

HELP = f"""\
usage: archfit setup argocd [--into DIR] [--discover] [--image NAME] [--bundle-image NAME] [--force]
       archfit setup argocd --check [--into DIR]

Writes two Kustomize components that add archfit to Argo CD: sidecar/ (a config management plugin for Helm, Kustomize
and plain files) and build-options/ (a function that `kustomize build` in repo-server starts).

  --into DIR            Write there; default: argocd-archfit.
  --discover            Let the plugin find applications itself; else they ask for it: `plugin: {{name: archfit}}`.
  --image NAME          The sidecar's image; default: {setup_files.SIDECAR_IMAGE}.
  --bundle-image NAME   The init container's image; default: {setup_files.BUNDLE_IMAGE}.
  --force               Write over files that differ.
  --check               Write nothing; say what is wrong with an installation. Run it in the sidecar:
                        kubectl exec -n argocd deploy/argocd-repo-server -c archfit -- archfit setup argocd --check
  -h, --help            Show this help.
"""
_DEFAULT = "argocd-archfit"
_DIFFERS = "is there already and differs: nothing was written. Replace it with --force, or write elsewhere with --into"


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup argocd`. The exit code; raises ArchfitError."""
    if help_or_version(argv) == "help":
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
    folder = found.into or _DEFAULT
    texts = setup_files.files(
        discover=found.discover,
        sidecar_image=found.image or setup_files.SIDECAR_IMAGE,
        bundle_image=found.bundle_image or setup_files.BUNDLE_IMAGE,
    )
    changed = write_files(
        folder,
        {name: File(text.encode()) for name, text in texts.items()},
        lambda path, _content: "" if found.force else f"{path} {_DIFFERS}",
    )
    stderr.write(f"{'written' if changed else 'up to date'}: {folder}\n")
    stderr.write(
        f"Now add the line `components: [{os.path.join(folder, 'sidecar')}]` to the kustomization that installs Argo "
        "CD, and build the sidecar's image: see docs/argocd.md.\n"
    )
    return 0
