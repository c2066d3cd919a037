"""hosts.toml and registries.conf: which servers are asked for an image, in which order, and what they are told."""

from pathlib import Path

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import parse
from archfit.options.hosts import mirror_pair
from archfit.options.settings import Operator
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.routes import Routes
from case_files import rows
from fake_registry import Answer, FakeRegistry, digest_of
from lookup_runs import Runs

BOTH = ["linux/amd64", "linux/arm64"]
PIN = "sha256:" + "1" * 64


def shown(routes: Routes, image: str) -> list[str]:
    """Every place in order: its URL, and after it what is special about it."""
    texts = []
    for place in routes.endpoints(parse(image)):
        marks = [
            f"ns={place.namespace}" if place.namespace else "",
            "" if place.resolves else "no-tags",
            "" if place.pulls else "tags-only",
            "instead" if place.fallback else "",
            "" if place.configured else "unnamed",
        ]
        texts.append(" ".join(filter(None, (f"{place.origin}{place.base}/{place.repository}", *marks))))
    return texts


class TestHostsToml:
    def routes(self, folder: Path, **files: str) -> Routes:
        """files: registry with `_` for dots, and the text of its hosts.toml."""
        for name, text in files.items():
            inner = folder / "certs.d" / name.replace("__", "/").replace("DOT", ".").replace("COLON", ":")
            inner.mkdir(parents=True)
            (inner / "hosts.toml").write_text(text)
        (folder / "certs.d").mkdir(exist_ok=True)
        return Routes(Operator(hosts_dir=str(folder / "certs.d")))

    @pytest.mark.parametrize(("text", "places"), rows("registry/hosts_toml.yaml", "text", "places"))
    def test_where_docker_hub_is_asked(self, tmp_path, text, places):
        assert shown(self.routes(tmp_path, dockerDOTio=text), "nginx") == places

    def test_which_folder_is_about_a_registry(self, tmp_path):
        routes = self.routes(
            tmp_path,
            aDOTio_5000_='server = "https://first"',
            aDOTioCOLON5000='server = "https://second"',
            bDOTioCOLON1='server = "https://colon"',
            _default='[host."https://rest"]',
        )
        assert shown(routes, "a.io:5000/x") == ["https://first/v2/x ns=a.io:5000"]
        assert shown(routes, "b.io:1/x") == ["https://colon/v2/x ns=b.io:1"]
        assert shown(routes, "c.io/x") == ["https://rest/v2/x ns=c.io", "https://c.io/v2/x unnamed"]

    def test_without_a_folder_it_is_the_registry_itself(self, tmp_path):
        assert shown(self.routes(tmp_path, aDOTio=""), "b.io/x") == ["https://b.io/v2/x unnamed"]

    def test_plain_http_is_not_turned_to_for_loopback(self, tmp_path):
        assert shown(self.routes(tmp_path, localhost_5000_=""), "localhost:5000/x") == [
            "https://localhost:5000/v2/x"
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            pytest.param("server = ", "hosts.toml is not TOML", id="toml"),
            pytest.param('sever = "https://a"', "sever: there is no such key: write 'server'", id="key"),
            pytest.param('[host."https://a"]\nskip_verfy = true', "write 'skip_verify'", id="key-of-a-host"),
            pytest.param('[host."https://a"]\ncapabilities = ["mount"]', "capabilities: has to be of", id="capability"),
            pytest.param('[host."ftp://a"]', "the URL: has to be https://HOST", id="scheme"),
            pytest.param('[host."https://user:hush@a"]', "the URL: has to be https://HOST", id="userinfo"),
            pytest.param('server = "https://a/?x=1"', "server: has to be https://HOST", id="query"),
            pytest.param('[host."https://a"]\nskip_verify = "yes"', "has to be true or false", id="switch"),
            pytest.param('[host."https://a"]\nclient = [["a"]]', "client: has to be a path", id="client"),
            pytest.param('[host."https://a".header]\nx = "a\\nb"', "is not a header that can be sent", id="header"),
            pytest.param('[host."https://a".header]\nHost = "b"', "is not a header that can be sent", id="framing"),
            pytest.param('[host."https://a".rewrite]\n"(" = "b"', "is no regular expression", id="no-pattern"),
            pytest.param('[host."https://a".rewrite]\n"^(a+)+$" = "b"', "in bounded time", id="a-pattern-for-ever"),
            pytest.param('[host."https://a".rewrite]\n".*.*.*.*a" = "b"', "in bounded time", id="a-pattern-of-many"),
            pytest.param(f'[host."https://a".rewrite]\n"{"a??" * 30}b" = "b"', "in bounded time", id="many-options"),
            pytest.param(f'[host."https://a".rewrite]\n"{"(a|a)" * 30}b" = "b"', "in bounded time", id="many-choices"),
            pytest.param('[host."https://a".rewrite]\n"(?=a)" = "b"', "in bounded time", id="a-pattern-go-lacks"),
            pytest.param('[host."https://a".rewrite]\n"a" = "../b"', "has to be replaced by a", id="out-of-it"),
            pytest.param('[host."https://a".rewrite]\n"a" = 1', "has to be a string", id="replaced-by-a-number"),
            pytest.param('[host."https://a"]\nrewrite = "a"', "has to be a table", id="no-table"),
            pytest.param('dial_timeout = "long"', "dial_timeout: has to be a duration such as 3s", id="duration"),
            pytest.param('capabilities = ["fetch"]', "capabilities: has to be of", id="capability-of-the-registry"),
        ],
    )  # fmt: skip
    def test_a_mistake_is_a_usage_error_that_names_file_and_key(self, tmp_path, text, said):
        with pytest.raises(UsageError) as caught:
            self.routes(tmp_path, aDOTio=text)
        assert said in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        assert caught.value.exit_code == 2

    def test_http_with_settings_of_tls_is_asked_with_tls_first(self, tmp_path):
        text = '[host."http://m:5000"]\nskip_verify = false\n[host."http://n:80"]\nskip_verify = true\n[host."http://o"]'
        routes = self.routes(tmp_path, aDOTio=text)
        endpoints = routes.endpoints(parse("a.io/x"))
        assert [(one.origin, one.fallback) for one in endpoints] == [
            ("https://m:5000", False),
            ("http://m:5000", True),
            ("http://n", False),
            ("http://o", False),
            ("https://a.io", False),
        ]

    def test_half_a_client_certificate_and_a_missing_directory_are_usage_errors(self, tmp_path):
        (tmp_path / "certs.d" / "a.io").mkdir(parents=True)
        (tmp_path / "certs.d" / "a.io" / "x.cert").touch()
        with pytest.raises(UsageError, match=r"one half of a client certificate: add x\.key"):
            Routes(Operator(hosts_dir=str(tmp_path / "certs.d")))
        with pytest.raises(UsageError, match="cannot be read"):
            Routes(Operator(hosts_dir=str(tmp_path / "nowhere")))

    def test_secrets_are_shown_nowhere(self, tmp_path):
        text = '[host."https://a"]\n[host."https://a".header]\nx-token = "hush"'
        routes = self.routes(tmp_path, aDOTio=text)
        assert "hush" not in repr(routes.endpoints(parse("a.io/x")))
        assert routes.endpoints(parse("a.io/x"))[0].headers == (("x-token", "hush"),)


