"""`archfit setup flux [--into DIR] [--helmrelease] [--check]`: what archfit changes, as patches for an object of Flux.

    manifests on stdin ─ `archfit patch` ─ DIR/archfit-flux.yaml

A file that archfit did not write is never replaced. --check writes nothing; exit 3 where it is missing or differs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import BinaryIO, TextIO

from archfit.base.errors import UsageError
from archfit.cli.setup.owned_files import File, content_of_users_file, remove_files, write_files
from archfit.cli.usage.command_table import BY_NAME
from archfit.cli.usage.general_flags import quiet_and_color
from archfit.patch.command import patch

FILE = "archfit-flux.yaml"
_HEAD = b"# Written by `archfit patch`"


def set_up_flux(argv: Sequence[str], stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup flux`. The exit code; raises ArchfitError."""
    quiet, when = quiet_and_color(argv, environ)
    given = BY_NAME["setup flux"].flags_alone(argv)
    if given.remove:
        stderr.write(
            remove_files(given.into, {FILE: ""}, "flux", lambda _path, content: content.startswith(_HEAD))
            + "Now: take its lines out of the Kustomization or HelmRelease that you pasted them into\n"
        )
        return 0
    if stdin.isatty():
        raise UsageError(
            "standard input is a terminal: pipe manifests in, as in kustomize build . | archfit setup flux"
        )
    patches = BytesIO()
    form = "flux-helmrelease" if given.helmrelease else "flux-kustomization"
    flags = ["--format", form, "--color", when, *(["--quiet"] if quiet else [])]
    flags += [] if given.config is None else ["--config", given.config]
    code = patch(flags, stdin, patches, stderr, environ)
    if code:
        return code
    path = os.path.join(given.into, FILE)
    there = content_of_users_file(path)
    if there == patches.getvalue():
        stderr.write(f"up to date: {path}\n")
        return 0
    if given.check:
        state = "is missing" if there is None else "belongs to other manifests or images"
        stderr.write(f"wrong: {path} {state}: run `archfit setup flux` and paste its patches again\n")
        return 3
    write_files(given.into, {FILE: File(patches.getvalue())}, _refusal)
    what = "HelmRelease" if given.helmrelease else "Kustomization (kustomize.toolkit.fluxcd.io)"
    stderr.write(
        f"written: {path}\nNow: paste its lines into the {what}; run this again when images change\n"
    )
    return 0


def _refusal(path: str, content: bytes) -> str:
    if content.startswith(_HEAD):
        return ""
    return (
        f"{path} was not written by archfit: nothing was written. Move it away, or name another directory with "
        "--into"
    )
