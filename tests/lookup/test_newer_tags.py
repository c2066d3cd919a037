"""The nearest tags of whole repositories: what they cost, and that nothing is named that is not so."""

import sqlite3
import statistics
import threading
from collections import Counter
from contextlib import closing

from archfit.images.candidates import MOST_MANIFESTS, NewerTag, NewerTags
from archfit.images.platforms import Found, parse_platform
from archfit.lookup.newer_tags import newer_tags
from fake_registry import Answer, Asked, FakeRegistry
from lookup_runs import Runs
from tagged_repositories import BOTH, Shape, serve, shapes

ARM = [parse_platform("arm64")]
CLUSTER = ("amd64", "arm64")


def found(runs: Runs, *texts: str, most: int = 50) -> dict[str, NewerTags]:
    """One run: the answers of the images, then their newer tags."""
    with runs.lookup() as lookup:
        answers = lookup.resolve(texts)
        known = {text: answer for text, answer in answers.items() if isinstance(answer, Found)}
        return newer_tags(lookup, known, ARM, cluster=CLUSTER, seconds=30.0, most=most)


def one(runs: Runs, text: str) -> NewerTags:
    return found(runs, text)[text]


class TestSixtyRepositories:
    def test_every_suggestion_is_right_and_they_cost_four_manifests_at_the_median(self, runs, served):
        drawn = shapes()
        for shape in drawn:
            serve(served, shape)
        texts = {f"x.example/{shape.name}:{shape.current}": shape for shape in drawn}
        runs.ask(*texts)
        served.forget()
        told = found(runs, *texts, most=60)
        wrong = [text for text, shape in texts.items() if not right(told[text], shape)]
        assert wrong == []
        manifests = Counter(asked.repository for asked in served.asked if asked.kind == "manifest")
        lists = Counter(asked.repository for asked in served.asked if asked.kind == "list")
        spent = [manifests[shape.name] for shape in drawn]
        assert statistics.median(spent) <= 4
        assert max(spent) <= 6
        assert max(lists.values()) <= 2
        exact = [text for text in texts if told[text].tags and told[text].tags[0].exact]
        assert (sum(bool(shape.smallest) for shape in drawn), len(exact)) == (54, 47)
        served.forget()
        assert found(runs, *texts, most=60) == told
        assert served.asked == []


def right(newer: NewerTags, shape: Shape) -> bool:
    """The smallest where it is said to be; else one that has arm64 and is no smaller."""
    if not newer.tags:
        return not shape.smallest
    tag = newer.tags[0]
    if tag.tag not in shape.arm or tag.platforms != tuple(BOTH):
        return False
    return (
        tag.tag == shape.smallest
        if tag.exact
        else shape.tags.index(tag.tag) >= shape.tags.index(shape.smallest)
    )


def put(served: FakeRegistry, *arm: str, amd: tuple[str, ...] = ("1.0.0",)) -> None:
    """The repository `app`: tags with both, and tags with amd64 alone."""
    for tag in amd:
        served.index("app", tag, BOTH[:1])
    for tag in arm:
        served.index("app", tag, BOTH)
    served.tags("app", *amd, *arm)


