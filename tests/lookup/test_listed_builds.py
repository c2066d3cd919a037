"""A build that an index lists, and that its registry has or lacks: what counts, what is asked, what is kept."""

import json
from contextlib import closing

import jsonschema
import pytest
from registry import Registry

import file_runs
from archfit.cli.schema import schema
from archfit.images.platforms import Found, Platform, Unknown
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.registry.manifest import OCI_CONFIG, OCI_INDEX, OCI_MANIFEST
from fake_registry import Answer, FakeRegistry, as_json, descriptor, digest_of, platform_of
from lookup_runs import Runs, lookup_with

BOTH = ["linux/amd64", "linux/arm64"]
ARM = [Platform("linux", "arm64")]
IMAGE = "x.io/a:1"
BUILD = b"a:1 linux/arm64"


def asked(runs: Runs, *texts: str, lock: Lock | None = None, options: Options | None = None, require=ARM):
    """The answers of one run for which the builds for arm64 are in question."""
    usual = {"environ": runs.environ, "clock": lambda: runs.now, "wait": runs.waits.append}
    with closing(lookup_with(runs.operator, options, lock=lock, **usual)) as lookup:
        lookup.require(require)
        return lookup.resolve(texts)


@pytest.fixture
def fake(served):
    served.index("a", "1", BOTH)
    served.remove("a", digest_of(BUILD))
    return served


def get_only(request):
    return Answer(404) if request.kind == "head" and "sha256:" in request.path else None


def only_arm64_fails(status):
    return lambda request: Answer(status) if digest_of(BUILD) in request.path else None


@pytest.mark.parametrize(
    ("there", "script", "platforms", "kinds", "again"),
    [
        pytest.param(True, None, BOTH, ["manifest", "head"], [], id="there"),
        pytest.param(True, get_only, BOTH, ["manifest", "head", "manifest"], [], id="a proxy that fetches it for a GET"),
        pytest.param(False, None, BOTH[:1], ["manifest", "head", "manifest"], ["head", "manifest"], id="not there"),
        pytest.param(True, only_arm64_fails(405), "405", ["manifest", "head", "manifest"], ["manifest"], id="no method works"),
        pytest.param(True, only_arm64_fails(403), "403", ["manifest", "head"], ["head"], id="forbidden"),
    ],
)  # fmt: skip
def test_a_build_counts_if_it_is_there(fake, runs, there, script, platforms, kinds, again):
    """404 lacks it, any other failure is not known, and only what is there is kept."""
    if there:
        fake.put("a", "", OCI_MANIFEST, BUILD)
    if script:
        fake.on(script)
    for expected in (kinds, again):
        answer = asked(runs, IMAGE)[IMAGE]
        if isinstance(platforms, str):
            assert isinstance(answer, Unknown)
            assert "linux/arm64, and whether that build is there is not known" in answer.cause
            assert platforms in answer.cause
        else:
            assert isinstance(answer, Found)
            assert [str(platform) for platform in answer.platforms] == platforms
            assert [str(platform) for platform in answer.missing] == [] if there else ["linux/arm64"]
        assert fake.kinds() == expected
        fake.forget()


def test_there_is_there_for_one_repository(fake, runs):
    fake.put("a", "", OCI_MANIFEST, BUILD)
    fake.documents["/v2/b/manifests/1"] = fake.documents["/v2/a/manifests/1"]
    answers = asked(runs, IMAGE, "x.io/b:1")
    assert [str(platform) for platform in answers["x.io/b:1"].platforms] == BOTH[:1]


def test_what_the_next_mirror_has_is_there(fake, runs, tmp_path):
    """As a pull goes on to it."""
    with FakeRegistry() as whole:
        whole.put("a", "", OCI_MANIFEST, BUILD)
        servers = [server.url.removeprefix("http://") for server in (fake, whole)]
        rows = "".join(f'[[registry.mirror]]\nlocation = "{at}"\ninsecure = true\n' for at in servers)
        conf = tmp_path / "registries.conf"
        conf.write_text(f'[[registry]]\nprefix = "x.io"\nlocation = "x.io"\nblocked = true\n{rows}')
        runs.set(mirrors=(), registries_conf=str(conf))
        assert not asked(runs, IMAGE)[IMAGE].missing