class TestRegistriesConf:
    def routes(self, folder: Path, text: str) -> Routes:
        (folder / "registries.conf").write_text(text)
        return Routes(Operator(registries_conf=str(folder / "registries.conf")))

    @pytest.mark.parametrize(
        ("text", "image", "places"), rows("registry/registries_conf.yaml", "text", "image", "places")
    )
    def test_where_an_image_is_asked(self, tmp_path, text, image, places):
        head = 'unqualified-search-registries = ["x.io"]\nshort-name-mode = "permissive"\n[[registry]]\n'
        assert shown(self.routes(tmp_path, head + text), image) == places

    @pytest.mark.parametrize(
        "mirrors", [(), (mirror_pair("a.io=https://m.io"),)], ids=["alone", "beside-a-mirror"]
    )
    def test_what_is_blocked_is_asked_nowhere(self, tmp_path, mirrors):
        path = tmp_path / "registries.conf"
        path.write_text(
            '[[registry]]\nlocation = "a.io/bad"\nblocked = true\n'
            '[[registry.mirror]]\nlocation = "m.io"\npull-from-mirror = "digest-only"'
        )
        routes = Routes(Operator(registries_conf=str(path), mirrors=mirrors))
        with pytest.raises(RegistryError, match=r"blocks a\.io/bad"):
            routes.endpoints(parse("a.io/bad/x"))
        assert routes.endpoints(parse("a.io/good"))

    @pytest.mark.parametrize(
        ("prefixes", "image", "blocked"),
        [
            pytest.param(["*.io", "*.team.io"], "a.team.io/x", True, id="the-longer-wildcard"),
            pytest.param(["*.team.io", "reg.team.io"], "reg.team.io/x", True, id="the-host"),
            pytest.param(["a.io", "a.io/x:bad"], "a.io/x:bad", True, id="one-tag"),
            pytest.param(["a.io", "a.io/x:bad"], "a.io/x:good", False, id="another-tag"),
            pytest.param(["a.io", f"a.io/x@{PIN}"], f"a.io/x@{PIN}", True, id="one-digest"),
            pytest.param(["b.io", "a.io"], "a.io:5000/x", True, id="a-host-with-a-port"),
        ],
    )
    @pytest.mark.parametrize("backwards", [False, True], ids=["in-order", "backwards"])
    def test_the_longest_match_blocks_in_any_order(self, tmp_path, prefixes, image, blocked, backwards):
        keys = ["prefix" if prefix.startswith("*") else "location" for prefix in prefixes]
        tables = [f'[[registry]]\n{key} = "{prefix}"\n' for key, prefix in zip(keys, prefixes, strict=True)]
        tables[1] += "blocked = true\n"
        routes = self.routes(tmp_path, "".join(tables[::-1] if backwards else tables))
        if blocked:
            with pytest.raises(RegistryError, match="blocks"):
                routes.endpoints(parse(image))
        else:
            assert routes.endpoints(parse(image))

    @pytest.mark.parametrize("location", ["h.io/all", "h.io:80"])
    def test_a_port_that_no_runtime_could_read_is_an_error(self, tmp_path, location):
        routes = self.routes(tmp_path, f'[[registry]]\nprefix = "*.corp.io"\nlocation = "{location}"\n')
        with pytest.raises(RegistryError, match="write the port into the prefix"):
            routes.endpoints(parse("a.corp.io:5000/x"))

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            pytest.param("[registries.search]\nregistries = []", "is of version 1", id="version-1"),
            pytest.param("[[registry]]\nblokced = true", "write 'blocked'", id="key"),
            pytest.param("[[registry]]\nblocked = true", "prefix: is missing", id="no-prefix"),
            pytest.param('[[registry]]\nlocation = "https://a.io"', "without scheme", id="scheme"),
            pytest.param('[[registry]]\nprefix = "a.io"\nblocked = true', "location: is missing", id="no-location"),
            pytest.param(
                '[[registry]]\nlocation = "a.io"\n[[registry]]\nprefix = "b.io"\nlocation = "a.io"\nblocked = true',
                "two tables for the location 'a.io' that differ in insecure or blocked",
                id="one-location-blocked-and-not",
            ),
            pytest.param(
                '[[registry]]\nprefix = "a.io/x:1"\nlocation = "b.io/x"',
                "registry[0].location: has to end with :1, as the prefix does",
                id="the-location-of-one-image",
            ),
            pytest.param(
                '[[registry]]\nprefix = "a.io"\nlocation = "b.io/x:1"',
                "registry[0].location: has to be without tag or digest",
                id="a-location-with-a-tag",
            ),
            pytest.param('[[registry]]\nprefix = "*.a.io:5000"', "without a path or port", id="wildcard-port"),
            pytest.param('[[registry]]\nprefix = "*.a.io/x"', "without a path or port", id="wildcard-path"),
            pytest.param('[[registry]]\nlocation = "a.io"\n[[registry]]\nlocation = "a.io"', "two tables", id="twice"),
            pytest.param(
                '[[registry]]\nlocation = "a.io"\n[[registry.mirror]]\nlocation = "b"\npull-from-mirror = "never"',
                "registry[0].mirror[0].pull-from-mirror: has to be one of",
                id="pull-from-mirror",
            ),
            pytest.param(
                '[[registry]]\nlocation = "a.io"\nmirror-by-digest-only = true\n'
                '[[registry.mirror]]\nlocation = "b"\npull-from-mirror = "all"',
                "contradicts mirror-by-digest-only",
                id="both",
            ),
        ],
    )  # fmt: skip
    def test_a_mistake_is_a_usage_error_that_names_file_and_key(self, tmp_path, text, said):
        with pytest.raises(UsageError) as caught:
            self.routes(tmp_path, text)
        assert said in str(caught.value)
        assert "registries.conf" in str(caught.value)


