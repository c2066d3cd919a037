"""`archfit audit --newer-tags`: whose tags are asked, in which order, and what the facts say of it."""

import csv
import io
import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.audit.cluster_objects import as_json as listed
from tests.audit.cluster_objects import bare_pod as pod
from tests.audit.cluster_objects import node, workload

from archfit.audit.command import audit as run
from archfit.audit.upgrades import is_own, of_an_account, replacement, to_do
from archfit.facts.facts import ImageFacts
from archfit.images.candidates import NewerTag
from archfit.images.platforms import Found, parse_platform
from archfit.lookup.lockfile import render
from fake_registry import Answer, FakeRegistry
from program import Ran, called
from tagged_repositories import BOTH

AMD = BOTH[:1]


class Report:
    """A run: its exit code, the two streams, the report where it is JSON."""

    def __init__(self, ran: Ran) -> None:
        self.status, self.stdout, self.stderr = ran

    @property
    def value(self) -> dict[str, Any]:
        return json.loads(self.stdout)

    @property
    def images(self) -> dict[str, dict[str, Any]]:
        """The facts of images, by reference."""
        return {one["reference"]: one for one in self.value["facts"]["images"]}

    @property
    def to_do(self) -> dict[str, str]:
        """What the work list says, by reference."""
        return {one["reference"]: one["toDo"] for one in self.value["findings"]["workLists"][0]["items"]}


class Audited:
    """`archfit audit` with a cache of its own, and a registry that stands for all."""

    def __init__(self, folder: Path, served: FakeRegistry) -> None:
        self.folder, self.served = folder, served

    def __call__(self, text: bytes, *words: str, form: str = "json") -> Report:
        cache = str(self.folder / "c.sqlite")
        words = ("--mirror", f"*={self.served.url}", "--cache", cache, "--format", form, *words)
        return Report(called(run, words, text, {"HOME": str(self.folder), "PATH": os.environ["PATH"]}))

    def lists(self) -> list[str]:
        """The repositories whose tags were asked for, sorted."""
        return sorted(asked.repository for asked in self.served.asked if asked.kind == "list")


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        for name in ("app", "tool"):
            fake.index(name, "1.0.0", AMD)
            fake.index(name, "1.0.1", BOTH)
            fake.tags(name, "1.0.0", "1.0.1")
        fake.index("both", "1", BOTH)
        yield fake


@pytest.fixture
def audit(tmp_path, served):
    return Audited(tmp_path, served)


APP, TOOL = "x.example/app:1.0.0", "x.example/tool:1.0.0"
CLUSTER = listed(pod("a", APP, "3"), pod("b", TOOL), pod("c", "x.example/both:1", "4"))