@pytest.mark.parametrize("how", ["offline", "locked", "stale"])
def test_where_nobody_may_be_asked_the_build_is_listed(fake, runs, how):
    fake.put("a", "", OCI_MANIFEST, BUILD)
    found = runs.found(IMAGE)
    fake.forget()
    lock = Lock("a.lock", {IMAGE: found.replace(origin="lock")}, only=True) if how == "locked" else None
    if how == "offline":
        runs.set(offline=True)
    if how == "stale":
        runs.later(7 * 3600)
        fake.always(Answer(503))
    answer = asked(runs, IMAGE, lock=lock)[IMAGE]
    assert ([str(platform) for platform in answer.platforms], answer.listed) == (BOTH, tuple(ARM))
    assert {request.kind for request in fake.asked} == ({"head"} if how == "stale" else set())


def test_a_lock_file_is_final_for_prefer_and_asked_for_require(fake, runs):
    lock = Lock("a.lock", {IMAGE: runs.found(IMAGE).replace(origin="lock")})
    fake.forget()
    prefers = Options(prefer=(("arm64", 10),))
    assert not asked(runs, IMAGE, lock=lock, options=prefers, require=())[IMAGE].missing
    assert fake.asked == []
    assert asked(runs, IMAGE, lock=lock)[IMAGE].missing == tuple(ARM)


LISTED = "its index lists linux/arm64, and the registry does not have that build"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        pytest.param(["check", "--require", "arm64"], 3, f"x.io/a:1 does not run on linux/arm64; {LISTED}; it offers linux/amd64", id="require"),
        pytest.param(["check", "--require", "arm64", "--format", "markdown"], 3, f"linux/amd64; {LISTED}", id="markdown"),
        pytest.param(["check", "--require", "arm64", "--format", "json"], 3, f'"notThere": "{LISTED}"', id="json"),
        pytest.param(["check", "--require", "amd64"], 0, "1 image runs on linux/amd64; 0 do not", id="require what is there"),
        pytest.param(["check", "--require", "arm64", "--offline"], 0, "0 images run on linux/arm64; 1 listed by an index, not asked", id="offline"),
        pytest.param(["--prefer", "arm64=10"], 0, f"{LISTED}: it counts as lacking", id="prefer"),
        pytest.param(["--prefer", "arm64=10"], 0, "operator: In values: - amd64", id="prefer narrows"),
        pytest.param(["explain", "--prefer", "arm64=10"], 0, f"{LISTED}: it counts as lacking", id="explain"),
        pytest.param(["audit", "--require", "arm64"], 3, "push it again", id="audit"),
        pytest.param(["audit", "--require", "arm64", "--format", "json"], 3, f'"detail":"{LISTED}"', id="audit of all"),
        pytest.param(["audit", "--offline"], 0, "1 image by the index alone: nobody was asked", id="audit offline"),
        pytest.param([], 0, "arm64", id="a transform goes by the list"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_build_that_is_not_there(fake, tmp_path, words, status, said):
    cache = ["--cache", str(tmp_path / "c.sqlite"), "--mirror", f"*={fake.url}"]
    command = words[:1] if words and not words[0].startswith("-") else []
    file_runs.run(tuple(cache), file_runs.pod("a", IMAGE))
    ended = file_runs.run((*command, *cache, *words[len(command) :]), file_runs.pod("a", IMAGE))
    assert ended.status == status, ended
    assert said in " ".join((ended.stdout.decode() + ended.stderr).split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["check"], "one platform of x.io/c:1.38.0, whose index is {}: pin that one for all", id="check"),
        pytest.param(["check", "--require", "arm64"], "one platform of x.io/c:1.38.0, whose index is {}", id="require"),
        pytest.param(["explain"], "write x.io/c:1.38.0@{}: this digest is one platform of the tag", id="explain"),
        pytest.param(["audit", "--require", "amd64", "--newer-tags", "--format", "renovate"], "1.38.0 is {}, which has amd64", id="renovate"),
        pytest.param([], "nobody", id="a transform asks nothing more"),
    ],
)  # fmt: skip
def test_a_digest_that_is_one_platform_of_its_tag(served, tmp_path, words, said):
    """And none of an index, of a tag that is another image, or of no tag is said to be that."""
    config = as_json(platform_of("linux/arm64"))
    served.blob("c", config)
    child = served.put("c", "", OCI_MANIFEST, FakeRegistry.manifest(descriptor(OCI_CONFIG, config)))
    amd64 = descriptor(OCI_MANIFEST, b"c amd64", platform=platform_of("linux/amd64"))
    served.put("c", "", OCI_MANIFEST, b"c amd64")
    arm64 = descriptor(
        OCI_MANIFEST, served.documents[f"/v2/c/manifests/{child}"].body, platform=platform_of("linux/arm64")
    )
    index = served.put(
        "c", "1.38.0", OCI_INDEX, as_json({"mediaType": OCI_INDEX, "manifests": [amd64, arm64]})
    )
    served.single("c", "other", "linux/arm64")
    served.tags("c", "1.38.0")
    cache = ["--cache", str(tmp_path / "c.sqlite"), "--mirror", f"*={served.url}"]
    given = (*words[:1], *cache, *words[1:])
    for image, expected in (
        (f"x.io/c:1.38.0@{child}", True),
        (f"x.io/c@{child}", False),
        (f"x.io/c:other@{child}", False),
        (f"x.io/c:1.38.0@{index}", False),
    ):
        served.forget()
        ended = file_runs.run(given, file_runs.pod("a", image))
        text = " ".join((ended.stdout.decode() + ended.stderr).split())
        assert (said.format(index) in text) == (expected and bool(words)), text
        if not words:
            assert "1.38.0" not in {asked.path.rpartition("/")[2] for asked in served.asked}


