"""A lookup as a run makes it: a cache of its own, a clock that tests turn, waits that are only written down."""

import base64
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep, time
from typing import Any

from archfit.images.platforms import Absent, Answer, Found, ImagePlatforms, Unknown
from archfit.images.reference import parse
from archfit.images.tag_list import TagList
from archfit.lookup.lockfile import Lock
from archfit.lookup.lookup import Lookup
from archfit.lookup.newer_tags import tag_lists
from archfit.options.hosts import cache_path, host_pattern, mirror
from archfit.options.settings import Operator, Options
from archfit.registry.lookup_context import Deadline, LookupContext


def lookup_with(
    operator: Operator, options: Options | None = None, *, lock: Lock | None = None, **context: Any
) -> Lookup:
    """A lookup that is not opened. context: what differs from the usual one."""
    usual = LookupContext({}, time, sleep, None, named_hosts_only=False, deadline=Deadline())
    return Lookup(operator, options or Options(), usual.replace(**context), lock=lock)


class Runs:
    """Runs that share a cache. `url`: where every registry's lookups go."""

    def __init__(self, folder: Path, url: str, **environ: str) -> None:
        self.folder = folder
        self.operator = Operator(
            mirrors=(mirror("*", url),) if url else (), cache=str(folder / "lookups.sqlite")
        )
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"], **environ}
        self.now = 1_767_225_600.0
        self.waits: list[float] = []
        self.messages: list[str] = []
        self.requests: dict[str, int] = {}
        self.pulls_left: dict[str, str] = {}
        self.progress: Callable[[int, int, str], None] | None = None
        self.overrides: tuple[ImagePlatforms, ...] = ()

    def set(self, **changes: Any) -> None:
        """Other options of the operator. Servers and the cache may be text, as a flag has them."""
        if "cache" in changes:
            changes["cache"] = cache_path(changes["cache"])
        for option in ("allow_hosts", "deny_hosts"):
            if option in changes:
                changes[option] = tuple(host_pattern(text, every=True) for text in changes[option])
        self.operator = self.operator.replace(**changes)

    def also(self, source: str, url: str) -> None:
        """One more mirror; it also makes its server one that the operator named."""
        self.set(mirrors=(*self.operator.mirrors, mirror(source, url)))

    def login(self, host: str, user: str = "user", password: str = "hush", **more: str) -> None:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        path = self.folder / "auth.json"
        known = json.loads(path.read_text())["auths"] if path.exists() else {}
        path.write_text(json.dumps({"auths": {**known, host: more or {"auth": pair}}}))
        self.set(authfile=str(path))

    def ask(self, *texts: str) -> dict[str, Answer]:
        """One run, as a process of its own would make it."""
        with self.lookup() as lookup:
            return lookup.resolve(texts)

    def list(self, text: str, *, seconds: float = 30.0) -> TagList:
        """The tags of an image's repository, as a process of its own would read them."""
        reference = parse(text)
        with self.lookup() as lookup:
            return tag_lists(lookup, [reference], seconds=seconds)[reference.name]

    @contextmanager
    def lookup(self) -> Iterator[Lookup]:
        """The lookup of one run."""
        lookup = lookup_with(
            self.operator,
            Options(image_platforms=self.overrides),
            environ=self.environ,
            clock=lambda: self.now,
            wait=self.waits.append,
            progress=self.progress,
        )
        lookup.open()
        try:
            yield lookup
        finally:
            self.messages, self.requests, self.pulls_left = (
                lookup.warnings,
                lookup.requests,
                lookup.pulls_left,
            )
            lookup.close()

    def found(self, text: str) -> Found:
        answer = self.ask(text)[text]
        assert isinstance(answer, Found), answer
        return answer

    def names(self, text: str) -> Sequence[str]:
        return [str(platform) for platform in self.found(text).platforms]

    def cause(self, text: str) -> str:
        """Why the answer is Unknown."""
        answer = self.ask(text)[text]
        assert isinstance(answer, Unknown), answer
        return answer.cause

    def absent(self, text: str) -> str:
        answer = self.ask(text)[text]
        assert isinstance(answer, Absent), answer
        return answer.cause

    def later(self, seconds: float) -> None:
        self.now += seconds