class TestWhoIsAsked:
    def test_nobody_without_the_flag(self, audit):
        told = audit(CLUSTER)
        assert audit.lists() == []
        assert (told.images[APP]["newer"], told.images[APP]["newerRead"], told.images[APP]["newerFor"]) == (
            [],
            "no",
            "",
        )
        assert told.value["findings"]["upgrades"] is None

    def test_the_repositories_of_images_that_lack_it(self, audit):
        told = audit(CLUSTER, "--newer-tags")
        assert told.status == 0
        assert audit.lists() == ["app", "tool"]
        digest = told.images[APP]["newer"][0]["digest"]
        assert told.images[APP]["newer"] == [
            {"tag": "1.0.1", "digest": digest, "step": "patch", "platforms": BOTH, "exact": True}
        ]
        assert told.images[APP]["newerRead"] == "complete"
        assert told.images[APP]["newerFor"] == "arm64"
        assert told.to_do == {APP: "use 1.0.1 (patch)", TOOL: "use 1.0.1 (patch)"}
        upgrades = told.value["findings"]["upgrades"]
        assert (
            upgrades["asked"],
            upgrades["notAsked"],
            upgrades["replaceable"],
            upgrades["freed"]["cpu"],
        ) == (2, 0, 2, 4000)

    def test_in_the_order_of_the_work_list_until_the_budget_is_spent(self, audit):
        told = audit(CLUSTER, "--newer-tags=1")
        assert audit.lists() == ["app"]
        assert (told.images[TOOL]["newerFor"], told.images[TOOL]["newerWhy"]) == (
            "", "not asked: --newer-tags=1 allows no more repositories",
        )  # fmt: skip
        assert told.to_do == {APP: "use 1.0.1 (patch)", TOOL: "look for a newer tag"}
        upgrades = told.value["findings"]["upgrades"]
        assert (upgrades["asked"], upgrades["notAsked"]) == (1, 1)

    def test_one_repository_is_asked_once_for_all_its_tags(self, audit, served):
        served.index("app", "0.9.0", AMD)
        served.tags("app", "0.9.0", "1.0.0", "1.0.1")
        told = audit(listed(pod("a", APP), pod("b", "x.example/app:0.9.0"), pod("c", TOOL)), "--newer-tags=2")
        assert audit.lists() == ["app", "tool"]
        assert told.to_do["x.example/app:0.9.0"] == "use 1.0.1 (major)"

    @pytest.mark.parametrize(
        "image",
        [
            pytest.param("x.example/both:1", id="it-has-it"),
            pytest.param("x.example/gone:1", id="it-is-gone"),
            pytest.param("{{image}}", id="no-reference"),
        ],
    )
    def test_what_is_not_known_to_lack_it_is_never_asked(self, audit, image):
        audit(listed(pod("a", image), pod("b", "x.example/both:1")), "--newer-tags")
        assert audit.lists() == []

    def test_a_tag_beside_a_digest_is_where_the_search_begins(self, audit, served):
        digest = served.index("app", "1.0.0", AMD)
        told = audit(listed(pod("a", f"x.example/app:1.0.0@{digest}")), "--newer-tags")
        assert told.to_do == {f"x.example/app@{digest}": "use 1.0.1 (patch)"}

    def test_a_digest_alone_leads_nowhere_and_that_is_said(self, audit, served):
        digest = served.index("app", "1.0.0", AMD)
        told = audit(listed(pod("a", f"x.example/app@{digest}"), pod("b", TOOL)), "--newer-tags")
        fact = told.images[f"x.example/app@{digest}"]
        assert (fact["newerFor"], fact["newerWhy"]) == ("", "it names a digest and no tag")
        assert told.value["findings"]["upgrades"]["notAsked"] == 1

    def test_the_first_architecture_that_is_required(self, audit, served):
        served.index("app", "1.0.2", [*BOTH, "linux/s390x"])
        served.tags("app", "1.0.0", "1.0.1", "1.0.2")
        told = audit(listed(pod("a", APP)), "--newer-tags", "--require", "s390x,arm64", "--allow-unknown")
        assert (told.status, told.to_do) == (3, {APP: "use 1.0.2 (patch)"})
        assert told.images[APP]["newerFor"] == "s390x"

    def test_a_tag_keeps_the_architectures_of_the_nodes_that_the_image_has(self, audit, served):
        served.index("app", "1.0.1", ["linux/arm64"])
        nodes = node("n", "arm64")
        assert audit(listed(pod("a", APP), nodes), "--newer-tags").to_do == {APP: "use 1.0.1 (patch)"}
        assert audit(listed(pod("a", APP), nodes, node("m", "amd64")), "--newer-tags").to_do == {
            APP: "ask upstream"
        }

    def test_a_second_run_asks_nobody_and_says_the_same(self, audit, served):
        told = audit(CLUSTER, "--newer-tags")
        served.forget()
        again = audit(CLUSTER, "--newer-tags")
        assert (again.stdout, served.asked) == (told.stdout, [])


