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

import random
import time
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from archfit.images.candidates import NewerTags
from archfit.images.platforms import Found, parse_platform
from archfit.images.tags import version
from archfit.lookup.newer_tags import newer_tags
from fake_registry import Answer, Asked, FakeRegistry, as_json
from lookup_runs import Runs
from tagged_repositories import BOTH

ARM = [parse_platform("arm64")]
# 240 versions; arm64 from 1.20.0 on, and 1.2.0 is deployed.
VERSIONS = [f"1.{minor}.{patch}" for minor in range(40) for patch in range(6)]
FIRST = VERSIONS.index("1.20.0")
DRAWN = random.Random(7).sample(VERSIONS, len(VERSIONS))
LEXICAL = sorted(VERSIONS)


@pytest.fixture
def served(served):
    for place, tag in enumerate(VERSIONS):
        served.index("app", tag, BOTH if place >= FIRST else BOTH[:1])
    return served


def told(runs: Runs, text: str = "x.example/app:1.2.0") -> NewerTags:
    with runs.lookup() as lookup:
        answer = lookup.resolve([text])[text]
        assert isinstance(answer, Found)
        return newer_tags(lookup, {text: answer}, ARM, cluster=("amd64", "arm64"), seconds=30.0)[text]


def pages(
    fake: FakeRegistry, tags: Sequence[str], size: int, link: str, *, most: int = 0, refused: int = 0
) -> None:
    """Pages of `size` tags, or of `n` up to `most`; an `n` above `refused` is a 400.

    link: the URL of the page behind one, with its {size}, its {last} tag, or a {token} of the registry's own.
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
            opaque = quote(f"AbC+/={start + taken}", safe="")
            headers["Link"] = f'<{link.format(size=taken, last=some[-1], token=opaque)}>; rel="next"'
        return Answer(body=as_json({"name": "app", "tags": some}), headers=headers)

    fake.on(script)


def manifests(served: FakeRegistry) -> int:
    return sum(asked.kind == "manifest" for asked in served.asked)


def lists(served: FakeRegistry) -> int:
    return sum(asked.kind == "list" for asked in served.asked)


BY_LAST = "/v2/app/tags/list?last={last}&n={size}"


def _ghcr(served: FakeRegistry) -> None:
    pages(served, VERSIONS, 100, BY_LAST, most=100)


def _quay(served: FakeRegistry) -> None:
    pages(served, VERSIONS[::-1], 50, "/v2/app/tags/list?n={size}&next_page={last}", most=100)


def _ecr(served: FakeRegistry) -> None:
    pages(served, DRAWN, 100, "/v2/app/tags/list?n={size}&last={token}", most=1000, refused=1000)


def _gar(served: FakeRegistry) -> None:
    manifest = {f"sha256:{place:064x}": {"mediaType": "x", "tag": [tag]} for place, tag in enumerate(DRAWN)}
    served.tags("app", *DRAWN, manifest=manifest, child=[])


def _acr(served: FakeRegistry) -> None:
    pages(served, LEXICAL, 100, "/acr/v1/app/_tags?last={last}&n={size}&orderby=", most=100)


def _red_hat(served: FakeRegistry) -> None:
    pages(served, DRAWN, 50, "/v2/app/tags/list?last={last}&n=50")


def _harbor(served: FakeRegistry) -> None:
    pages(served, LEXICAL, 100, served.url + BY_LAST, most=1000)


def _gitlab(served: FakeRegistry) -> None:
    pages(served, LEXICAL, 100, BY_LAST, most=1000, refused=1000)


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
