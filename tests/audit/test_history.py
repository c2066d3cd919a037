"""`archfit audit --history`: what a line holds, what a history says, and files that are something else."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import audit_clusters
from archfit.audit.facts import AuditFacts, Shard
from archfit.audit.findings import findings
from archfit.audit.report import markdown, page
from archfit.audit.report import text as audit_text
from archfit.audit.report.trend import sparkline, trend_line, trend_sentences
from archfit.audit.trend import history_file
from archfit.audit.trend.history_file import add, check_path, read_history
from archfit.audit.trend.trend import MOST_MOMENTS, Point, Trend, point_of, trend_of
from archfit.base.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_UID = "6a0c0f3e-0000-4000-8000-000000000001"
_KNOWN = {"one/a:1": ("amd64", "arm64")}
_INTEL = {"one/b:1": ("amd64",)}
_LOST = {"one/c:1": "Unknown"}


def _facts(ready: int, blocked: int, unknown: int = 0, **more: str) -> AuditFacts:
    """A cluster with so many thousandths of a CPU in each state for arm64. more: of its snapshot."""
    rows = [
        (name, 1, cpu, images)
        for name, cpu, images in (
            ("secret-name", ready, _KNOWN),
            ("other", blocked, _INTEL),
            ("third", unknown, _LOST),
        )
        if cpu
    ]
    facts = audit_clusters.facts_of(*rows)
    given = {
        "name": "prod-eu",
        "name_by": "context",
        "date": "2026-11-10T00:30:00Z",
        "date_by": "read",
        **more,
    }
    return facts.replace(snapshots=(facts.snapshots[0].replace(**given),))


def point(
    ready: int = 3000, blocked: int = 1000, unknown: int = 0, namespace: str = "", **more: str
) -> Point:
    found = findings(_facts(ready, blocked, unknown, **more))
    made = point_of(found.facts, found.readiness, found.daemon_sets, 0, namespace)
    assert isinstance(made, Point), made
    return made


def night(number: int, ready: int = 3000, blocked: int = 1000, unknown: int = 0, **more: str) -> Point:
    date = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:30:00Z"
    return point(ready, blocked, unknown, date=date, id=f"{number:016x}", **more)


def file_of(path: Path, *points: Point) -> Path:
    for one in points:
        assert add(str(path), one) == []
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


def said(path: Path, new: Point) -> str:
    return "\n".join(map(str, add(str(path), new)))


def test_a_line_holds_counts_and_no_name_of_a_workload_or_an_image(path: Path):
    file_of(path, point(3000, 1000, 500, uid=_UID))
    (text,) = path.read_text().splitlines()
    value = json.loads(text)
    assert text.startswith('{"schema":"archfit.dev/audit-history/v1alpha1","date":"2026-11-10T00:30:00Z",')
    assert (value["cluster"], value["uid"]) == ("prod-eu", _UID)
    arm = next(one for one in value["readiness"] if one["architecture"] == "arm64")
    assert [arm[state]["cpu"] for state in ("ready", "blocked", "unknown")] == [3000, 1000, 500]
    assert not [name for name in ("secret-name", "other", "one/", "Deployment") if name in text]


def test_a_line_is_read_back(path: Path):
    points = (night(1), night(2, unknown=7))
    assert read_history(str(file_of(path, *points))).points == points


def test_two_audits_of_one_snapshot_are_one_line(path: Path):
    file_of(path, night(1), night(2))
    before, inode = path.read_bytes(), path.stat().st_ino
    assert add(str(path), night(2)) == []
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)


def test_a_snapshot_that_is_better_known_renews_its_line_and_keeps_other_architectures(path: Path):
    first = night(2, 3000, 1000, 500)
    file_of(path, night(1), first, night(3))
    again = night(2, 3500, 1000)
    arm = tuple(one for one in again.readiness if one.architecture == "arm64")
    add(str(path), again.replace(readiness=arm, daemon_sets=()))
    points = read_history(str(path)).points
    assert [one.date[:10] for one in points] == ["2026-01-02", "2026-01-03", "2026-01-04"]
    kept = {one.architecture: one for one in points[1].readiness}
    assert kept["arm64"].ready.cpu == 3500
    assert kept["amd64"] == next(one for one in first.readiness if one.architecture == "amd64")


_CUT = b'{"schema":"archfit.dev/audit-history/v1alpha1","date":"2026-01-04T00:3'


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(_CUT, id="cut in the middle"),
        pytest.param(b'","date":"2026-01-04T00:30:00Z"}', id="its beginning is cut"),
        pytest.param(b'{"schema":"archfit.dev/audit-history/v9","new":1}', id="of a later version"),
        pytest.param(b"\xff\xfe\x00", id="bytes"),
        pytest.param(
            b'{"schema":"archfit.dev/audit-history/v1alpha1","date":' + b"[" * 100_000, id="nested deeply"
        ),
    ],
)
@pytest.mark.parametrize("end", [b"", b"\n"], ids=["without a line end", "with a line end"])
def test_a_line_that_is_cut_stays_and_is_named_and_the_remedy_takes_it_out(
    path: Path, bad: bytes, end: bytes
):
    file_of(path, night(1), night(2))
    good = path.read_bytes()
    path.write_bytes(good + bad + end)
    assert [one.date for one in read_history(str(path)).points] == [night(1).date, night(2).date]
    words = said(path, night(4))
    assert words.startswith(
        f"warning: --history: 1 line of {path} is cut, or not of this version of archfit: kept"
    )
    lines = path.read_bytes().split(b"\n")
    assert b"\n".join(lines[:2]) + b"\n" == good
    assert lines[2] == bad
    assert [one.date for one in read_history(str(path)).points][-1] == night(4).date
    remedy = words.partition("To delete: ")[2]
    subprocess.run(remedy, shell=True, check=True)
    assert said(path, night(5)) == ""
    assert [one.date for one in read_history(str(path)).points] == [night(n).date for n in (1, 2, 4, 5)]


def test_a_field_that_is_no_count_or_date_makes_a_line_that_counts_for_nothing(path: Path):
    file_of(path, night(1))
    good = json.loads(path.read_bytes())
    wrong = [
        {**good, "date": "yesterday"},
        {**good, "assumeCpu": -1},
        {**good, "more": 1},
        {**good, "readiness": [{**good["readiness"][0], "ready": 1}]},
        {key: value for key, value in good.items() if key != "uid"},
    ]
    with path.open("a") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in wrong)
    assert len(read_history(str(path)).points) == 1
    assert "5 lines of" in said(path, night(2))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"apiVersion: v1\nkind: List\n", id="YAML"),
        pytest.param(b'{"schema":"archfit.dev/audit/v1alpha2","facts":{}}\n', id="a report"),
        pytest.param(b"\x00" * 5000, id="bytes"),
        pytest.param(b'{"a":1}\n{"b":2}\n', id="JSON lines of something else"),
    ],
)
def test_a_file_that_is_no_history_stays_as_it_is(path: Path, content: bytes):
    path.write_bytes(content)
    assert said(path, night(1)) == (
        f"warning: --history: {path} is no history of archfit audit: name another file, or move it. Nothing was added"
    )
    assert path.read_bytes() == content


def test_a_file_that_is_too_large_stays_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch):
    file_of(path, night(1))
    monkeypatch.setattr(history_file, "MOST_BYTES", 100)
    before = path.read_bytes()
    assert "is larger than 0 MiB, so it is no history" in said(path, night(2))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"\n", b"  \n\n"], ids=["empty", "a line end", "blanks"])
def test_an_empty_file_begins_a_history(path: Path, content: bytes):
    path.write_bytes(content)
    assert add(str(path), night(1)) == []
    assert read_history(str(path)).points == (night(1),)


_FLAG = {"name_by": "flag"}
_OF_UID = {"name": _UID, "name_by": "uid", "uid": _UID}
_OTHER_UID = f"{_UID[:-1]}2"


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        pytest.param({"uid": _UID}, {"uid": _UID, "name": "renamed"}, "", id="one uid"),
        pytest.param(
            {"uid": _UID},
            {"uid": _OTHER_UID},
            f"history of the cluster prod-eu (uid {_UID}), and",
            id="two uids",
        ),
        pytest.param({}, {}, "", id="one context"),
        pytest.param(_FLAG, {}, "", id="a flag and a context with one name"),
        pytest.param(
            {}, {"name": "prod-us"}, "or add --cluster prod-eu if it is the same one", id="two contexts"
        ),
        pytest.param(_OF_UID, {}, f"or add --cluster {_UID} if it is the same one", id="a uid and a context"),
        pytest.param(_OF_UID, {"uid": _UID}, "", id="a uid, and a context with it"),
        pytest.param(_OF_UID, _OF_UID, "", id="only uids"),
    ],
)
def test_a_history_is_of_one_cluster(path: Path, before: dict[str, str], now: dict[str, str], words: str):
    file_of(path, night(1, **before))
    content = path.read_bytes()
    answer = said(path, night(2, **now))
    assert words in answer
    assert (path.read_bytes() == content) == bool(words)
    assert answer.endswith(". Nothing was added") == bool(words)


def test_a_history_of_a_cluster_is_none_of_a_namespace(path: Path):
    file_of(path, night(1))
    answer = said(path, night(2).replace(namespace="shop"))
    assert (
        "is the history of the whole cluster, and this audit is of the namespace shop: name another" in answer
    )


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        pytest.param(
            _facts(1, 1, name="standard input", name_by="input"),
            "add --cluster NAME",
            id="nobody knows the cluster",
        ),
        pytest.param(_facts(1, 1, date=""), "set SOURCE_DATE_EPOCH", id="nobody knows the date"),
        pytest.param(_facts(0, 0, 5), "no image was answered", id="no image was answered"),
        pytest.param(
            _facts(1, 1).replace(shards=(Shard("0" * 16, 0, 2),)),
            "shards are missing",
            id="a part of the shards",
        ),
        pytest.param(
            _facts(1, 1).replace(snapshots=(*_facts(1, 1).snapshots, _facts(1, 1, id="1" * 16).snapshots[0])),
            "this audit is of 2 clusters",
            id="two clusters",
        ),
        pytest.param(AuditFacts(), "this audit is of 0 clusters", id="nothing"),
    ],
)
def test_what_cannot_be_counted_makes_no_line_and_says_what_to_do(facts: AuditFacts, words: str):
    found = findings(facts)
    made = point_of(facts, found.readiness, found.daemon_sets, 0, "")
    assert isinstance(made, str)
    assert words in made


def test_all_shards_together_make_a_line():
    facts = _facts(1, 1).replace(shards=(Shard("0" * 16, 0, 2), Shard("0" * 16, 1, 2)))
    found = findings(facts)
    assert isinstance(point_of(facts, found.readiness, found.daemon_sets, 0, ""), Point)


def test_the_oldest_lines_leave_a_history_that_is_full(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history_file, "MOST_LINES", 3)
    file_of(path, night(1), night(2), night(3))
    assert said(path, night(4)) == f"info: --history: {path} keeps the newest 3 lines: 1 older line left it"
    assert [one.date for one in read_history(str(path)).points] == [night(n).date for n in (2, 3, 4)]


def _add(path: str, first: int) -> None:
    for number in range(first, first + 10):
        assert add(path, night(number)) == []


def test_processes_that_add_at_once_lose_no_line(path: Path):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add, args=(str(path), 10 * number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sorted(one.date for one in read_history(str(path)).points) == sorted(
        night(n).date for n in range(40)
    )
    assert os.listdir(path.parent) == [path.name]


def test_a_lock_that_others_keep_is_said(path: Path, monkeypatch: pytest.MonkeyPatch):
    file_of(path, night(1))
    before = path.read_bytes()
    monkeypatch.setattr(history_file, "_LOCK_SECONDS", 0.0)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        answer = said(path, night(2))
    assert "another process has kept its lock for 0 seconds): nothing was added" in answer
    assert path.read_bytes() == before
    assert said(path, night(2)) == ""


def test_a_disk_that_is_full_leaves_the_history_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch):
    file_of(path, night(1))
    before = path.read_bytes()

    def full(*_words: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(history_file, "replace", full)
    assert "(No space left on device): nothing was added" in said(path, night(2))
    assert path.read_bytes() == before


def test_a_link_stays_a_link(path: Path, tmp_path: Path):
    real = tmp_path / "volume"
    real.mkdir()
    path.symlink_to(real / "history.jsonl")
    file_of(path, night(1), night(2))
    assert path.is_symlink()
    assert len((real / "history.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("none/history.jsonl", "there is no folder 'none': make it", id="no folder"),
        pytest.param(".", "is not a regular file: name one", id="a folder"),
        pytest.param("/dev/null", "is not a regular file: name one", id="a device"),
    ],
)
def test_a_path_where_no_history_can_be_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        check_path(name)


def test_a_path_is_taken_where_a_history_can_be(path: Path):
    check_path(str(path))
    check_path(str(file_of(path, night(1))))


def trend(*points: Point) -> Trend:
    return trend_of(points[-1], points[:-1], "arm64")


@pytest.mark.parametrize(
    ("points", "sentences"),
    [
        pytest.param(
            (night(1),), ["The history holds no earlier audit of this architecture"], id="the first one"
        ),
        pytest.param(
            (night(1, 2500, 1500), night(2)),
            [
                "+12.5 points since 2026-01-02 00:30 UTC: 2.5 of 4 CPU then, 3 of 4 CPU now",
                "2 audits since 2026-01-02, between 62.5 % and 75 %: ▁█",
            ],
            id="more",
        ),
        pytest.param(
            (night(1, 3000, 1000, 500), night(2, 2960, 1040)),
            [
                "-1 point since 2026-01-02 00:30 UTC: 3 of 4 CPU then, 2.96 of 4 CPU now; not known: 0.5 CPU then, "
                "0 CPU now",
                "2 audits since 2026-01-02, between 74 % and 75 %: █▁",
            ],
            id="less, and what was not known",
        ),
        pytest.param(
            (night(1), night(2)),
            [
                "0 points since 2026-01-02 00:30 UTC: 3 of 4 CPU then, 3 of 4 CPU now",
                "2 audits since 2026-01-02, 75 %: ▅▅",
            ],
            id="nothing changed",
        ),
    ],
)
def test_the_trend_says_what_changed_and_of_what(points: tuple[Point, ...], sentences: list[str]):
    assert list(trend_sentences(trend(*points))) == sentences


def _all_unknown(one: Point) -> Point:
    return one.replace(
        readiness=tuple(
            state.replace(
                ready=state.ready.replace(cpu=0), blocked=state.blocked.replace(cpu=0), unknown=state.total
            )
            for state in one.readiness
        )
    )


def test_where_a_share_was_not_known_there_is_a_gap_and_no_delta():
    found = trend(night(1, 1000, 3000), _all_unknown(night(2)), night(3, 2000, 2000), night(4, 3000, 1000))
    assert sparkline(found) == "▁·▅█"
    line = trend_line(found, 100, 20)
    assert line is not None
    assert line.lines == ("65.3,10.0 96.0,4.0",)
    assert line.dots == ((4.0, 16.0), (96.0, 4.0))
    cut = trend(night(1), _all_unknown(night(2)))
    assert cut.delta is None
    assert next(trend_sentences(cut)) == "Since 2026-01-02 00:30 UTC: 75 % ready then, not known now"


def test_pods_and_cpu_are_not_compared():
    pods = [
        one.replace(ready=one.ready.replace(cpu=0), blocked=one.blocked.replace(cpu=0))
        for one in night(1).readiness
    ]
    found = trend(night(1).replace(readiness=tuple(pods)), night(2))
    assert found.delta is None
    assert next(trend_sentences(found)).endswith("50 % ready then, counted otherwise, 75 % ready now")
    assert list(trend_sentences(found))[1:] == ["2 audits since 2026-01-02, 75 %: ·▅"]
    assert trend_line(found, 100, 20).dots == ((96.0, 10.0),)


def test_a_line_that_names_an_architecture_twice_is_one_audit():
    twice = night(1).replace(readiness=night(1).readiness * 2)
    assert trend(twice, night(2)).number == 2


def test_a_trend_has_no_later_audit_none_of_another_weight_and_none_without_the_architecture():
    without = night(3).replace(
        readiness=tuple(one for one in night(3).readiness if one.architecture != "arm64")
    )
    points = (night(1), night(2).replace(assume_cpu=100), without, night(9))
    found = trend_of(night(5), points, "arm64")
    assert [one.date for one in found.moments] == [night(1).date, night(5).date]


def test_lines_that_weigh_pods_otherwise_are_kept_and_said(path: Path):
    file_of(path, night(1))
    assert "1 line of" in said(path, night(2).replace(assume_cpu=100))
    assert len(read_history(str(path)).points) == 2


def test_a_long_trend_shows_its_end_and_says_so():
    found = trend(*(night(number, 1000 + number, 3000 - number) for number in range(100)))
    assert len(found.moments) == len(sparkline(found)) == MOST_MOMENTS
    assert list(trend_sentences(found))[-1].startswith(
        "The last 40 of 100 audits since 2026-01-01, between 26.5 % and 27.4 %: ▁"
    )


def test_the_headlines_have_the_trend_and_without_a_history_nothing_changes():
    found = findings(_facts(3000, 1000))
    now = point_of(found.facts, found.readiness, found.daemon_sets, 0, "")
    assert isinstance(now, Point)
    with_trend = found.replace(trend=trend_of(now, [night(1, 2500, 1500)], "arm64"))
    screen = audit_text.render(with_trend).decode()
    place = screen.index("75 % ready")
    assert 0 < screen.index("+12.5 points since 2026-01-02 00:30 UTC") - place < 200
    assert "2 audits since 2026-01-02, between 62.5 % and 75 %: ▁█" in " ".join(screen.split())
    assert max(map(len, screen.splitlines())) <= 80
    assert (
        "12.5 points since 2026-01-02" in markdown.render(with_trend).decode().partition("| Architecture")[0]
    )
    hero = page.render(with_trend).decode().partition("</section>")[0]
    assert '<polyline class="line" points="4.0,44.0 476.0,4.0"></polyline>' in hero
    assert "+12.5 points since" in hero
    for form in (audit_text, markdown, page):
        assert b"points since" not in form.render(found)
