"""What an audit asks registries, how often, and what comes of it."""

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from archfit.audit.build_lookup import answered
from archfit.facts.facts import AuditFacts, BuildFacts, Shard
from archfit.facts.merge import merge
from archfit.lookup.lookup import lookup_of
from archfit.options.hosts import mirror
from archfit.options.settings import Operator, Options, Settings
from fake_registry import Answer, FakeRegistry
from running_builds import CRI_O, DOCKER, Pod, pushed, running

BOTH = ["linux/amd64", "linux/arm64"]
FIVE = [*BOTH, "linux/arm/v7", "linux/ppc64le", "linux/s390x"]
APP = "r.example/team/app"


class Audits:
    """Audits that share a cache."""

    def __init__(self, folder: Path, fake: FakeRegistry) -> None:
        self.fake = fake
        self.operator = Operator(mirrors=(mirror("*", fake.url),), cache=str(folder / "lookups.sqlite"))
        self.environ = {"HOME": str(folder)}
        self.options = Options()

    def set(self, **changes: Any) -> None:
        self.operator = self.operator.replace(**changes)

    def answered(self, facts: AuditFacts, shard: tuple[int, int] | None = None) -> AuditFacts:
        """One run; the requests are counted anew."""
        self.fake.forget()
        lookup = lookup_of(Settings(self.options, self.operator), self.environ, io.StringIO())
        try:
            return answered(facts, lookup, shard)
        finally:
            lookup.close()

    def one(self, pod: Pod) -> BuildFacts:
        (build,) = self.answered(running(pod)).builds
        return build

    def asked(self) -> Counter[str]:
        """How many requests of each kind the last run sent."""
        return Counter(asked.kind for asked in self.fake.asked)


@pytest.fixture
def fake():
    registry = FakeRegistry()
    yield registry
    registry.close()


@pytest.fixture
def audits(tmp_path, fake):
    return Audits(tmp_path, fake)


class TestImages:
    def test_each_is_asked_once_and_answered_as_pods_count_it(self, audits, fake):
        fake.index("team/app", "1", [*BOTH, "linux/amd64/v3"])
        fake.single("team/one", "1", "linux/amd64")
        facts = audits.answered(
            running(*[Pod("r.example/team/app:1", "")] * 3, Pod("r.example/team/one:1", ""))
        )
        app, one = facts.images
        assert (app.answer, app.architectures, app.kind, app.origin) == (
            "Found", ("amd64", "arm64"), "index", "registry",
        )  # fmt: skip
        assert app.platforms == ("linux/amd64", "linux/amd64/v3", "linux/arm64")
        assert (one.architectures, one.kind, one.restricts) == (("amd64",), "manifest", True)
        assert audits.asked() == {"manifest": 2, "blob": 1}

    def test_what_is_no_reference_or_absent_is_said(self, audits):
        facts = audits.answered(
            running(Pod("r.example/team/gone:1", ""), Pod("{{ .Values.image }}", ""), Pod("A:b:c", ""))
        )
        assert {image.reference: image.answer for image in facts.images} == {
            "r.example/team/gone:1": "Absent", "{{ .Values.image }}": "Unasked", "A:b:c": "Malformed",
        }  # fmt: skip
        assert all(image.detail for image in facts.images)

    def test_an_index_none_of_whose_entries_counts_is_unknown(self, audits, fake):
        fake.index("team/app", "1", ["linux/amd64/v3"])
        (image,) = audits.answered(running(Pod(f"{APP}:1", ""))).images
        assert (image.answer, image.platforms) == ("Unknown", ("linux/amd64/v3",))

    @pytest.mark.parametrize("policy", ["assume", "leave"])
    def test_no_policy_for_unknown_images_applies(self, audits, fake, policy):
        fake.always(Answer(401))
        audits.options = Options(on_unknown=policy)
        (image,) = audits.answered(running(Pod(f"{APP}:1", ""))).images
        assert (image.answer, image.platforms) == ("Unknown", ())

    def test_a_failing_registry_fails_its_own_images_alone(self, audits, fake):
        app = pushed(fake, "team/app", "1", BOTH)
        fake.on(lambda asked: Answer(403) if "/bad/" in asked.path else None)
        facts = audits.answered(
            running(
                Pod(f"{APP}:1", f"{APP}@{app.index}"),
                Pod("b.example/bad/x:1", f"b.example/bad/x@{app.index}"),
            )
        )
        assert [image.answer for image in facts.images] == ["Unknown", "Found"]
        # The digest is known from the other image: where it was read makes no difference.
        assert [build.verdict for build in facts.builds] == ["proven", "proven"]

    def test_nothing_is_asked_for_facts_that_have_answers(self, audits, fake):
        app = pushed(fake, "team/app", "1", BOTH)
        facts = audits.answered(running(Pod(f"{APP}:1", f"{APP}@{app.index}")))
        audits.set(no_cache=True)
        assert audits.answered(facts) == facts
        assert audits.asked() == {}


