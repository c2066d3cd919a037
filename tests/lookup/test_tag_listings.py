"""Newer tags of registries that list in the manner of the ones people use: order, page size, Link, refusals, lies.

ghcr        the oldest first, 100 on a page, Link with `last`
quay        the newest first, Link with a token of its own
ecr         any order, Link with an opaque token, at most 1,000, 400 for more
gar         all in one answer, with the media types of manifests
acr         lexical, Link to a path of its own that clients cannot ask
red hat     50 on a page whatever is asked, any order
harbor      lexical, Link as an absolute URL
gitlab      lexical, `n` of its own
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from archfit.images.platforms import Found, parse_platform
from archfit.images.tags import version
from archfit.lookup.newer_tags import newer_tags
from fake_registry import Answer, Asked, FakeRegistry, as_json
from lookup_runs import Runs
from tagged_repositories import BOTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from archfit.images.candidates import NewerTags

ARM = [parse_platform("arm64")]
# 240 versions; arm64 from 1.20.0 on, and 1.2.0 is deployed.
VERSIONS = [f"1.{minor}.{patch}" for minor in range(40) for patch in range(6)]
FIRST = VERSIONS.index("1.20.0")
DRAWN = random.Random(7).sample(VERSIONS, len(VERSIONS))
LEXICAL = sorted(VERSIONS)


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        for place, tag in enumerate(VERSIONS):
            fake.index("app", tag, BOTH if place >= FIRST else BOTH[:1])
        yield fake


@pytest.fixture
def runs(tmp_path, served):
    return Runs(tmp_path, served.url)


def told(runs: Runs, text: str = "x.example/app:1.2.0") -> NewerTags:
    with runs.lookup() as lookup:
        answer = lookup.resolve([text])[text]
        assert isinstance(answer, Found)
        return newer_tags(lookup, {text: answer}, ARM, cluster=("amd64", "arm64"), seconds=30.0)[text]


def pages(
    served: FakeRegistry,
    tags: Sequence[str],
    size: int,
    *,
    most: int = 0,
    link: Callable[[int, int], str],
    refused: int = 0,
    **more: Any,
) -> None:
    """Pages of `size` tags, or of `n` up to `most`. link: the URL of the page from a place on, with its size.

    refused: an `n` above it is a 400.
    """

    def script(asked: Asked) -> Answer | None:
        if asked.kind != "list":
            return None
        query = {key: values[0] for key, values in asked.query.items()}
        wanted = int(query.get("n", size))
        if refused and wanted > refused:
            return Answer(400, as_json({"errors": [{"code": "PAGINATION_NUMBER_INVALID"}]}))
        taken = min(wanted, most) if most else size
        token = query.get("next_page") or query.get("last") or ""
        if token and token not in tags and "+/=" not in token:
            return Answer(400)
        start = tags.index(token) + 1 if token in tags else int(token.rpartition("+/=")[2] or 0)
        some = list(tags[start : start + taken])
        headers = {}
        if start + taken < len(tags):
            headers["Link"] = f'<{link(start + taken, taken)}>; rel="next"'
        return Answer(body=as_json({"name": "app", "tags": some, **more}), headers=headers)

    served.on(script)


def by_last(tags: Sequence[str], head: str = "") -> Callable[[int, int], str]:
    return lambda place, size: f"{head}/v2/app/tags/list?last={tags[place - 1]}&n={size}"


def opaque(place: int) -> str:
    return quote(f"AbC+/={place}", safe="")


def manifests(served: FakeRegistry) -> int:
    return sum(asked.kind == "manifest" for asked in served.asked)


def lists(served: FakeRegistry) -> int:
    return sum(asked.kind == "list" for asked in served.asked)


def _ghcr(served: FakeRegistry) -> None:
    pages(served, VERSIONS, 100, most=100, link=by_last(VERSIONS))


def _quay(served: FakeRegistry) -> None:
    newest = VERSIONS[::-1]
    pages(
        served,
        newest,
        50,
        most=100,
        link=lambda place, size: f"/v2/app/tags/list?n={size}&next_page={newest[place - 1]}",
    )


def _ecr(served: FakeRegistry) -> None:
    pages(
        served,
        DRAWN,
        100,
        most=1000,
        refused=1000,
        link=lambda place, size: f"/v2/app/tags/list?n={size}&last={opaque(place)}",
    )


def _gar(served: FakeRegistry) -> None:
    manifest = {f"sha256:{place:064x}": {"mediaType": "x", "tag": [tag]} for place, tag in enumerate(DRAWN)}
    served.tags("app", *DRAWN, manifest=manifest, child=[])


def _acr(served: FakeRegistry) -> None:
    pages(
        served,
        LEXICAL,
        100,
        most=100,
        link=lambda place, size: f"/acr/v1/app/_tags?last={LEXICAL[place - 1]}&n={size}&orderby=",
    )


def _red_hat(served: FakeRegistry) -> None:
    pages(served, DRAWN, 50, link=lambda place, _size: f"/v2/app/tags/list?last={DRAWN[place - 1]}&n=50")


def _harbor(served: FakeRegistry) -> None:
    pages(served, LEXICAL, 100, most=1000, link=by_last(LEXICAL, served.url))


def _gitlab(served: FakeRegistry) -> None:
    pages(served, LEXICAL, 100, most=1000, refused=1000, link=by_last(LEXICAL))


MANNERS = [
    pytest.param(_ghcr, 3, id="ghcr"),
    pytest.param(_quay, 3, id="quay"),
    pytest.param(_ecr, 2, id="ecr"),
    pytest.param(_gar, 1, id="gar"),
    pytest.param(_acr, 3, id="acr"),
    pytest.param(_red_hat, 5, id="red-hat"),
    pytest.param(_harbor, 2, id="harbor"),
    pytest.param(_gitlab, 2, id="gitlab"),
]


@pytest.mark.parametrize(("manner", "asked"), MANNERS)
def test_the_smallest_upgrade_in_the_manner_of(runs, served, manner, asked):
    manner(served)
    runs.ask("x.example/app:1.2.0")
    served.forget()
    newer = told(runs)
    (tag,) = newer.tags
    assert newer.read == "complete"
    assert (tag.step, tag.platforms) == ("minor", tuple(BOTH))
    assert VERSIONS.index(tag.tag) >= FIRST
    assert tag.exact == (tag.tag == VERSIONS[FIRST])
    assert lists(served) == asked
    assert manifests(served) <= 6


@pytest.mark.parametrize(("manner", "_asked"), [one for one in MANNERS if one.values[1] > 1])
@pytest.mark.parametrize("status", [403, 429])
def test_a_refusal_past_a_page_keeps_what_came_before(runs, served, manner, _asked, status):
    manner(served)
    runs.ask("x.example/app:1.2.0")

    def refuse(asked: Asked) -> Answer | None:
        return Answer(status) if asked.kind == "list" and asked.query else None

    served.on(refuse)
    newer = told(runs)
    assert newer.read == "partial"
    assert newer.why
    for tag in newer.tags:
        assert not tag.exact
        assert VERSIONS.index(tag.tag) >= FIRST
    if not newer.tags:
        assert newer.advice.startswith("none of the tags that were read has it: ")


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429, 500])
def test_a_registry_that_refuses_lists_is_asked_for_two_tags_at_most(runs, served, status):
    served.on(lambda asked: Answer(status) if asked.kind == "list" else None)
    runs.ask("x.example/app:1.2.0")
    served.forget()
    newer = told(runs)
    assert (newer.tags, newer.read) == ((), "no")
    assert manifests(served) <= 2


def test_a_list_that_repeats_each_tag_costs_no_more(runs, served):
    served.tags("app", *VERSIONS, *VERSIONS, *VERSIONS)
    once = told(runs)
    assert VERSIONS.index(once.tags[0].tag) >= FIRST
    assert manifests(served) <= 7


def test_a_list_of_tags_that_do_not_exist_names_none_of_them(runs, served):
    served.tags("app", "1.2.0", *(f"1.{minor}.9" for minor in range(3, 60)))
    newer = told(runs)
    assert newer.tags == ()
    assert newer.read == "partial"
    assert manifests(served) <= 7


def test_tags_that_are_no_versions_lead_nowhere(runs, served):
    odd = [
        "main",
        "nightly",
        "pr-17",
        "5f3c2a1",
        "v",
        "_",
        "1",
        "1..2",
        "2024",
        "x" * 128,
        "1.2.0.",
        "1.2.0-",
    ]
    served.tags("app", "1.2.0", *odd)
    newer = told(runs)
    assert (newer.tags, newer.read) == ((), "complete")


@pytest.mark.load
@pytest.mark.parametrize(
    "tags",
    [
        pytest.param([f"1.{minor}.0" for minor in range(100_000)], id="versions"),
        pytest.param([f"{number:040x}" for number in range(80_000)], id="commits"),
        pytest.param(["1.2.0-" + f"{number}-" * 24 for number in range(30_000)], id="long-suffixes"),
    ],
)
def test_many_tags_take_little_time_and_six_manifests(runs, served, tags):
    served.tags("app", "1.2.0", *tags)
    runs.ask("x.example/app:1.2.0")
    served.forget()
    before = time.process_time()
    told(runs)
    assert time.process_time() - before < 20
    assert manifests(served) <= 6


@pytest.mark.load
@pytest.mark.parametrize(
    "text",
    ["1." * 64, "1-" * 64, "a-" * 64, "0" * 128, "1.2.3-" + "rc" * 61, "g" * 128, "1.1.1-" + "a1" * 61],
)
def test_no_tag_takes_long_to_read(text):
    before = time.process_time()
    for _ in range(1000):
        version(text)
    assert time.process_time() - before < 5
