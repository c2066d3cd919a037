"""A real registry, distribution 2.8 as Debian packages it, with images in its memory.

Hosts are prefixes of repositories, as in `registry.Registry`; the same documents make the same digests there and here.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from image_documents import image, name_of
from registry import mirrors_of, prefix_of

from real_registries import Running, distribution


class DebianRegistry:
    """A running registry that holds `images`; what is no reference, or has no platforms, is left out."""

    def __init__(self, folder: Path, images: Mapping[str, Sequence[str] | None]) -> None:
        self._folder = folder
        self._images = {text: made for text, made in images.items() if made and name_of(text)}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._running: Running = stack.enter_context(distribution(self._folder, in_memory=True))
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(self._push, *zip(*self._images.items(), strict=True)))
            self._running.forget()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """Where it listens, without a final slash."""
        return self._running.url

    def mirrors(self) -> list[str]:
        """The `--mirror` arguments for every host of its images."""
        return mirrors_of(self.url, [name for name in map(name_of, self._images) if name])

    def requests(self) -> list[tuple[str, str, int]]:
        """(method, path, status) of each request since it was seeded, from its access log."""
        return self._running.asked()

    def _push(self, reference: str, platforms: Sequence[str]) -> None:
        name = name_of(reference)
        assert name is not None
        repository = f"{prefix_of(name.host)}/{name.repository}"
        self._running.put(repository, name.tag, image(reference, platforms))