class TestTrust:
    def test_offline_uses_the_cache_alone(self, audit, served):
        first = audit(CLUSTER, "--newer-tags")
        served.forget()
        assert audit(CLUSTER, "--newer-tags", "--offline").images == first.images
        assert served.asked == []

    def test_offline_without_a_list_says_so(self, audit, served):
        audit(CLUSTER)
        served.forget()
        told = audit(CLUSTER, "--newer-tags", "--offline")
        assert served.asked == []
        assert (
            told.images[APP]["newerWhy"] == "the cache has no list of its tags, and --offline forbids asking"
        )
        assert told.to_do[APP] == "ask upstream (its tags are not known)"

    def test_locked_asks_nobody(self, audit, served, tmp_path):
        locked = {APP: Found((parse_platform("amd64"),), "sha256:" + "a" * 64)}
        (tmp_path / "archfit.lock").write_bytes(render(locked))
        told = audit(
            listed(pod("a", APP)), "--newer-tags", "--lock-file", str(tmp_path / "archfit.lock"), "--locked"
        )
        assert served.asked == []
        assert told.images[APP]["newerRead"] == "no"
        assert (
            told.images[APP]["newerWhy"] == "the cache has no list of its tags, and --locked forbids asking"
        )

    def test_a_host_that_policy_refuses_is_not_asked(self, audit, served):
        audit(CLUSTER)
        served.forget()
        told = audit(CLUSTER, "--newer-tags", "--deny-host", "127.0.0.1")
        assert served.asked == []
        assert told.images[APP]["newerRead"] == "no"

    def test_the_list_is_asked_with_the_credentials_of_the_registry(self, audit, served):
        given = served.bearer()
        told = audit(CLUSTER, "--newer-tags")
        assert told.to_do[APP] == "use 1.0.1 (patch)"
        assert set(given) == {"repository:app:pull", "repository:tool:pull", "repository:both:pull"}

    def test_a_deadline_counts_for_answers_and_tags_together(self, audit, served):
        audit(CLUSTER)
        never = threading.Event()
        served.on(lambda asked: Answer(hold=never) if asked.kind == "list" else None)
        told = audit(CLUSTER, "--newer-tags", "--timeout", "2s")
        never.set()
        assert told.images[APP]["newerRead"] == "no"
        assert told.images[APP]["newerWhy"]
        assert told.status == 0

    @pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
    def test_a_list_that_is_refused_changes_no_verdict(self, audit, served, status):
        before = audit(CLUSTER)
        served.on(
            lambda asked: Answer(status, headers={"Retry-After": "0"}) if asked.kind == "list" else None
        )
        told = audit(CLUSTER, "--newer-tags")
        assert told.status == before.status == 0
        assert told.value["findings"]["readiness"] == before.value["findings"]["readiness"]
        assert told.to_do[APP] == "ask upstream (its tags are not known)"
        assert told.images[APP]["newerWhy"]

    @pytest.mark.parametrize("words", [("--require", "arm64"), ("--min-ready", "90%"), ()])
    def test_the_exit_code_is_that_of_a_run_without_it(self, audit, words):
        assert (
            audit(CLUSTER, *words).status
            == audit(CLUSTER, *words, "--newer-tags").status
            == (3 if words else 0)
        )


class TestShards:
    def test_the_shard_of_a_repository_asks_for_its_tags(self, audit, served, tmp_path):
        whole = audit(CLUSTER, "--newer-tags")
        for file in tmp_path.glob("c.sqlite*"):
            file.unlink()
        served.forget()
        parts = [
            audit(CLUSTER, "--newer-tags", "--shards", "3", "--shard", str(index)).stdout
            for index in range(3)
        ]
        assert Counter(audit.lists()) == {"app": 1, "tool": 1}
        names = []
        for index, part in enumerate(parts):
            (tmp_path / f"{index}.json").write_bytes(part)
            names.append(str(tmp_path / f"{index}.json"))
        joined = audit(b"", "--merge", *names)
        assert joined.images == whole.images
        assert joined.value["findings"]["upgrades"] == whole.value["findings"]["upgrades"]


class TestWrongUsage:
    def test_a_word_behind_the_flag_is_a_file(self, audit, tmp_path):
        (tmp_path / "cluster.json").write_bytes(CLUSTER)
        told = audit(b"", "--newer-tags", str(tmp_path / "cluster.json"))
        assert told.to_do[APP] == "use 1.0.1 (patch)"


