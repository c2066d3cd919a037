"""`archfit lock --from-audit`: the images that run, as an audit knows them."""

import pytest
from tests.audit.audit_clusters import written

from archfit.facts.facts import AuditFacts, ImageFacts
from lock_runs import Locking, pod

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
NGINX, REDIS, APP = "docker.io/library/nginx:1.27", "docker.io/library/redis:latest", "quay.io/team/app:1"
PRIVATE = "quay.io/team/private:1"


def audit(locking: Locking, *found: str, name: str = "audit.json", **others: str) -> str:
    """A report in the folder. others: answer -> reference."""
    facts = [ImageFacts(one, "Found", ("linux/amd64",), ("amd64",)) for one in found]
    facts += [ImageFacts(one, answer, detail=f"why {answer}") for answer, one in others.items()]
    return locking.write(name, written(AuditFacts(images=tuple(facts))).decode())


def test_the_images_of_an_audit_are_locked_as_the_registry_has_them_now(locking):
    said = locking.lock("nobody reads this", "--from-audit", audit(locking, NGINX, APP))
    assert said.status == 0, said.stderr
    assert locking.held() == [NGINX, APP]
    assert said.stderr.splitlines()[0] == f"added: {NGINX} (linux/amd64, linux/arm64)"


def test_audits_and_manifests_go_together(locking):
    words = ["--from-audit", audit(locking, NGINX), "--from-audit", audit(locking, APP, name="b.json")]
    assert locking.lock(pod("redis", "nginx:1.27"), *words, "-").status == 0
    assert locking.held() == [NGINX, REDIS, APP]
    before = locking.stamp()
    assert locking.lock(pod("redis"), *words, "--check", "-").status == 0
    assert locking.stamp() == before


def test_an_image_that_is_not_known_is_named_and_left_out(locking):
    said = locking.lock(
        "", "--from-audit", audit(locking, NGINX, Unknown=PRIVATE, Unread="quay.io/a/b:1", Unasked="")
    )
    assert said.status == 0
    assert locking.held() == [NGINX]
    assert f"{PRIVATE} is left out: why Unknown" in said.stderr
    assert (
        "quay.io/a/b:1 is left out: the audit did not ask for it; merge the reports of all shards"
        in said.stderr
    )
    assert said.stderr.count("left out") == 2


def test_another_report_may_know_it(locking):
    first = audit(locking, NGINX, Unread=APP)
    assert (
        locking.lock("", "--from-audit", first, "--from-audit", audit(locking, APP, name="b.json")).status
        == 0
    )
    assert locking.held() == [NGINX, APP]


def test_prune_never_drops_an_image_that_is_only_not_known(locking):
    assert locking.lock("", "--from-audit", audit(locking, NGINX, APP, REDIS)).status == 0
    before = locking.stamp()
    said = locking.lock("", "--from-audit", audit(locking, NGINX, Unknown=APP), "--prune")
    assert (said.status, locking.stamp()) == (1, before)
    assert f"{APP}: why Unknown; --prune would drop its entry" in said.stderr
    assert locking.lock("", "--from-audit", audit(locking, NGINX, Absent=APP), "--prune").status == 0
    assert locking.held() == [NGINX]


def test_an_image_that_vanished_since_fails_and_writes_nothing(locking):
    said = locking.lock("", "--from-audit", audit(locking, NGINX, "quay.io/team/gone:1"))
    assert said.status == 1
    assert "quay.io/team/gone:1: there is no such image" in said.stderr
    assert not locking.file.exists()


def test_stated_platforms_need_no_lock(locking):
    words = ("--from-audit", audit(locking, NGINX, APP), "--image-platforms", "quay.io/team/*=linux/arm64")
    assert locking.lock("", *words).status == 0
    assert locking.held() == [NGINX]


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        pytest.param(None, 2, "--from-audit: cannot read", id="no file"),
        pytest.param("{", 1, "is not JSON, or ends before its end", id="cut off"),
        pytest.param('{"kind": "List"}', 1, "is not a report of archfit audit", id="a list"),
        pytest.param(written(AuditFacts()).decode(), 1, "there is nothing to lock", id="nothing in it"),
    ],
)
def test_a_wrong_report_is_named(locking, text, status, message):
    path = str(locking.folder / "no.json") if text is None else locking.write("a.json", text)
    said = locking.lock("", "--from-audit", path)
    assert said.status == status
    assert message in said.stderr
    assert not locking.file.exists()
