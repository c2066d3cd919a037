"""What changes in the cluster when nothing in the manifests did: docs/decisions.md, "What an outage changes".

Each row renders the same manifests twice, before and after something happened, and compares the bytes.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archfit.lock.command import lock
from archfit.lookup.entries import RULES
from archfit.lookup.store.sqlite import SCHEMA, SqliteStore
from archfit.registry.http import http_client
from archfit.rewrite.command import transform
from fake_registry import FakeRegistry
from machine import ROOT
from program import called

DAY = 86400
POD = b"""\
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: a
      image: x.example/app:1
"""
BOTH = ["linux/amd64", "linux/arm64"]
SAME, ERROR, ASSUMED, PLAIN = (
    "the same",
    "an error",
    "placed for `--assume`",
    "without what archfit adds",
)
POLICIES = {
    "fail": [],
    "assume": ["--on-unknown=assume", "--assume=linux/amd64"],
    "leave": ["--on-unknown=leave", "--strict"],
}


class Site:
    """A user's machine, with a cache and a registry that may go away. said: what the last render wrote to stderr."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "lookups.sqlite"
        self.registry = FakeRegistry()
        self.registry.index("app", "1", BOTH)
        self.said = ""
        self.words = [f"--mirror=*={self.registry.url}", f"--cache={self.cache}", "--immutable=full"]

    def render(self, *words: str, text: bytes = POD) -> tuple[int, bytes]:
        """One run: its exit code and its standard output."""
        status, written, self.said = called(
            transform, [*self.words, *words], text, {"HOME": str(self.folder)}
        )
        return status, written

    def lock(self) -> list[str]:
        """A lock file of the manifests, and the flag that names it."""
        path = self.folder / "archfit.lock"
        called(lock, [*self.words[:2], f"--lock-file={path}", "-"], POD, {"HOME": str(self.folder)}).ok()
        return [f"--lock-file={path}"]

    def aged(self, seconds: int) -> None:
        """As if so much time had passed since the answers came; below 0, as if the clock had been ahead."""
        self.changed(lambda entry: {"checked": entry["checked"] - seconds})

    def changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Other members in each answer of the cache."""
        store = SqliteStore(str(self.cache))
        texts = {key: json.loads(text) for key, text in store.items() if '"checked"' in text}
        assert texts
        store.put_many({key: json.dumps({**text, **change(text)}) for key, text in texts.items()})
        store.close()

    def lost(self) -> None:
        """No cache any more."""
        for path in self.folder.glob("lookups.sqlite*"):
            path.unlink()

    def of_format(self, number: int) -> None:
        """As if another version of archfit had written the cache."""
        with sqlite3.connect(self.cache) as file:
            file.execute(f"PRAGMA user_version = {number}")
        file.close()

    def moved(self, seconds: int = 0) -> None:
        """The tag moves to another image, so many seconds after the answer came."""
        if seconds:
            self.aged(seconds)
        self.registry.index("app", "1", ["linux/amd64"])

    def checked(self) -> int:
        """When the tag was last confirmed."""
        store = SqliteStore(str(self.cache))
        (text,) = (text for key, text in store.items() if key.startswith("tag:"))
        store.close()
        when: int = json.loads(text)["checked"]
        return when


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setattr(http_client, "wait_seconds", lambda _tried, _asked: 0.0)
    made = Site(tmp_path)
    yield made
    made.registry.close()


def locked(site: Site) -> list[str]:
    flags = site.lock()
    site.lost()
    return flags


# While no registry answers: what archfit still has -> by policy, what the second render is.
OUTAGE: list[tuple[str, Callable[[Site], list[str] | None], tuple[str, str, str]]] = [
    ("a lock file", locked, (SAME, SAME, SAME)),
    ("the cache, with an answer up to `--cache-ttl` old", lambda _: None, (SAME, SAME, SAME)),
    (
        "the cache, with an answer up to `--max-stale` old",
        lambda site: site.aged(2 * DAY),
        (SAME, SAME, SAME),
    ),
    ("the cache, with an older answer", lambda site: site.aged(9 * DAY), (ERROR, SAME, PLAIN)),
    ("the cache, with an answer dated in the future", lambda site: site.aged(-2 * DAY), (ERROR, SAME, PLAIN)),
    ("nothing: the cache is lost", Site.lost, (ERROR, ASSUMED, PLAIN)),
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("_has", "keep", "expected"), [pytest.param(*row, id=row[0]) for row in OUTAGE])
def test_an_outage(site, _has, keep, expected, policy):
    before = site.render(*POLICIES[policy])
    assert before[0] == 0
    assert b"key: kubernetes.io/arch" in before[1]
    narrowed = site.render("--image-platforms=x.example/app=linux/amd64")
    flags = keep(site) or []
    site.registry.close()
    expect = {SAME: before, ERROR: (1, b""), ASSUMED: narrowed, PLAIN: (0, POD)}
    what = expected[list(POLICIES).index(policy)]
    assert site.render(*POLICIES[policy], *flags) == expect[what], site.said
    assert len({before, (1, b""), narrowed, (0, POD)}) == 4


@pytest.mark.parametrize(
    ("policy", "flags"),
    [("assume", ["--stamp"]), ("leave", ["--stamp"]), ("assume", [])],
    ids=["assume", "leave", "assume, and a render without --stamp"],
)
def test_an_earlier_stamp_outlasts_an_outage(site, policy, flags):
    """What an earlier run wrote rests on an answer: neither taken back nor narrowed by an assumption."""
    _, stamped = site.render("--stamp")
    assert b"archfit.dev/added" in stamped
    site.lost()
    site.registry.close()
    assert site.render("--stamp", text=stamped) == (1, b"")
    assert site.render(*flags, *POLICIES[policy], text=stamped) == (0, stamped), site.said
    assert "its platforms are not known" in site.said


def test_an_assumption_says_which_old_answer_counts(site):
    site.render()
    site.aged(9 * DAY)
    site.registry.close()
    site.render(*POLICIES["assume"])
    assert re.search(
        r"x\.example/app:1: 127\.0\.0\.1:\d+ cannot be connected to .*; an answer 9 days old is used "
        r"\(--on-unknown assume\): linux/amd64, linux/arm64",
        site.said,
    ), site.said


def moved_under_a_lock_file(site: Site) -> list[str]:
    flags = site.lock()
    site.moved(DAY)
    return flags


def older_rules(site: Site) -> None:
    site.changed(lambda _entry: {"rules": RULES - 1})


def damaged_cache(site: Site) -> None:
    site.lost()
    site.cache.write_bytes(b"no database" * 100)


def lock_of_another_format(site: Site) -> list[str]:
    flags = site.lock()
    path = site.folder / "archfit.lock"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"version": 1', '"version": 2'), encoding="utf-8"
    )
    return flags


NEW = "placed by the new answer"
# While registries answer: what happened -> what the second render is, and how often a registry is asked for it.
EVENTS: list[tuple[str, Callable[[Site], list[str] | None], str, int]] = [
    ("the cache is lost", Site.lost, SAME, 1),
    ("the cache is damaged", damaged_cache, SAME, 1),
    ("a tag moved less than `--cache-ttl` ago", Site.moved, SAME, 0),
    ("a tag moved before that", lambda site: site.moved(DAY), NEW, 2),
    ("a tag moved, and a lock file has it", moved_under_a_lock_file, SAME, 0),
    ("the clock jumps forward", lambda site: site.aged(400 * DAY), SAME, 1),
    ("the clock jumps back", lambda site: site.aged(-400 * DAY), SAME, 1),
    (
        "archfit is upgraded, and the cache is of an older format",
        lambda site: site.of_format(SCHEMA - 1),
        SAME,
        1,
    ),
    ("archfit is upgraded, and reads indexes by other rules", older_rules, SAME, 1),
    (
        "archfit is downgraded, and the cache is of a newer format",
        lambda site: site.of_format(SCHEMA + 1),
        SAME,
        1,
    ),
    ("the lock file is of another format", lock_of_another_format, ERROR, 0),
]


@pytest.mark.parametrize(
    ("_what", "happens", "expected", "asked"), [pytest.param(*row, id=row[0]) for row in EVENTS]
)
def test_an_event(site, _what, happens, expected, asked):
    before = site.render()
    narrowed = site.render("--image-platforms=x.example/app=linux/amd64")
    flags = happens(site) or []
    site.registry.forget()
    try:
        after = site.render(*flags)
    except Exception as error:  # noqa: BLE001 - the command line makes it an exit code
        after, site.said = (1, b""), str(error)
    assert after == {SAME: before, NEW: narrowed, ERROR: (1, b"")}[expected], site.said
    assert len(site.registry.asked) == asked


def test_an_entry_of_the_future_does_not_live_for_ever(site):
    site.render()
    site.aged(-400 * DAY)
    future = site.checked()
    site.render()
    assert site.checked() < future
    site.registry.forget()
    site.render()
    assert site.registry.asked == []


def test_nothing_that_a_controller_calls_again_changes_what_is_deployed_in_an_outage():
    folders = [ROOT / name for name in ("kustomize-plugin", "helm-plugin", "charts", "templates")]
    folders += (ROOT / "transformer" / "archfit").rglob("files")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.y*ml")]
    page = (ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
    texts += re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    said = [
        value for text in texts for value in re.findall(r"(?i)on[-_]?unknown[\"']?[:= ]+[\"']?(\w+)", text)
    ]
    assert set(said) == {"fail"}


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition(f"\n### {heading}\n")[2]
    table = re.findall(r"^\|.*\|$", page.partition("\n#")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[2:]]


def test_the_page_has_the_table_of_an_outage():
    stamped = ["nothing, but the manifests carry what an earlier `--stamp` recorded", ERROR, SAME, SAME]
    assert _rows("While no registry answers") == [*([name, *what] for name, _, what in OUTAGE), stamped]
