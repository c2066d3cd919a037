"""`archfit setup argocd [--form FORM] [--merge FILE|-] [--into DIR] [--discover] [--image NAME] .. [--check]`.

    manifests      two Kustomize components for Argo CD's own kustomization, see setup_files
    helm-values    values of the argo-helm chart             } see install_forms
    operator       an ArgoCD resource, with a ConfigMap      }

    --merge FILE   what the user has: values, an ArgoCD resource, or Argo CD's manifests. It is merged, never replaced
    --check        checks an installation, in the sidecar or in DIR; see setup_check and install_check

Where a file is there already and differs, nothing is written: it may hold somebody's work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.documentation import page
from archfit.errors import ArchfitError, UsageError
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.install_check import check_files
from archfit.integrations.argocd.install_forms import FORMS, WAYS, InstallForm, make, operator_config_map
from archfit.integrations.argocd.live_manifests import Current, current
from archfit.integrations.argocd.setup_check import check
from archfit.integrations.owned_files import content_of_users_file, write_texts
from archfit.spelling import refused
from archfit.typing_names import Any
from archfit.usage.command_table import BY_NAME

_DEFAULT = "argocd-archfit"
_MANIFESTS = "manifests"
_COPIED = {
    "application.yaml": "sidecar/application.yaml",
    "archfit-function.yaml": "build-options/archfit-function.yaml",
}


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after the words `setup argocd`. The exit code; raises ArchfitError."""
    found, words = BY_NAME["setup argocd"].parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup argocd --help")
    for flag, value in (
        ("--into", found.into),
        ("--merge", found.merge),
        ("--image", found.image),
        ("--bundle-image", found.bundle_image),
    ):
        if value is not None and (not value or value.split() != [value]):
            raise UsageError(
                f"{flag}: {value!r} cannot be used: write it without blanks, or leave the flag out"
            )
    if found.form not in (_MANIFESTS, *FORMS):
        raise UsageError(f"--form: {refused(found.form, (_MANIFESTS, *FORMS))}")
    form = FORMS.get(found.form)
    if found.check and form:
        return check_files(form, found.into or _DEFAULT, _users(found.merge, stdin), stdout)
    if found.check:
        return check(found.into, stdout, environ)
    folder = found.into or _DEFAULT
    if form:
        return _write_form(form, folder, found, stdin, stderr)
    there = current(_users(found.merge, stdin) or "") if found.merge else Current()
    stderr.write(f"{write_texts(folder, _manifests(found, there), force=found.force)}\n")
    for key in there.more_options:
        stderr.write(f"note: argocd-cm has {key}, too: add {setup_files.NEEDED_FLAGS} there yourself\n")
    stderr.write(
        f"Now add the line `components: [{os.path.join(folder, 'sidecar')}]` to the kustomization that installs Argo "
        f"CD, and build the sidecar's image: see {page('argocd')}\n"
    )
    return 0


def _manifests(found: Any, there: Current) -> dict[str, str]:
    return setup_files.files(
        discover=found.discover,
        sidecar_image=found.image or setup_files.SIDECAR_IMAGE,
        bundle_image=found.bundle_image or setup_files.BUNDLE_IMAGE,
        options=there.options,
        path=there.path,
    )


def _users(name: str | None, stdin: BinaryIO) -> str | None:
    """The text of the user's file. Raises ArchfitError."""
    if name is None:
        return None
    if name == "-":
        if stdin.isatty():
            raise UsageError("--merge -: standard input is a terminal: pipe the file in, or name it")
        content: bytes | None = stdin.read()
    else:
        content = content_of_users_file(name)
    if content is None:
        raise UsageError(f"--merge: there is no file {name}")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ArchfitError(f"{name} cannot be read: it is not UTF-8") from None


def _write_form(form: InstallForm, folder: str, found: Any, stdin: BinaryIO, stderr: TextIO) -> int:
    """Writes one form's files; a way with a conflict is left out, and the exit code is 1."""
    users = _users(found.merge, stdin)
    manifests = _manifests(found, Current())
    images = {"sidecar": found.image, "build-options": found.bundle_image}
    texts = {name: manifests[path] for name, path in _COPIED.items()}
    lines: list[str] = []
    code = 0
    for way in WAYS:
        made = make(form, way, manifests, users, image_given=bool(images[way]), force=found.force)
        path = f"{way}/{form.file}"
        lines += [f"{os.path.join(folder, path)}: added {name}" for name in made.added if users is not None]
        lines += [f"note: {os.path.join(folder, path)}: {sentence}" for sentence in made.kept]
        if made.conflicts:
            code = 1
            lines += [f"error: {os.path.join(folder, path)} is not written: {one}" for one in made.conflicts]
            continue
        texts[path] = made.text
        texts[f"{way}/Dockerfile"] = manifests[f"{way}/Dockerfile"]
        if form.kind:
            texts |= operator_config_map(way, manifests)
    stderr.write(f"{write_texts(folder, texts, force=found.force)}\n")
    stderr.write("".join(f"{line}\n" for line in lines))
    stderr.write(f"Now build the image of one of {folder}/{{{','.join(WAYS)}}}, and apply its files: ")
    stderr.write(f"see {page('argocd')}\n")
    return code
