"""Real documents as trees: those of the shared corpus that are small enough to fuzz many times a second."""

from pathlib import Path
from typing import Any

from yaml_judge import Judge, Refused

_FOLDERS = ("helm3", "helm4", "manifests", "crd", "krm")
_LARGEST = 3500
_WITHOUT_PODS = 8


def documents(folder: Path, judge: Judge) -> list[Any]:
    """The documents of the corpus that name an image, and some others, as kubectl reads them; in a fixed order."""
    found: list[Any] = []
    seen: set[bytes] = set()
    for name in _FOLDERS:
        for path in sorted((folder / name).glob("*.yaml")):
            podless = 0
            for text in path.read_bytes().split(b"\n---"):
                text = text.removeprefix(b"---").partition(b"\n")[2] if text[:1] not in b"\n" else text  # noqa: PLW2901
                podless += b"image" not in text
                if len(text) > _LARGEST or text in seen or (b"image" not in text and podless > _WITHOUT_PODS):
                    continue
                seen.add(text)
                try:
                    found += [one for one in judge.kubectl(text) if isinstance(one, dict)]
                except Refused:
                    continue
    return found
