"""One flight per image: the order of claims, waits and requests, with a clock that only tests turn."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from archfit.images.platforms import Absent, Answer, Found, Platform
from archfit.images.reference import Reference, parse
from archfit.lookup.cache import LookupCache
from archfit.lookup.entries import OwnKeys
from archfit.lookup.registry_lookup import LEASE_SECONDS, single_flight
from archfit.lookup.scoped_keys import ScopedKeys
from archfit.lookup.store.sqlite import SqliteStore
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.lookup_context import Deadline, LookupContext
from archfit.registry.routing.routes import Routes

IMAGES = [parse(f"x.io/i{number}:1") for number in range(3)]
NAMES = [image.normalised for image in IMAGES]
FOUND = Found((Platform("linux", "amd64"),), "sha256:" + "a" * 64)


class World:
    """A clock, and processes that share a file. `whenever`: what happens at the next waits."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.now = 1000.0
        self.waits: list[float] = []
        self.whenever: list[Callable[[], object]] = []
        self.asked: list[list[str]] = []
        self.processes: list[LookupCache] = []

    def process(self) -> LookupCache:
        cache = LookupCache(SqliteStore(self.path, lambda: self.now), OwnKeys(), 3600, self.complain)
        self.processes.append(cache)
        return cache

    def close(self) -> None:
        for process in self.processes:
            process.close()

    def complain(self, message: str) -> None:
        raise AssertionError(message)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        if self.whenever:
            self.whenever.pop(0)()

    def ask_together(
        self, cache: LookupCache, answer: Answer = FOUND, seconds: float = 30.0
    ) -> dict[str, Answer]:
        def ask(some: Sequence[Reference]) -> dict[str, Answer]:
            self.asked.append([image.normalised for image in some])
            if isinstance(answer, Found):
                cache.write([(image, answer, None, False) for image in some], {}, int(self.now))
            return dict.fromkeys((image.normalised for image in some), answer)

        return single_flight(
            IMAGES,
            cache,
            lambda some, since: {**cache.read(some, self.now, since=since)[0]},
            ask,
            self.context(seconds),
        )

    def context(self, seconds: float) -> LookupContext:
        deadline = Deadline(lambda: self.now)
        deadline.start(seconds)
        return LookupContext({}, lambda: self.now, self.wait, None, False, deadline)


@pytest.fixture
def world(tmp_path):
    with closing(World(str(tmp_path / "lookups.sqlite"))) as made:
        yield made


def test_alone_everything_is_asked_at_once_and_nobody_waits(world):
    assert world.ask_together(world.process()) == dict.fromkeys(NAMES, FOUND)
    assert (world.asked, world.waits) == ([NAMES], [])
    assert world.process().claim(IMAGES, 1) == set(NAMES)


def test_what_another_asks_for_is_waited_for(world):
    other = world.process()
    assert other.claim(IMAGES[:2], 10) == set(NAMES[:2])

    def finish() -> None:
        other.write([(image, FOUND, None, False) for image in IMAGES[:2]], {}, int(world.now))
        other.release(IMAGES[:2])

    world.whenever = [lambda: None, finish]
    answers = world.ask_together(world.process())
    assert world.asked == [NAMES[2:]]
    assert world.waits == [0.05, 0.1]
    cached = FOUND.replace(origin="cache")
    assert answers == {NAMES[0]: cached, NAMES[1]: cached, NAMES[2]: FOUND}


def test_what_another_could_not_find_out_is_asked_again(world):
    other = world.process()
    other.claim(IMAGES, 10)
    world.whenever = [lambda: other.release(IMAGES)]
    assert world.ask_together(world.process(), Absent("gone")) == dict.fromkeys(NAMES, Absent("gone"))
    assert world.asked == [NAMES]
    assert len(world.waits) == 1


def test_one_that_died_costs_its_lease_and_no_more(world):
    world.process().claim(IMAGES, LEASE_SECONDS)
    assert world.ask_together(world.process()) == dict.fromkeys(NAMES, FOUND)
    assert LEASE_SECONDS <= sum(world.waits) <= LEASE_SECONDS + 0.4
    assert max(world.waits) == 0.4
    assert len(world.waits) < 30


def test_the_wait_is_never_more_than_half_of_the_time(world):
    world.process().claim(IMAGES, 59)
    assert world.ask_together(world.process(), seconds=6.0) == dict.fromkeys(NAMES, FOUND)
    assert sum(world.waits) == pytest.approx(3.0)
    assert world.asked == [NAMES]


def test_a_wait_that_takes_longer_than_it_should_ends_in_time_too(world):
    world.process().claim(IMAGES, 59)
    world.whenever = [lambda: setattr(world, "now", world.now + 4)]
    world.ask_together(world.process(), seconds=6.0)
    assert len(world.waits) == 1


def test_an_answer_that_came_between_reading_and_claiming_is_not_asked_for(world):
    other = world.process()
    other.write([(image, FOUND, None, False) for image in IMAGES], {}, int(world.now))
    assert world.ask_together(world.process()) == dict.fromkeys(NAMES, FOUND.replace(origin="cache"))
    assert world.asked == []
    assert other.claim(IMAGES, 1) == set(NAMES)


def test_claims_end_when_asking_fails(world):
    cache = world.process()

    def ask(_: Sequence[Reference]) -> dict[str, Answer]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        single_flight(IMAGES, cache, lambda _some, _since: {}, ask, world.context(30.0))
    assert world.process().claim(IMAGES, 1) == set(NAMES)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"owner": "x", "until": 9e99}', '{"owner": 5, "until": "soon"}']
)
def test_rubbish_is_no_claim(world, text):
    store = SqliteStore(world.path, lambda: world.now)
    store.put_many({f"claim:tag:{name}": text for name in NAMES})
    store.close()
    assert world.ask_together(world.process()) == dict.fromkeys(NAMES, FOUND)
    assert world.waits == []


def test_a_claim_of_another_is_not_released(world):
    one, two = world.process(), world.process()
    assert one.claim(IMAGES[:1], 10) == set(NAMES[:1])
    two.release(IMAGES[:1])
    assert two.claim(IMAGES[:1], 10) == set()
    world.now += 11
    assert two.claim(IMAGES[:1], 10) == set(NAMES[:1])
    one.release(IMAGES[:1])
    assert one.claim(IMAGES[:1], 10) == set()


def process_with_helper(folder: Path) -> tuple[LookupCache, Keychain]:
    """A process that shares the cache and has a credential helper for the registry."""
    helper = folder / "docker-credential-one"
    answer = json.dumps({"Username": "robot", "Secret": "hush"})
    helper.write_text(f"#!{sys.executable} -S\nimport sys\nsys.stdin.read()\nprint({answer!r})\n")
    helper.chmod(0o700)
    (folder / "auth.json").write_text(json.dumps({"credHelpers": {"x.io": "one"}}))
    keychain = Keychain(str(folder / "auth.json"), {"PATH": str(folder)})
    keys = ScopedKeys(Routes(Operator()), keychain)
    return LookupCache(SqliteStore(str(folder / "cache"), lambda: 1000.0), keys, 3600, print), keychain


def test_a_claim_ends_where_a_credential_helper_has_answered_in_between(tmp_path):
    first, keychain = process_with_helper(tmp_path)
    other, _ = process_with_helper(tmp_path)
    with closing(first), closing(other):
        assert first.claim(IMAGES[:1], 10) == {NAMES[0]}
        assert other.claim(IMAGES[:1], 10) == set()
        assert keychain.find("x.io", "i0") is not None
        first.release(IMAGES[:1])
        assert other.claim(IMAGES[:1], 10) == {NAMES[0]}
