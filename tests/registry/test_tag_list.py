"""Lists of tags: what is read of each way in which registries give them, and what is said of it."""

import json
import socket
from bisect import bisect
from collections.abc import Callable, Sequence

import pytest

from archfit.images.platforms import parse_platform
from archfit.images.tag_list import TagList
from archfit.options.hosts import request_rate
from archfit.registry import tag_list
from archfit.registry.http.connections import ConnectionPool, Way
from archfit.registry.http.proxies import proxy_for
from archfit.registry.http.request import Reply
from archfit.registry.quirks import quirk_of
from archfit.registry.registry_errors import InvalidManifest, RegistryError
from fake_registry import Answer, Asked, FakeRegistry, as_json
from socket_server import SocketServer

DAY = 86400


def queries(fake: FakeRegistry) -> list[str]:
    """What was asked of lists, after the path."""
    return [asked.path.partition("/tags/list")[2] for asked in fake.asked if asked.kind == "list"]


def paged(
    fake: FakeRegistry,
    tags: Sequence[str],
    *,
    page: int,
    most: int = 10_000,
    link: bool = True,
    absolute: str = "",
) -> None:
    """A registry that gives pages of `page` tags, or of `n` up to `most`."""

    def script(asked: Asked) -> Answer | None:
        if asked.kind != "list":
            return None
        size = min(int(asked.query.get("n", [str(page)])[0]), most)
        last = asked.query.get("last", [""])[0]
        start = tags.index(last) + 1 if last in tags else 0
        some = tags[start : start + size]
        headers = {}
        if link and start + size < len(tags):
            headers["Link"] = f'<{absolute}/v2/app/tags/list?last={some[-1]}&n={size}>; rel="next"'
        return Answer(body=as_json({"name": "app", "tags": list(some)}), headers=headers)

    fake.on(script)


def versions(count: int) -> list[str]:
    return [f"1.{number}.0" for number in range(count)]


class TestPages:
    def test_all_tags_in_one_answer_take_one_request_without_n(self, runs, fake):
        fake.tags("app", "1.0", "latest", "1.1")
        assert runs.list("x.example/app:1.0") == TagList(("1.0", "latest", "1.1"), "complete")
        assert queries(fake) == [""]
        assert runs.requests == {"list": 1}

    def test_link_is_followed_with_a_larger_n(self, runs, fake):
        paged(fake, versions(700), page=100)
        assert runs.list("x.example/app:1") == TagList(tuple(versions(700)), "complete")
        assert queries(fake) == ["", "?last=1.99.0&n=1000"]

    def test_a_server_with_small_pages_only(self, runs, fake):
        """Red Hat's registry gives 50 at a time, whatever is asked."""
        paged(fake, versions(500), page=50, most=50)
        listed = runs.list("x.example/app:1")
        assert (len(listed.tags), listed.read) == (300, "partial")
        assert listed.why == "300 tags were read, and there are more"
        assert len(queries(fake)) == tag_list.MAX_PAGES

    @pytest.mark.parametrize("status", [400, 413])
    def test_a_larger_n_that_is_refused(self, runs, fake, status):
        paged(fake, versions(120), page=100)
        fake.on(lambda asked: Answer(status) if "n=1000" in asked.path else None)
        assert runs.list("x.example/app:1") == TagList(tuple(versions(120)), "complete")
        assert queries(fake) == ["", "?last=1.99.0&n=1000", "?last=1.99.0&n=100"]

    def test_a_full_page_without_link_is_followed_by_last(self, runs, fake):
        """As go-containerregistry's registry does."""
        paged(fake, versions(1100), page=100, link=False)
        assert runs.list("x.example/app:1") == TagList(tuple(versions(1100)), "complete")
        assert queries(fake) == ["", "?n=1000&last=1.99.0", "?n=1000&last=1.1099.0"]

    def test_a_server_that_ignores_last_repeats_itself_once(self, runs, fake):
        fake.tags("app", *versions(100))
        assert runs.list("x.example/app:1") == TagList(tuple(versions(100)), "complete")
        assert queries(fake) == ["", "?n=1000&last=1.99.0"]

    def test_pages_that_repeat_for_ever_end(self, runs, fake):
        body = as_json({"tags": ["1.0"]})
        fake.on(
            lambda asked: (
                Answer(body=body, headers={"Link": '</v2/app/tags/list?last=1.0>; rel="next"'})
                if asked.kind == "list"
                else None
            )
        )
        assert runs.list("x.example/app:1") == TagList(("1.0",), "partial", "its pages repeat")
        assert len(queries(fake)) == 2

    def test_null_is_an_empty_list(self, runs, fake):
        fake.tags("app", tags=None)
        assert runs.list("x.example/app:1") == TagList((), "complete")

    def test_what_is_no_tag_is_dropped(self, runs, fake):
        fake.tags("app", "1.0", "../../x", tags=["1.0", 7, None, {"a": 1}, "../x", "a b", "-x", "x" * 129])
        listed = runs.list("x.example/app:1")
        assert listed == TagList(("1.0",), "partial", "entries of its list are no tags")

    def test_names_that_no_tag_can_have_are_left_out(self, runs, fake):
        fake.tags("app", "1.0", tags=["1.0", "../x", "a b", "-x", "x" * 129])
        assert runs.list("x.example/app:1") == TagList(("1.0",), "complete")

    def test_a_hundred_thousand_tags(self, runs, fake):
        fake.tags("app", *versions(100_001))
        assert len(runs.list("x.example/app:1").tags) == 100_001