def _image(reference: str, *tags: NewerTag, **fields: Any) -> ImageFacts:
    return ImageFacts(reference, "Found", ("linux/amd64",), ("amd64",), newer=tags, **fields)


TAG = NewerTag("1.1.0", "sha256:1", "minor", tuple(BOTH))
SIBLING = NewerTag("1.0-arm64", "sha256:1", "sibling", ("linux/arm64",))
LATEST = NewerTag("latest", "sha256:1", "latest", tuple(BOTH))
OWN = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app:1"
ASKED = {"newer_for": "arm64", "newer_read": "complete"}


@pytest.mark.parametrize(
    ("state", "image", "words"),
    [
        pytest.param("no", _image(APP, TAG, **ASKED), "use 1.1.0 (minor)", id="a-version"),
        pytest.param("no", _image(APP, TAG.replace(exact=False), **ASKED), "use 1.1.0 (minor) at most", id="an-upper-bound"),
        pytest.param("no", _image(APP, TAG.replace(step="same"), **ASKED), "use 1.1.0 as it is now (same)", id="the-tag-moved"),
        pytest.param("no", _image(APP, SIBLING, **ASKED), "join 1.0-arm64 into an index (sibling)", id="a-sibling"),
        pytest.param("no", _image(APP, LATEST, **ASKED), "use latest (latest)", id="latest"),
        pytest.param("no", _image(APP, **ASKED), "ask upstream", id="nothing-has-it"),
        pytest.param("no", _image(OWN, **ASKED), "build it", id="nothing-has-it-in-an-account"),
        pytest.param("no", _image(APP, newer_for="arm64", newer_read="partial"), "ask upstream (not all tags were read)", id="partial"),
        pytest.param("no", _image(OWN, newer_for="arm64", newer_read="no"), "build it (its tags are not known)", id="no-list"),
        pytest.param("no", _image(APP), "look for a newer tag", id="nobody-asked"),
        pytest.param("no", _image(OWN), "build it", id="nobody-asked-an-account"),
        pytest.param("no", _image(APP, **{**ASKED, "newer_for": "s390x"}), "look for a newer tag", id="asked-for-another"),
        pytest.param("no", _image(APP, TAG, **{**ASKED, "newer_for": "s390x"}), "use 1.1.0 (minor)", id="read-for-another-and-has-it"),
        pytest.param("no", _image(APP, TAG.replace(platforms=("linux/s390x",)), **ASKED), "ask upstream", id="a-tag-without-it"),
        pytest.param("fails", _image(APP, TAG, **ASKED), "repair its build", id="fails"),
        pytest.param("absent", _image(APP), "push it again", id="absent"),
        pytest.param("unknown", _image(APP), "find out", id="unknown"),
    ],
)  # fmt: skip
def test_what_is_to_do(state, image, words):
    assert to_do(state, image, "arm64") == words


@pytest.mark.parametrize(
    ("tag", "counts"),
    [
        pytest.param(TAG, True, id="a-version"),
        pytest.param(TAG.replace(exact=False), True, id="at-most"),
        pytest.param(SIBLING, False, id="sibling"),
        pytest.param(SIBLING.replace(platforms=tuple(BOTH)), False, id="a-sibling-that-is-an-index"),
        pytest.param(LATEST, False, id="latest"),
        pytest.param(TAG.replace(platforms=("linux/amd64",)), False, id="without-it"),
        pytest.param(TAG.replace(platforms=("windows/arm64",)), False, id="another-system"),
        pytest.param(TAG.replace(platforms=("linux/arm64/v8",)), True, id="a-variant"),
    ],
)
def test_a_version_that_was_read_takes_the_place(tag, counts):
    assert (replacement(_image(APP, tag, **ASKED), "arm64") is not None) == counts