def test_mirror_beats_registries_conf_beats_hosts_toml(tmp_path):
    (tmp_path / "registries.conf").write_text(
        '[[registry]]\nlocation = "a.io"\n[[registry.mirror]]\nlocation = "c.io"'
    )
    for name in ("a.io", "b.io"):
        (tmp_path / "certs.d" / name).mkdir(parents=True)
        (tmp_path / "certs.d" / name / "hosts.toml").write_text('server = "https://h.io"')
    operator = Operator(
        registries_conf=str(tmp_path / "registries.conf"), hosts_dir=str(tmp_path / "certs.d")
    )
    assert shown(Routes(operator), "a.io/x") == ["https://c.io/v2/x", "https://a.io/v2/x"]
    assert shown(Routes(operator), "b.io/x") == ["https://h.io/v2/x ns=b.io"]
    named = Routes(operator.replace(mirrors=(mirror_pair("a.io=https://m.io"),)))
    assert shown(named, "a.io/x") == ["https://m.io/v2/x"]


@pytest.fixture
def mirror():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def origin():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def runs(mirror, origin, tmp_path):
    """x.io is asked for at `mirror`, then at `origin`."""
    runs = Runs(tmp_path, origin.url)
    hosts(runs, f'server = "{origin.url}"\n[host."{mirror.url}"]\n')
    return runs