class TestTokensAndRefusals:
    def test_a_token_for_pull_lists(self, runs, fake):
        given = fake.bearer()
        fake.tags("app", "1.0")
        assert runs.list("x.example/app:1").tags == ("1.0",)
        assert list(given) == ["repository:app:pull"]
        assert runs.requests == {"list": 2, "token": 1}

    def test_a_token_that_may_pull_and_may_not_list(self, runs, fake):
        given = fake.bearer()
        fake.on(
            lambda asked: (
                Answer(
                    401,
                    headers={
                        "WWW-Authenticate": f'Bearer realm="{fake.url}/token",service="fake",'
                        'scope="repository:app:pull",error="insufficient_scope"'
                    },
                )
                if asked.kind == "list" and given
                else None
            )
        )
        fake.index("app", "1.0", ["linux/amd64"])
        assert runs.found("x.example/app:1.0")
        listed = runs.list("x.example/app:1.0")
        assert (listed.tags, listed.read) == ((), "no")
        assert "the tags of app (401" in listed.why

    @pytest.mark.parametrize(
        ("status", "why"),
        [
            (404, "has no repository app"),
            (403, "the tags of app (403"),
            (429, "answered 429 for the tags of app"),
            (500, "answered 500 for the tags of app"),
        ],
    )
    def test_a_list_that_is_refused(self, runs, fake, status, why):
        fake.on(lambda asked: Answer(status) if asked.kind == "list" else None)
        listed = runs.list("x.example/app:1")
        assert (listed.tags, listed.read) == ((), "no")
        assert why in listed.why

    @pytest.mark.parametrize("status", [403, 429, 404, 500])
    def test_a_later_page_that_is_refused_leaves_what_came_before(self, runs, fake, status):
        paged(fake, versions(120), page=100)
        fake.on(lambda asked: Answer(status) if "last=" in asked.path else None)
        listed = runs.list("x.example/app:1")
        assert (listed.tags, listed.read) == (tuple(versions(100)), "partial")
        assert listed.why

    def test_a_later_page_that_is_too_large(self, runs, fake):
        paged(fake, versions(120), page=100)
        fake.on(lambda asked: Answer(body=b"x" * tag_list.MAX_BYTES) if "last=" in asked.path else None)
        assert runs.list("x.example/app:1").read == "partial"

    @pytest.mark.parametrize(
        "body", [b"[]", b"<html>", b'{"tags": {"a": 1}}', b'{"tags": "1.0"}', b"\xff", b"[" * 9999]
    )
    def test_an_answer_that_is_no_list(self, runs, fake, body):
        fake.on(lambda asked: Answer(body=body) if asked.kind == "list" else None)
        assert runs.list("x.example/app:1").read == "no"

    @pytest.mark.parametrize("target", ["ftp://x/", "//[bad/", "http://user:pw@127.0.0.1/", "javascript:1"])
    def test_a_link_that_may_not_be_followed(self, runs, fake, target):
        body = as_json({"tags": ["1.0"]})
        fake.on(
            lambda asked: (
                Answer(body=body, headers={"Link": f'<{target}>; rel="next"'})
                if asked.kind == "list"
                else None
            )
        )
        assert runs.list("x.example/app:1").read == "no"

    def test_a_link_to_another_server_is_judged_by_host_policy_and_carries_no_credential(self, runs, fake):
        fake.bearer()
        with FakeRegistry() as other:
            other.tags("app", "2.0")
            paged(fake, versions(120), page=100, absolute=f"http://localhost:{other.port}")
            listed = runs.list("x.example/app:1")
            assert (listed.tags, listed.read) == (tuple(versions(100)), "partial")
            assert "leads to a loopback address" in listed.why
            assert not other.asked
            runs.set(allow_hosts=(f"localhost:{other.port}",), no_cache=True)
            listed = runs.list("x.example/app:1")
            assert (listed.tags, listed.read) == ((*versions(100), "2.0"), "complete")
            assert all("authorization" not in asked.headers for asked in other.asked)