class TestRequests:
    """The fewest: [kind of imageID] -> in the first run, then none."""

    def test_the_index_that_the_tag_names_costs_nothing_more(self, audits, fake):
        app = pushed(fake, "team/app", "1", BOTH)
        build = audits.one(Pod(f"{APP}:1", f"{APP}@{app.index}", "linux/arm64"))
        assert (build.verdict, build.manifest, build.index) == (
            "proven",
            app.manifests["linux/arm64"],
            app.index,
        )
        assert audits.asked() == {"manifest": 1}
        assert audits.one(Pod(f"{APP}:1", f"{APP}@{app.index}")).manifest == app.manifests["linux/amd64"]
        assert audits.asked() == {}

    def test_an_older_index_costs_one(self, audits, fake):
        old = pushed(fake, "team/app", "1", BOTH, "old")
        pushed(fake, "team/app", "1", FIVE, "new")
        build = audits.one(Pod(f"{APP}:1", f"{APP}@{old.index}"))
        assert (build.verdict, build.index) == ("proven", old.index)
        assert build.moved == (
            f"{APP}:1 names another image now, with linux/arm/v7, linux/ppc64le, linux/s390x in addition"
        )
        assert audits.asked() == {"manifest": 2}
        assert audits.one(Pod(f"{APP}:1", f"{APP}@{old.index}")) == build
        assert audits.asked() == {}

    def test_cri_o_names_the_nodes_manifest_and_nothing_more_is_asked(self, audits, fake):
        app = pushed(fake, "team/app", "1", FIVE)
        pod = Pod(f"{APP}:1", f"{APP}@{app.manifests['linux/arm64']}", "linux/arm64", CRI_O)
        build = audits.one(pod)
        assert (build.verdict, build.platform, build.index) == ("proven", "linux/arm64", app.index)
        assert audits.asked() == {"manifest": 1}
        assert audits.one(pod.__class__(*pod)) == build
        assert audits.asked() == {}

    def test_a_manifest_of_its_own_costs_itself_and_its_config(self, audits, fake):
        fake.index("team/app", "1", BOTH)
        digest = fake.single("team/app", "2", "linux/amd64")
        build = audits.one(Pod(f"{APP}:1", f"{APP}@{digest}"))
        assert (build.verdict, build.platform, build.index) == ("proven", "linux/amd64", "")
        assert audits.asked() == {"manifest": 2, "blob": 1}

    def test_a_tag_of_a_single_manifest(self, audits, fake):
        digest = fake.single("team/app", "1", "linux/amd64")
        build = audits.one(Pod(f"{APP}:1", f"docker-pullable://{APP}@{digest}", "linux/arm64", DOCKER))
        assert (build.verdict, build.platform, build.moved) == ("mismatch", "linux/amd64", "")
        assert audits.asked() == {"manifest": 1, "blob": 1}

    @pytest.mark.parametrize("form", ["docker://{}", "{}"])
    def test_a_config_of_the_nodes_build_costs_one(self, audits, fake, form):
        app = pushed(fake, "team/app", "1", FIVE)
        pod = Pod(f"{APP}:1", form.format(app.configs["linux/arm64"]), "linux/arm64")
        build = audits.one(pod)
        assert (build.verdict, build.manifest, build.index) == (
            "proven",
            app.manifests["linux/arm64"],
            app.index,
        )
        assert audits.asked() == {"manifest": 2}
        assert audits.one(pod) == build
        assert audits.asked() == {}

    @pytest.mark.parametrize("platforms", [BOTH[:1], BOTH, FIVE], ids=["1-build", "2-builds", "5-builds"])
    @pytest.mark.parametrize("runs", ["first", "last", "none", "moved"])
    def test_a_config_costs_at_most_the_builds_and_one(self, audits, fake, platforms, runs):
        old = pushed(fake, "team/app", "1", platforms, "old")
        app = pushed(fake, "team/app", "1", platforms, "new")
        config = {
            "first": app.configs[platforms[0]],
            "last": app.configs[platforms[-1]],
            "none": f"sha256:{'0' * 64}",
            "moved": old.configs[platforms[-1]],
        }[runs]
        pod = Pod(f"{APP}:1", config, platforms[-1])
        build = audits.one(pod)
        expected = (
            "unknown" if runs == "none" else "mismatch" if runs == "first" != platforms[-1] else "proven"
        )
        if runs == "first" and len(platforms) == 1:
            expected = "proven"
        assert build.verdict == expected
        besides = audits.asked().total() - 1
        assert besides <= min(len(platforms) + 1, 3)
        if runs == "none":
            assert "the tag moved, or the image was loaded" in build.reason
        else:
            assert audits.one(pod) == build
            assert audits.asked() == {}

    def test_a_digest_of_another_repository_is_asked_there_first(self, audits, fake):
        pushed(fake, "team/app", "1", BOTH, "new")
        old = pushed(fake, "mirrored/app", "9", BOTH, "old")
        build = audits.one(Pod(f"{APP}:1", f"m.example/mirrored/app@{old.index}"))
        assert (build.verdict, build.index, build.moved) == ("proven", old.index, "")
        assert [asked.repository for asked in fake.asked][-1] == "mirrored/app"

    def test_then_at_the_repository_of_the_pod(self, audits, fake):
        old = pushed(fake, "team/app", "1", BOTH, "old")
        pushed(fake, "team/app", "1", BOTH, "new")
        build = audits.one(Pod(f"{APP}:1", f"gone.example/gone/app@{old.index}"))
        assert (build.verdict, build.index) == ("proven", old.index)

    def test_the_reason_names_what_each_repository_answered(self, audits):
        build = audits.one(Pod(f"{APP}:1", f"m.example/gone/app@sha256:{'0' * 64}"))
        assert build.verdict == "unknown"
        assert "has no gone/app@sha256:000" in build.reason
        assert "has no team/app@sha256:000" in build.reason

    def test_many_containers_of_one_image_ask_once(self, audits, fake):
        old = pushed(fake, "team/app", "1", BOTH, "old")
        pushed(fake, "team/app", "1", BOTH, "new")
        pods = [Pod(f"{APP}:1", f"{APP}@{old.index}", f"linux/{arch}") for arch in ("amd64", "arm64") * 20]
        facts = audits.answered(running(*pods))
        assert {build.platform for build in facts.builds} == set(BOTH)
        assert audits.asked() == {"manifest": 2}

    def test_offline_the_platforms_of_the_cache_prove_what_they_can(self, audits, fake):
        app = pushed(fake, "team/app", "1", BOTH)
        audits.one(Pod(f"{APP}:1", ""))
        audits.set(offline=True)
        build = audits.one(Pod(f"{APP}:1", f"{APP}@{app.index}", "linux/arm64"))
        assert (build.verdict, build.platform) == ("proven", "linux/arm64")
        other = audits.one(Pod(f"{APP}:1", f"{APP}@sha256:{'1' * 64}"))
        assert (other.verdict, other.reason) == (
            "unknown", "the cache does not know the digest, and --offline forbids asking",
        )  # fmt: skip
        assert audits.asked() == {}