@pytest.mark.parametrize("offline", [False, True], ids=["not there", "listed"])
def test_the_schemas_know_it(fake, tmp_path, offline):
    common = ("--cache", str(tmp_path / "c.sqlite"), "--mirror", f"*={fake.url}")
    file_runs.run(common, file_runs.pod("a", IMAGE))
    more = (*common, "--report", str(tmp_path / "r.json"), *(["--offline"] if offline else []))
    told = file_runs.run(
        ("check", "--require", "arm64", "--format", "json", *more), file_runs.pod("a", IMAGE)
    )
    for name, text in (("check", told.stdout), ("report", (tmp_path / "r.json").read_bytes())):
        jsonschema.validate(json.loads(text), json.loads(schema(name)))


FORTY = {f"x.example/app{number}:1": BOTH for number in range(40)}


@pytest.mark.parametrize("number", [1, 40])
@pytest.mark.parametrize(
    ("words", "cold", "warm"),
    [
        pytest.param([], {"manifest": 1}, {}, id="a transform"),
        pytest.param(["--tolerate", "none"], {"manifest": 1}, {}, id="a transform without tolerations"),
        pytest.param(["--prefer", "arm64=10"], {"manifest": 1, "head": 1}, {}, id="prefer"),
        pytest.param(["check"], {"manifest": 1}, {}, id="check"),
        pytest.param(["check", "--require", "arm64"], {"manifest": 1, "head": 1}, {}, id="require one"),
        pytest.param(["check", "--require", "amd64,arm64"], {"manifest": 1, "head": 2}, {}, id="require two"),
        pytest.param(["audit"], {"manifest": 1, "head": 2}, {}, id="audit"),
        pytest.param(["audit", "--require", "arm64"], {"manifest": 1, "head": 1}, {}, id="audit of one"),
    ],
)  # fmt: skip
def test_requests_for_each_image(tmp_path, number, words, cold, warm):
    """Per image: cold, then warm. Only what says "it runs there" asks for builds."""
    stream = b"---\n".join(file_runs.pod(f"a{at}", image) for at, image in enumerate(list(FORTY)[:number]))
    with Registry(FORTY) as served:
        command = words[:1] if words and not words[0].startswith("-") else []
        given = (
            *command,
            "--cache",
            str(tmp_path / "c.sqlite"),
            *served.mirrors()[:2],
            *words[len(command) :],
        )
        for expected in (cold, warm):
            file_runs.run(given, stream)
            counted = {kind: count for (_, kind), count in served.counts().items() if kind != "ping"}
            assert counted == {kind: number * each for kind, each in expected.items()}
            served.forget()