class TestOneRepository:
    def test_the_tag_its_digest_its_step_and_its_platforms(self, runs, served):
        put(served, "1.0.1")
        digest = served.index("app", "1.0.1", BOTH)
        newer = one(runs, "x.example/app:1.0.0")
        assert newer == NewerTags((NewerTag("1.0.1", digest, "patch", tuple(BOTH)),), "complete")
        assert newer.advice == "use 1.0.1 (patch)"
        assert runs.requests == {"list": 1, "manifest": 2}

    def test_a_list_that_lacks_the_tag_in_use_is_a_part(self, runs, served):
        put(served, "1.0.1")
        served.tags("app", "0.9.0")
        newer = one(runs, "x.example/app:1.0.0")
        assert (newer.tags, newer.read) == ((), "partial")
        assert newer.why == "its list lacks 1.0.0, which is in use, so it is a part of one"

    def test_a_tag_for_arm64_alone_takes_no_place(self, runs, served):
        put(served, "1.0.2", amd=("1.0.0", "1.0.1"))
        served.index("app", "1.0.2", ["linux/arm64"])
        served.index("app", "1.0.0-arm64", ["linux/arm64"])
        served.tags("app", "1.0.0", "1.0.1", "1.0.2", "1.0.0-arm64")
        newer = one(runs, "x.example/app:1.0.0")
        assert [(tag.tag, tag.step, tag.ready) for tag in newer.tags] == [("1.0.0-arm64", "sibling", False)]
        assert newer.advice == (
            "join 1.0.0-arm64 (single-architecture sibling) into an index: docker buildx imagetools create"
        )

    def test_a_list_that_lies_is_not_believed(self, runs, served):
        put(served, "1.0.1")
        served.tags("app", "1.0.0", "1.0.1", "1.0.2", "1.0.3")
        assert one(runs, "x.example/app:1.0.0").tags[0].tag == "1.0.1"

    def test_no_list_leaves_the_sibling_and_latest(self, runs, served):
        put(served)
        served.index("app", "latest", BOTH)
        served.on(lambda asked: Answer(403) if asked.kind == "list" else None)
        newer = one(runs, "x.example/app:1.0.0")
        assert (newer.tags[0].tag, newer.tags[0].step, newer.read) == ("latest", "latest", "no")
        assert newer.advice == "use latest (latest)"

    def test_nothing_found_says_what_was_read(self, runs, served):
        put(served, amd=("1.0.0", "1.0.1"))
        assert one(runs, "x.example/app:1.0.0").advice == "no newer tag has it"
        served.on(lambda asked: Answer(403) if asked.kind == "list" else None)
        runs.now += 2 * 86400
        assert one(runs, "x.example/app:1.0.0").advice.startswith("no newer tag is known: ")

    def test_a_search_that_ends_before_the_tags_do_says_so(self, runs, served):
        put(served, amd=tuple(f"1.{minor}.0-{variant}" for minor in range(9) for variant in "abcdefgh"))
        texts = [f"x.example/app:1.0.0-{variant}" for variant in "abcdefgh"]
        newer = found(runs, *texts)[texts[-1]]
        assert (newer.tags, newer.read) == ((), "partial")
        assert newer.why == f"{MOST_MANIFESTS} tags were read, and there are more"

    def test_a_tag_that_could_not_be_read_is_no_tag_without_it(self, runs, served):
        put(served, amd=("1.0.0", "1.0.1", "1.0.2"))
        served.on(lambda asked: Answer(500) if asked.kind == "manifest" and "1.0.2" in asked.path else None)
        newer = one(runs, "x.example/app:1.0.0")
        assert (newer.tags, newer.read) == ((), "partial")
        assert newer.advice.startswith(
            "none of the tags that were read has it: 1 of 2 tags could not be read: "
        )
        assert "answered 500" in newer.why

    def test_a_tag_that_does_not_exist_is_known_to_lack_it(self, runs, served):
        put(served, amd=("1.0.0", "1.0.1"))
        served.tags("app", "1.0.0", "1.0.1", "1.0.2")
        assert one(runs, "x.example/app:1.0.0").advice == "no newer tag has it"

    def test_a_deadline_between_list_and_manifests_leaves_nothing_said(self, runs, served):
        put(served, "1.0.1")
        with runs.lookup() as lookup:
            answers = lookup.resolve(["x.example/app:1.0.0"])
            never = threading.Event()
            served.on(lambda asked: Answer(hold=never) if asked.path.endswith("1.0.1") else None)
            newer = newer_tags(lookup, answers, ARM, cluster=CLUSTER, seconds=1.0)
            never.set()
        assert newer["x.example/app:1.0.0"].read == "partial"

    def test_the_last_tenth_of_the_pulls_is_left_to_images(self, runs, served):
        """As Docker Hub counts them, for each address or account."""
        put(served, "2.0.0", amd=("1.0.0", "1.1.0", "1.2.0"))
        left = iter([10, 9, 8, 7])

        def limited(asked: Asked) -> Answer | None:
            if asked.kind != "manifest":
                return None
            found = served.documents[asked.path]
            limits = {"RateLimit-Limit": "100;w=21600", "RateLimit-Remaining": f"{next(left)};w=21600"}
            return Answer(body=found.body, headers={"Content-Type": found.media_type, **limits})

        served.on(limited)
        newer = one(runs, "x.example/app:1.0.0")
        assert runs.pulls_left == {served.url: "9;w=21600"}
        assert (newer.tags, newer.read) == ((), "partial")
        assert f"{served.url} has 9 of 100 pulls left, which are kept for images that run" in newer.why
        assert runs.found("x.example/app:1.1.0")

    def test_a_tag_beside_a_digest_may_have_moved(self, runs, served):
        old = served.index("app", "1.0.0", BOTH[:1])
        served.index("app", "1.0.0", BOTH)
        served.tags("app", "1.0.0", "1.0.1")
        newer = one(runs, f"x.example/app:1.0.0@{old}")
        assert newer.tags[0].step == "same"
        assert newer.advice == "use 1.0.0 as it is now (same)"

    def test_overrides_of_the_repository_say_nothing_of_other_tags(self, runs, served):
        from archfit.images.platforms import ImagePlatforms

        put(served, amd=("1.0.0", "1.0.1"))
        runs.overrides = (ImagePlatforms("x.example/app:1.0.1", tuple(map(parse_platform, BOTH))),)
        assert one(runs, "x.example/app:1.0.0").tags == ()

    def test_a_stated_image_is_left_out(self, runs, served):
        from archfit.images.platforms import ImagePlatforms

        put(served, "1.0.1")
        runs.overrides = (ImagePlatforms("x.example/app:1.0.0", (parse_platform("amd64"),)),)
        assert found(runs, "x.example/app:1.0.0") == {}

    def test_a_list_of_the_cache_that_no_registry_sends_does_not_count(self, runs, served):
        put(served, "1.0.1")
        told = one(runs, "x.example/app:1.0.0")
        longer = "UPDATE entries SET value = replace(value, '\"1.0.1\"', '\"1.' || printf('%.*c', 5000, '9') || '\"')"
        with closing(sqlite3.connect(str(runs.operator.cache))) as kept, kept:
            (count,) = kept.execute("SELECT count(*) FROM entries WHERE value LIKE '%\"tags\"%'").fetchone()
            kept.execute(longer)
        assert count
        assert one(runs, "x.example/app:1.0.0") == told

    def test_no_time_is_left_for_a_list_that_the_cache_has(self, runs, served):
        """A list of 200,000 tags and 1,000 images takes its time, too."""
        put(served, "1.0.1")
        assert one(runs, "x.example/app:1.0.0").tags
        with runs.lookup() as lookup:
            answers = lookup.resolve(["x.example/app:1.0.0"])
            (newer,) = newer_tags(lookup, answers, ARM, cluster=CLUSTER, seconds=0.0).values()
        assert (newer.tags, newer.read, newer.why) == (
            (),
            "no",
            "no time was left for it: allow more with --timeout",
        )