class TestShards:
    def cluster(self, fake: FakeRegistry) -> AuditFacts:
        pods = []
        for number in range(12):
            repository = f"team/app{number}"
            old = pushed(fake, repository, "1", BOTH, "old")
            new = pushed(fake, repository, "1", FIVE, "new")
            name = f"r{number % 3}.example/{repository}"
            pods += [
                Pod(f"{name}:1", f"{name}@{new.index}", "linux/arm64"),
                Pod(f"{name}:1", f"{name}@{old.index}"),
                Pod(f"{name}:1", new.configs["linux/amd64"]),
                Pod(f"{name}:1", f"{name}@{new.manifests['linux/arm64']}", "linux/arm64", CRI_O),
                Pod(f"copy.example/other{number}:1", f"{name}@{new.index}"),
                Pod(f"{name}:gone", ""),
            ]
        return running(*pods)

    @pytest.mark.parametrize("number", [1, 2, 3, 8, 64])
    def test_their_union_is_the_whole_and_no_image_is_asked_twice(self, audits, fake, number):
        facts = self.cluster(fake)
        audits.set(no_cache=True)
        whole = audits.answered(facts)
        asked = Counter((one.method, one.path) for one in fake.asked)
        parts, of_shards = [], Counter[tuple[str, str]]()
        for index in range(number):
            parts.append(audits.answered(facts, (index, number)))
            of_shards += Counter((one.method, one.path) for one in fake.asked)
        assert merge(parts).replace(shards=()) == whole
        assert of_shards == asked
        assert all(build.verdict != "unread" for build in whole.builds)

    def test_what_another_shard_reads_stays_unread(self, audits, fake):
        facts = self.cluster(fake)
        part = audits.answered(facts, (0, 4))
        assert {image.answer for image in part.images} >= {"Unread", "Found"}
        assert {build.verdict for build in part.builds} >= {"unread", "proven"}
        assert part.shards == (Shard("s", 0, 4),)