class TestCache:
    def test_a_list_is_kept_for_a_day(self, runs, fake):
        fake.tags("app", "1.0")
        first = runs.list("x.example/app:1.0")
        runs.now += DAY
        assert runs.list("x.example/app:2.0") == first
        assert runs.requests == {}
        runs.now += 1
        fake.tags("app", "1.0", "1.1")
        assert runs.list("x.example/app:1.0").tags == ("1.0", "1.1")

    def test_what_could_not_be_read_is_asked_again(self, runs, fake):
        assert runs.list("x.example/app:1.0").read == "no"
        fake.tags("app", "1.0")
        assert runs.list("x.example/app:1.0").read == "complete"

    def test_offline_uses_a_list_as_old_as_max_stale_and_asks_nobody(self, runs, fake):
        fake.tags("app", "1.0")
        runs.list("x.example/app:1.0")
        runs.set(offline=True)
        runs.now += 6 * DAY
        assert runs.list("x.example/app:1.0").tags == ("1.0",)
        runs.now += 2 * DAY
        listed = runs.list("x.example/app:1.0")
        assert listed == TagList((), "no", "the cache has no list of its tags, and --offline forbids asking")
        assert len(queries(fake)) == 1

    def test_another_mirror_has_another_list(self, runs, fake):
        fake.tags("app", "1.0")
        fake.tags("hub/app", "2.0")
        assert runs.list("x.example/app:1").tags == ("1.0",)
        runs.also("x.example", f"{fake.url}/hub")
        runs.set(mirrors=runs.operator.mirrors[1:])
        assert runs.list("x.example/app:1").tags == ("2.0",)

    def test_partial_lists_and_stated_platforms_are_kept(self, runs, fake):
        paged(fake, versions(500), page=50, most=50)
        read = runs.list("x.example/app:1").replace(why="")
        assert runs.list("x.example/app:1") == read

    def test_one_request_a_second_waits_between_pages(self, runs, fake):
        paged(fake, versions(120), page=100)
        runs.set(requests_per_second=(request_rate("*", "1"),))
        runs.list("x.example/app:1")
        assert len(runs.waits) == 1


def hub(*results: object, following: str | None = None) -> bytes:
    return json.dumps({"count": 1, "next": following, "results": results}).encode()


def tag(name: object, *platforms: str) -> dict[str, object]:
    images = [
        dict(zip(("os", "architecture", "variant"), text.split("/"), strict=False)) for text in platforms
    ]
    return {"name": name, "images": images}


class TestDockerHub:
    URL = quirk_of("docker.io").listing.format(repository="library/nginx")

    def read(self, *bodies: bytes | int) -> tuple[TagList, list[str]]:
        asked: list[str] = []

        def ask(url: str, _limit: int) -> Reply:
            asked.append(url)
            body = bodies[len(asked) - 1]
            if isinstance(body, int):
                raise RegistryError("refused", status=body)
            return Reply(200, {}, body, url)

        return tag_list.read_tags(self.URL, ask, tag_list.hub_page), asked

    def test_tags_with_their_platforms(self):
        unknown = {"os": "unknown", "architecture": "unknown"}
        listed, asked = self.read(
            hub({**tag("1.27", "linux/amd64", "linux/arm64/v8"), "x": [unknown]}, tag("1.26", "linux/amd64"))
        )
        amd, arm = parse_platform("amd64"), parse_platform("arm64")
        assert listed == TagList(("1.27", "1.26"), "complete", offers={"1.27": (amd, arm), "1.26": (amd,)})
        assert asked == [self.URL]

    def test_a_403_past_a_page_keeps_what_came_before(self):
        listed, asked = self.read(hub(tag("1.27"), following=self.URL + "&page=2"), 403)
        assert (listed.tags, listed.read, listed.why) == (("1.27",), "partial", "refused")
        assert asked[1].startswith("https://hub.docker.com")
        assert "page=2" in asked[1]

    def test_six_pages_at_most(self):
        pages = [hub(tag(f"1.{page}"), following=f"{self.URL}&page={page}") for page in range(9)]
        listed, asked = self.read(*pages)
        assert (len(listed.tags), listed.read, len(asked)) == (6, "partial", 6)

    @pytest.mark.parametrize(
        "body",
        [b"{}", b'{"results": {}}', b"[]", hub(following="ftp://x")],
        ids=["nothing", "a mapping", "an array", "another scheme"],
    )
    def test_an_answer_that_is_no_list(self, body):
        with pytest.raises(InvalidManifest):
            self.read(body)

    def test_entries_of_another_shape_are_dropped(self):
        listed, _ = self.read(
            hub(7, tag(7), {"name": "1.0", "images": "x"}, {"name": "1.1", "images": [7, {}]})
        )
        assert listed == TagList(
            ("1.0", "1.1"), "partial", "entries of its list are no tags", offers={"1.1": ()}
        )