@pytest.mark.parametrize(
    ("reference", "own"),
    [
        pytest.param(OWN, True, id="ecr"),
        pytest.param("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/a:1", True, id="ecr-fips"),
        pytest.param("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/a:1", True, id="ecr-china"),
        pytest.param("123456789012.dkr-ecr.eu-west-1.on.aws/a:1", True, id="ecr-dual-stack"),
        pytest.param("public.ecr.aws/team/app:1", False, id="ecr-public"),
        pytest.param("team.azurecr.io/app:1", True, id="acr"),
        pytest.param("team.azurecr.cn/app:1", True, id="acr-china"),
        pytest.param("azurecr.io/app:1", False, id="acr-without-a-name"),
        pytest.param("mcr.microsoft.com/app:1", False, id="microsoft"),
        pytest.param("europe-west1-docker.pkg.dev/project/repo/app:1", True, id="artifact-registry"),
        pytest.param("gcr.io/distroless/static:1", False, id="gcr"),
        pytest.param("harbor.corp.example/team/app:1", True, id="harbor"),
        pytest.param("registry-harbor.corp.example:8443/team/app:1", False, id="harbor-at-the-end"),
        pytest.param("docker.io/harbor/app:1", False, id="a-repository-called-harbor"),
        pytest.param("docker.io/bitnami/app:1", False, id="docker-hub"),
        pytest.param("ghcr.io/team/app:1", False, id="ghcr"),
        pytest.param("team.azurecr.io.evil.example/app:1", False, id="a-longer-name"),
    ],
)
def test_registries_of_an_account(reference, own):
    assert of_an_account(reference) == own


@pytest.mark.parametrize(
    ("image", "patterns", "own"),
    [
        pytest.param(OWN, [], True, id="of-an-account"),
        pytest.param("registry.acme.example:5000/app:1", [], False, id="any-other-host"),
        pytest.param("registry.acme.example:5000/app:1", ["registry.acme.example:5000/*"], True, id="a-port"),
        pytest.param(OWN.replace("team/", "docker-hub/bitnami/"), [], False, id="pull-through-of-ECR"),
        pytest.param("harbor.acme.example/hub-proxy/library/nginx:1", [], False, id="proxy-of-Harbor"),
        pytest.param("harbor.acme.example/quay.io/team/app:1", [], False, id="a-registry's-name"),
        pytest.param("harbor.acme.example/proxies/app:1", [], True, id="another-word"),
        pytest.param("harbor.acme.example/hub/nginx:1", ["!harbor.acme.example/hub/*"], False, id="not-own"),
        pytest.param("harbor.acme.example/app/a:1", ["!harbor.acme.example/hub/*"], True, id="not-own-of-others"),
        pytest.param("harbor.acme.example/cache/a:1", ["harbor.acme.example/cache/*"], True, id="own"),
        pytest.param("ghcr.io/acme/a:1", ["ghcr.io/acme/*", "!ghcr.io/acme/a"], False, id="both"),
    ],
)  # fmt: skip
def test_who_builds_an_image(image, patterns, own):
    assert is_own(image, patterns) == own


def test_a_workload_of_which_one_image_is_replaced_stays_blocked(audit, served):
    served.index("other", "1.0.0", AMD)
    served.tags("other", "1.0.0")
    two = pod("a", APP, containers=[{"name": "b", "image": "x.example/other:1.0.0"}])
    told = audit(listed(two, pod("b", TOOL, "2")), "--newer-tags")
    upgrades = told.value["findings"]["upgrades"]
    assert (upgrades["asked"], upgrades["replaceable"], upgrades["freed"]["cpu"]) == (3, 2, 2000)


def test_daemon_sets_come_first_and_weigh_nothing(audit):
    cluster = listed(workload("DaemonSet", "agent", image=APP), pod("b", TOOL, "2"))
    told = audit(cluster, "--newer-tags=1")
    assert (audit.lists(), told.images[APP]["newer"][0]["tag"]) == (["app"], "1.0.1")
    upgrades = audit(cluster, "--newer-tags").value["findings"]["upgrades"]
    assert (upgrades["asked"], upgrades["replaceable"], upgrades["freed"]["cpu"]) == (2, 2, 2000)


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_table_of_daemon_sets_says_what_to_do(audit, form):
    cluster = listed(workload("DaemonSet", "agent", image=APP), pod("b", "x.example/both:1"))
    assert b"use 1.0.1 (patch)" in audit(cluster, "--newer-tags", form=form).stdout
    assert b"look for a newer tag" in audit(cluster, form=form).stdout


