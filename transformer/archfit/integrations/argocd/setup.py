"""`archfit setup argocd [--into DIR] [--discover] [--image NAME] .. [--check]`: Kustomize components, see setup_files.

    --check        checks an installation, in the sidecar or in DIR; see setup_check

Where a file is there already and differs, nothing is written: it may hold somebody's work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base.documentation import place
from archfit.base.errors import UnknownFlag, UsageError
from archfit.cli.setup.owned_files import remove_files, write_texts
from archfit.cli.usage.command_table import BY_NAME
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.setup_check import check

_DEFAULT = "argocd-archfit"
_REMOVED = ("--form", "--merge")


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup argocd`. The exit code; raises ArchfitError."""
    try:
        flags, words = BY_NAME["setup argocd"].parser().read(argv)
    except UnknownFlag as error:
        if error.flag in _REMOVED:
            raise UsageError(
                f"{error.flag}: archfit setup argocd writes Kustomize components only: what to add to your Helm values "
                f"or your ArgoCD resource is in {place('argocd', 'with-the-helm-chart-or-the-operator')}"
            ) from None
        raise
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup argocd --help")
    for flag, value in (
        ("--into", flags.into),
        ("--image", flags.image),
        ("--bundle-image", flags.bundle_image),
    ):
        if value is not None and (not value or value.split() != [value]):
            raise UsageError(
                f"{flag}: {value!r} cannot be used: write it without blanks, or leave the flag out"
            )
    if flags.check:
        return check(flags.into, stdout, environ)
    folder = flags.into or _DEFAULT
    texts = setup_files.files(
        discover=flags.discover,
        sidecar_image=flags.image or setup_files.SIDECAR_IMAGE,
        bundle_image=flags.bundle_image or setup_files.BUNDLE_IMAGE,
    )
    if flags.remove:
        stderr.write(remove_files(folder, texts, "argocd"))
        return 0
    stderr.write(f"{write_texts(folder, texts, force=flags.force)}\n")
    # Kustomize refuses absolute paths.
    beside, name = os.path.split(folder.rstrip("/")) if os.path.isabs(folder) else ("", folder)
    stderr.write(
        f"Now add the line `components: [{os.path.join(name, 'sidecar')}]` to the kustomization that installs Argo "
        f"CD{f', in {beside}' if beside else ''}, and build the sidecar's image: see {place('argocd')}\n"
    )
    return 0
