"""`archfit setup argocd --check --form helm-values|operator`: do these values, or this resource, install archfit?

a way is there        its container has archfit's name
everything it needs   what a merge would add is missing; what a merge calls a conflict is wrong
plugin.yaml           by the rules of argocd-cmp-server, as in the sidecar
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from archfit.errors import ArchfitError
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.install_forms import WAYS, InstallForm, parts, read
from archfit.integrations.argocd.install_merge import Merge, NoPlace
from archfit.integrations.argocd.setup_check import faults
from archfit.integrations.check_lines import Line, write_lines
from archfit.integrations.owned_files import content_of_users_file

_CONTAINER = "archfit"
_EXAMPLE = "registry.example.com/"


def check_files(form: InstallForm, folder: str, users: str | None, stdout: BinaryIO) -> int:
    """Writes a line for each thing found; 1 if one is wrong. users: the text to check instead of folder's files."""
    return write_lines(_lines(form, folder, users), stdout)


def _lines(form: InstallForm, folder: str, users: str | None) -> Iterator[Line]:
    texts = {}
    if users is not None:
        texts = {"--merge": users}
    else:
        for way in WAYS:
            path = os.path.join(folder, way, form.file)
            content = content_of_users_file(path)
            if content is not None:
                texts[path] = content.decode(errors="replace")
    if not texts:
        yield (
            False,
            f"{folder} has no {form.file}: run archfit setup argocd --form {form.name} --into {folder}",
        )
    for path, text in texts.items():
        yield from _file(form, path, text)


def _file(form: InstallForm, path: str, text: str) -> Iterator[Line]:
    try:
        data, _ = read(text, form)
        ways = [way for way, keys in _held(form).items() if _container(data, keys)]
        if not ways:
            yield False, f"{path} has no container named {_CONTAINER}: archfit is not installed"
        for way in ways:
            wrong = [(False, line) for line in _faults(form, way, path, text)]
            yield from wrong or [(True, f"{path} has each part that archfit needs as {_WORDS[way]}")]
    except (ArchfitError, NoPlace) as error:
        yield False, f"{path}: {error}"


def _held(form: InstallForm) -> dict[str, tuple[str, ...]]:
    return dict(zip(WAYS, (form.places.containers, form.places.init_containers), strict=True))


def _faults(form: InstallForm, way: str, path: str, text: str) -> Iterator[str]:
    data, _ = read(text, form)
    manifests = setup_files.files(
        discover=False, sidecar_image=setup_files.SIDECAR_IMAGE, bundle_image=setup_files.BUNDLE_IMAGE
    )
    container = _container(data, _held(form)[way])
    image = container.get("image") if container else None
    if not isinstance(image, str) or not image or image.startswith(_EXAMPLE):
        yield f"{path}: the image of the container {_CONTAINER} is {image}: build one, and name it"
    merge = Merge(data, form.places, parts(form, way, manifests, image_given=False))
    yield from (f"{path} lacks {name}: run archfit setup argocd --merge {path}" for name in merge.added)
    yield from (f"{path}: {sentence}" for sentence in merge.conflicts)
    plugin = (((data.get("configs") or {}).get("cmp") or {}).get("plugins") or {}).get("archfit")
    if way == "sidecar" and plugin is not None:
        whole = {"kind": "ConfigManagementPlugin", "metadata": {"name": "archfit"}, "spec": plugin}
        yield from (f"{path}: configs.cmp.plugins.archfit: {fault}" for fault in faults(whole))


_WORDS = {"sidecar": "a sidecar", "build-options": "a function in repo-server"}


def _container(data: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    named = [one for one in data or [] if isinstance(one, dict) and one.get("name") == _CONTAINER]
    return named[0] if named else None
