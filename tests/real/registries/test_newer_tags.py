"""Newer tags on other people's registries: distribution 2.8 (Debian) and go-containerregistry's."""

from archfit.images.candidates import NewerTags
from archfit.images.platforms import Found, parse_platform
from archfit.lookup.newer_tags import newer_tags
from archfit.registry import manifest as media
from fake_registry import as_json, platform_of
from lookup_runs import Runs
from real_registries import Running, TokenService, distribution
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]
VERSIONS = [f"1.{minor}.{patch}" for minor in range(20) for patch in range(8)]
FIRST = VERSIONS.index("1.12.0")
OTHERS = [f"sha-{number:07x}" for number in range(1000)]
# distribution syncs each file that it writes.
FEW = 40


def fill(server: Running, *, synced: bool) -> None:
    """`t/app`: 160 versions, the later ones with arm64, and other tags; `t/own`: one version without it."""
    entries = [{**server.single("t/app", "", text), "platform": platform_of(text)} for text in BOTH]
    bodies = [
        as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": some})
        for some in (entries[:1], entries)
    ]
    for place, tag in enumerate(VERSIONS):
        server.push(f"t/app/manifests/{tag}", bodies[place >= FIRST], media.OCI_INDEX)
    for tag in OTHERS[: FEW if synced else None]:
        server.push(f"t/app/manifests/{tag}", bodies[0], media.OCI_INDEX)
    server.index("t/own", "1.0.0", BOTH[:1])


def told(runs: Runs, text: str) -> NewerTags:
    with runs.lookup() as lookup:
        answer = lookup.resolve([text])[text]
        assert isinstance(answer, Found)
        arm = [parse_platform("arm64")]
        return newer_tags(lookup, {text: answer}, arm, cluster=("amd64", "arm64"), seconds=60.0)[text]


def test_the_nearest_tag_among_many_is_named_and_a_second_run_asks_nobody(server, tmp_path):
    runs = Runs(tmp_path, server.url)
    newer = told(runs, "x.example/t/app:1.3.0")
    (tag,) = newer.tags
    assert newer.read == "complete"
    assert (tag.step, tag.platforms) == ("minor", tuple(BOTH))
    assert VERSIONS.index(tag.tag) >= FIRST
    assert tag.exact == (tag.tag == VERSIONS[FIRST])
    assert runs.requests["list"] <= 3
    assert runs.requests["manifest"] <= 7
    assert told(runs, "x.example/t/app:1.3.0") == newer
    assert runs.requests == {}


def test_the_list_is_whole(server, tmp_path):
    listed = Runs(tmp_path, server.url).list("x.example/t/app:1.3.0")
    others = {tag for tag in listed.tags if tag.startswith("sha-")}
    assert len(others) in {FEW, len(OTHERS)}
    assert (set(listed.tags) - others, listed.read) == (set(VERSIONS), "complete")


def test_one_tag_alone_has_no_newer_one(server, tmp_path):
    newer = told(Runs(tmp_path, server.url), "x.example/t/own:1.0.0")
    assert (newer.tags, newer.read, newer.advice) == ((), "complete", "no newer tag has it")


def test_a_token_for_another_repository_lists_nothing(content, tmp_path):
    files = tls_files()
    tokens = TokenService(tmp_path / "tokens", files, repositories=("t/own",))
    try:
        with distribution(content, files, token=tokens) as running:
            runs = Runs(tmp_path, running.url, SSL_CERT_FILE=str(files.ca))
            runs.also("tokens.io", tokens.url)
            listed = runs.list("x.example/t/app:1.3.0")
            assert (listed.tags, listed.read) == ((), "no")
            assert listed.why
            assert runs.list("x.example/t/own:1.0.0").tags == ("1.0.0",)
    finally:
        tokens.close()