class TestWhoIsAsked:
    """Docker Hub's own listing is a host like any other; a proxy that refuses shows who would have been asked."""

    @pytest.fixture
    def connects(self, runs, monkeypatch):
        # It asks the resolver whether a name is an address, which tests may ask for loopback alone.
        monkeypatch.setattr(
            ConnectionPool,
            "way",
            lambda pool, scheme, host, port, **_: Way(
                scheme, host, port, proxy_for(scheme, host, port, pool._environ), other_host=False
            ),
        )
        heads: list[str] = []

        def refuse(connection: socket.socket) -> None:
            heads.append(connection.recv(65536).decode().split()[1])
            connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        with SocketServer(refuse) as proxy:
            runs.environ["HTTPS_PROXY"] = f"http://127.0.0.1:{proxy.port}"
            runs.set(mirrors=())
            yield heads

    def test_the_listing_and_then_the_registry(self, runs, connects):
        listed = runs.list("nginx:1.27")
        assert listed.read == "no"
        assert "hub.docker.com:443" in connects
        assert "registry-1.docker.io:443" in connects

    def test_not_where_a_rule_denies_it(self, runs, connects):
        runs.set(deny_hosts=("hub.docker.com",))
        runs.list("nginx:1.27")
        assert "hub.docker.com:443" not in connects

    def test_not_for_other_registries(self, runs, connects):
        runs.list("quay.example/nginx:1.27")
        assert "hub.docker.com:443" not in connects

    def test_not_offline(self, runs, connects):
        runs.set(offline=True)
        runs.list("nginx:1.27")
        assert connects == []

    def test_not_where_a_mirror_is_in_its_place(self, runs, fake):
        runs.set(mirrors=())
        runs.also("docker.io", fake.url)
        fake.tags("library/nginx", "1.27")
        assert runs.list("nginx:1.27").tags == ("1.27",)


class TestWhereTheTagsInUseStand:
    """Of a list that is too long, the pages that hold the nearest tags are read, too."""

    TAGS = sorted(
        f"{major}.{minor}.{patch}" for major in range(30) for minor in range(20) for patch in range(12)
    )

    def script(self, refused: int = 0) -> Callable[[Asked], Answer | None]:
        def answer(asked: Asked) -> Answer | None:
            if asked.kind != "list":
                return None
            last = asked.query.get("last", [""])[0]
            if refused and last.endswith("."):
                return Answer(refused)
            start = bisect(self.TAGS, last)
            some = self.TAGS[start : start + 100]
            link = {"Link": f'</v2/app/tags/list?last={some[-1]}&n=100>; rel="next"'} if some else {}
            return Answer(body=as_json({"name": "app", "tags": some}), headers=link)

        return answer

    def test_a_page_of_them_is_among_those_that_are_read(self, runs, fake):
        fake.on(self.script())
        listed = runs.list("x.example/app:8.10.0-alpine")
        assert listed.read == "partial"
        assert {f"8.10.{patch}" for patch in range(12)} <= set(listed.tags)
        assert len(queries(fake)) == tag_list.MAX_PAGES
        assert queries(fake)[-1] == "?n=1000&last=8.10."

    @pytest.mark.parametrize("status", [400, 404, 429])
    def test_where_it_is_refused_the_others_stay(self, runs, fake, status):
        fake.on(self.script(status))
        listed = runs.list("x.example/app:8.10.0")
        assert (listed.read, listed.tags) == ("partial", tuple(self.TAGS[:500]))

    @pytest.mark.parametrize("tag", ["latest", "20240115", "7"])
    def test_noop_a_tag_without_such_a_place(self, runs, fake, tag):
        fake.on(self.script())
        assert runs.list(f"x.example/app:{tag}").tags == tuple(self.TAGS[:600])