def test_workloads_without_pods_come_last(audit):
    cluster = listed(workload("StatefulSet", "db", replicas=0, image=APP), pod("b", TOOL, "2"))
    told = audit(cluster, "--newer-tags=1")
    assert audit.lists() == ["tool"]
    assert told.images[APP]["newerWhy"] == "not asked: --newer-tags=1 allows no more repositories"
    assert audit(cluster, "--newer-tags").images[APP]["newer"]


class TestForms:
    """Two of four images have a newer tag, one has none, and one is not asked."""

    @pytest.fixture
    def cluster(self, served):
        for name in ("old", "late"):
            served.index(name, "1.0.0", AMD)
            served.tags(name, "1.0.0")
        return listed(
            pod("a", APP, "3"),
            pod("b", TOOL, "2"),
            pod("c", "x.example/old:1.0.0", "1.5"),
            pod("d", "x.example/late:1.0.0", "0.5"),
            pod("e", "x.example/both:1", "3"),
        )

    @pytest.mark.parametrize(
        ("form", "words"),
        [
            pytest.param(
                "text",
                ["        With newer tags alone: 30 % -> 80 %; 2 of 3 images have one; 1 not asked\n",
                 "frees 3 CPU alone: use 1.0.1 (patch)", "frees 2 CPU alone: use 1.0.1 (patch)",
                 "frees 1.5 CPU alone: ask upstream", "frees 0.5 CPU alone: look for a newer tag"],
                id="text",
            ),
            pytest.param("markdown", ["With newer tags alone: 30 % -&#62; 80 %; 2 of 3 images have one; 1 not asked.", "| use 1.0.1 (patch) |", "| To do |"], id="markdown"),
            pytest.param(
                "html",
                ["With newer tags alone: 30 % -&gt; 80 %; 2 of 3 images have one; 1 not asked.",
                 '<bdi>use 1.0.1</bdi> <span class="badge patch">patch</span>', "<bdi>ask upstream</bdi></td>",
                 '<rect class="newer" x="300.0" width="500.0" height="10">', "5 CPU with newer tags",
                 "With newer tags alone: what is ready"],
                id="html",
            ),
        ],
    )  # fmt: skip
    def test_a_form_says_what_newer_tags_bring_where_they_were_asked_for(self, audit, cluster, form, words):
        text = audit(cluster, "--newer-tags=3", form=form).stdout.decode()
        assert [one for one in words if one not in text] == []
        assert b"ewer tags alone" not in audit(cluster, form=form).stdout

    def test_a_long_owner_or_partner_cuts_no_tag_off(self, audit, served):
        long = f"x.example/{'long/' * 12}app"
        served.index(long.removeprefix("x.example/"), "1.0.0", AMD)
        served.tags(long.removeprefix("x.example/"), "1.0.0")
        both = pod("a" * 60, APP, "3", containers=[{"name": "b", "image": f"{long}:1.0.0"}])
        text = audit(listed(both), "--newer-tags", form="text").stdout.decode()
        assert ": use 1.0.1 (patch)" in text
        assert max(map(len, text.splitlines())) <= 80

    def test_csv(self, audit, cluster):
        rows = list(csv.DictReader(io.StringIO(audit(cluster, "--newer-tags=3", form="csv").stdout.decode())))
        assert {row["image"]: (row["newer_tag"], row["newer_step"]) for row in rows} == {
            APP: ("1.0.1", "patch"),
            TOOL: ("1.0.1", "patch"),
            "x.example/old:1.0.0": ("", ""),
            "x.example/late:1.0.0": ("", ""),
            "x.example/both:1": ("", ""),
        }

    def test_a_step_that_is_not_exact_says_so_in_csv(self, audit, served):
        many = [f"1.{minor}.0" for minor in range(200)]
        for tag in many:
            served.index("app", tag, BOTH if int(tag.split(".")[1]) > 90 else AMD)
        served.tags("app", *many)
        (row,) = csv.DictReader(
            io.StringIO(audit(listed(pod("a", APP)), "--newer-tags", form="csv").stdout.decode())
        )
        assert row["newer_step"] == "minor at most"

    def test_kustomize(self, audit, cluster):
        text = audit(cluster, "--newer-tags=3", form="kustomize").stdout.decode()
        assert text == (
            "# Newer tags that were read to have arm64, by archfit: 2 of 3 images have one; 1 not asked.\n"
            "images:\n"
            '- name: "x.example/app" # 1.0.0: patch\n'
            '  newTag: "1.0.1"\n'
            '- name: "x.example/tool" # 1.0.0: patch\n'
            '  newTag: "1.0.1"\n'
        )

    def test_renovate(self, audit, cluster):
        told = audit(cluster, "--newer-tags=3", form="renovate").value
        assert told["description"][1] == "2 of 3 images have one; 1 not asked"
        assert [rule["matchPackageNames"] for rule in told["packageRules"]] == [
            ["x.example/app"],
            ["x.example/tool"],
        ]

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_siblings_and_latest_are_no_replacements(self, audit, served, form):
        for name, tag, platforms in (("app", "1.0.0-arm64", BOTH[1:]), ("tool", "latest", BOTH)):
            served.index(name, "1.0.1", AMD)
            served.index(name, tag, platforms)
            served.tags(name, "1.0.0", "1.0.1", tag)
        told = audit(CLUSTER, "--newer-tags")
        assert told.to_do == {APP: "join 1.0.0-arm64 into an index (sibling)", TOOL: "use latest (latest)"}
        text = audit(CLUSTER, "--newer-tags", form=form).stdout
        assert b"0 of 2 images have one" in text
        assert b"1.0.0-arm64" not in text
        assert b'"latest"' not in text

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_the_names_are_those_of_the_manifests(self, audit, served, form):
        served.index("library/app", "1.0.0", AMD)
        served.index("library/app", "1.0.1", BOTH)
        served.tags("library/app", "1.0.0", "1.0.1")
        text = audit(
            listed(pod("a", "app:1.0.0"), pod("b", "docker.io/app:1.0.0")),
            "--newer-tags",
            "--deny-host",
            "hub.docker.com",
            form=form,
        )
        assert b'"app"' in text.stdout, text.stderr
        assert b'"docker.io/app"' in text.stdout

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_what_is_gone_counts_no_more(self, audit, form):
        old = workload(
            "ReplicaSet", "api-1", owner=("Deployment", "api"), replicas=0, image="x.example/app:0.1.0"
        )
        text = audit(listed(pod("a", APP), old), "--newer-tags", form=form).stdout
        assert b"x.example/app" in text
        assert b"left out" not in text

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_they_need_newer_tags(self, audit, cluster, form):
        told = audit(cluster, form=form)
        assert (told.status, told.stdout) == (2, b"")
        assert (
            f"--format {form}: writes newer tags, and nobody asks for them: add --newer-tags" in told.stderr
        )

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_a_merge_writes_what_its_reports_have(self, audit, cluster, tmp_path, form):
        whole = audit(cluster, "--newer-tags=3", form=form)
        (tmp_path / "a.json").write_bytes(audit(cluster, "--newer-tags=3").stdout)
        assert audit(b"", "--merge", str(tmp_path / "a.json"), form=form).stdout == whole.stdout

    def test_renovate_may_write_a_file_of_json(self, audit, cluster, tmp_path):
        told = audit(cluster, "--newer-tags", "-o", str(tmp_path / "renovate.json"), form="renovate")
        assert "--output" not in told.stderr
        assert json.loads((tmp_path / "renovate.json").read_bytes())["packageRules"]

    @pytest.mark.parametrize("form", ["kustomize", "renovate"])
    def test_a_merge_without_newer_tags_says_so(self, audit, cluster, tmp_path, form):
        (tmp_path / "a.json").write_bytes(audit(cluster).stdout)
        assert b"no image was asked for" in audit(b"", "--merge", str(tmp_path / "a.json"), form=form).stdout