def hosts(runs: Runs, text: str) -> None:
    folder = runs.folder / "certs.d" / "x.io"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hosts.toml").write_text(text)
    runs.set(mirrors=(), hosts_dir=str(runs.folder / "certs.d"))


class TestInTurn:
    def test_the_first_that_has_it_answers_for_one_request(self, mirror, origin, runs):
        mirror.index("a", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH
        assert [asked.path for asked in mirror.asked] == ["/v2/a/manifests/1?ns=x.io"]
        assert origin.connections == 0

    @pytest.mark.parametrize("status", [404, 401, 403, 429, 500, 503])
    def test_the_next_one_is_asked_at_once_where_one_does_not_answer(self, mirror, origin, runs, status):
        mirror.always(Answer(status))
        origin.index("a", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH
        assert (mirror.count("manifest"), origin.count(), runs.waits) == (1, 1, [])
        assert origin.asked[0].path == "/v2/a/manifests/1?ns=x.io"

    def test_one_that_is_down_is_not_tried_again_in_the_run(self, mirror, origin, runs):
        """At most the 32 that were under way when the first of them failed, each once more."""
        mirror.always(Answer(headers={"Content-Length": "100"}, chunks=[b"{"]))
        for number in range(60):
            origin.index(f"a{number}", "1", BOTH)
        answers = runs.ask(*(f"x.io/a{number}:1" for number in range(60)))
        assert {type(answer) for answer in answers.values()} == {Found}
        assert (origin.count(), set(runs.waits)) == (60, {0.25})
        assert 2 <= mirror.count() <= 64

    def test_one_connection_that_breaks_off_gives_nobody_up(self, mirror, origin, runs):
        """As behind a balancer of load one of whose servers goes away."""
        broken = [Answer(headers={"Content-Length": "100"}, chunks=[b"{"])]
        mirror.on(lambda _: broken.pop() if broken else None)
        for name in "abc":
            mirror.index(name, "1", BOTH)
        with runs.lookup() as lookup:
            for name in "abc":
                assert isinstance(lookup.resolve([f"x.io/{name}:1"])[f"x.io/{name}:1"], Found)
        assert (mirror.count(), origin.count()) == (4, 0)

    def test_one_that_refuses_an_image_is_asked_for_others(self, mirror, origin, runs):
        mirror.on(lambda asked: Answer(403) if asked.path.startswith("/v2/a/") else None)
        mirror.index("b", "1", BOTH)
        with runs.lookup() as lookup:
            lookup.resolve(["x.io/a:1"])
            assert isinstance(lookup.resolve(["x.io/b:1"])["x.io/b:1"], Found)
        assert origin.count() == 1

    def test_absent_is_what_the_last_one_says(self, mirror, origin, runs):
        because = "(it is asked for x.io because of --hosts-dir)"
        said = f"{mirror.url} has no a:1 {because}; {origin.url} has no a:1 {because}"
        assert runs.absent("x.io/a:1") == said
        mirror.always(Answer(500))
        assert isinstance(runs.ask("x.io/a:1")["x.io/a:1"], Absent)

    def test_and_not_what_a_mirror_says_where_the_last_one_cannot_be_asked(self, origin, runs):
        origin.always(Answer(403))
        answer = runs.ask("x.io/a:1")["x.io/a:1"]
        assert isinstance(answer, Unknown)
        assert "has no a:1" in answer.cause
        assert "403" in answer.cause

    def test_a_tag_is_asked_only_where_it_may_be(self, mirror, origin, runs):
        text = f'server = "{origin.url}"\n[host."{mirror.url}"]\ncapabilities = ["pull"]\n'
        hosts(runs, text)
        mirror.index("a", "1", ["linux/s390x"])
        pin = origin.index("a", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH
        assert mirror.connections == 0
        mirror.put("a", "", "application/vnd.oci.image.index.v1+json", b"{}")
        runs.set(no_cache=True)
        mirror.index("a", "1", BOTH)
        assert runs.names(f"x.io/a@{pin}") == BOTH
        assert mirror.count() == 1

    def test_bytes_of_an_untrusted_mirror_are_verified(self, mirror, origin, runs):
        hosts(runs, f'server = "{origin.url}"\n[host."{mirror.url}"]\ncapabilities = ["pull"]\n')
        lie = b'{"schemaVersion": 2, "manifests": []}'
        pin = digest_of(b"something else")
        mirror.always(Answer(200, lie, {"Docker-Content-Digest": pin}))
        assert "do not have the digest" in runs.cause(f"x.io/a@{pin}")

    def test_one_that_may_only_resolve_says_the_digest_and_another_sends_it(self, mirror, origin, runs):
        text = f'server = "{origin.url}"\ncapabilities = ["pull"]\n[host."{mirror.url}"]\ncapabilities = ["resolve"]\n'
        hosts(runs, text)
        pin = mirror.index("a", "1", BOTH)
        origin.index("a", "", BOTH)
        origin.index("a", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH
        assert mirror.kinds() == ["head"]
        assert [asked.path for asked in origin.asked] == [f"/v2/a/manifests/{pin}?ns=x.io"]

    def test_a_tag_that_nobody_may_resolve_is_not_asked(self, origin, runs):
        hosts(runs, f'server = "{origin.url}"\ncapabilities = ["pull"]\n')
        assert "no mirror of x.io may be asked for it" in runs.cause("x.io/a:1")
        assert origin.connections == 0

    def test_a_stale_tag_costs_one_head_at_the_first(self, mirror, runs):
        mirror.index("a", "1", BOTH)
        runs.found("x.io/a:1")
        runs.later(7 * 3600)
        mirror.forget()
        runs.found("x.io/a:1")
        assert mirror.kinds() == ["head"]

    def test_each_is_shown_its_own_credentials(self, mirror, origin, runs):
        asks = Answer(401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        mirror.always(asks)
        origin.on(lambda asked: asks if "authorization" not in asked.headers else None)
        origin.index("a", "1", BOTH)
        runs.login(origin.host, "origin")
        assert runs.names("x.io/a:1") == BOTH
        assert all("authorization" not in asked.headers for asked in mirror.asked)

    def test_headers_go_to_their_own_server_alone(self, mirror, origin, runs):
        hosts(
            runs,
            f'server = "{origin.url}"\n[host."{mirror.url}"]\n'
            f'[host."{mirror.url}".header]\nX-Token = ["hush", "more"]\nAccept = "text/html"\n',
        )
        pin = mirror.single("a", "1", "linux/arm64")
        origin.single("a", "1", "linux/arm64")
        mirror.on(
            lambda asked: (
                Answer(307, headers={"Location": origin.url + asked.path}) if asked.kind == "blob" else None
            )
        )
        assert runs.found("x.io/a:1").digest == pin
        assert [asked.headers.get("x-token") for asked in mirror.asked] == ["hush, more", "hush, more"]
        assert "oci.image.index" in mirror.asked[0].headers["accept"]
        assert [asked.kind for asked in origin.asked] == ["blob"]
        assert "x-token" not in origin.asked[0].headers

    def test_nor_do_they_go_to_the_token_service(self, mirror, runs):
        hosts(runs, f'server = "{mirror.url}"\nheader = {{ x-token = "hush" }}\n')
        mirror.index("a", "1", BOTH)
        mirror.bearer()
        assert runs.names("x.io/a:1") == BOTH
        assert ["x-token" in asked.headers for asked in mirror.asked] == [True, False, True]

    def test_an_insecure_registry_without_tls_is_asked_over_http_and_said(self, origin, tmp_path):
        runs = Runs(tmp_path, origin.url)
        (tmp_path / "registries.conf").write_text(
            f'[[registry]]\nprefix = "x.io"\nlocation = "{origin.host}/p"\ninsecure = true'
        )
        runs.set(mirrors=(), registries_conf=str(tmp_path / "registries.conf"))
        for name in "ab":
            origin.index(f"p/{name}", "1", BOTH)
        assert runs.names("x.io/a:1") == BOTH
        assert f"{origin.url} is asked without verification" in " ".join(runs.messages)
        assert runs.waits == []
