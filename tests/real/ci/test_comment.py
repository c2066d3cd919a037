"""The recipe of docs/ci.md for a comment: its jobs are run against a stand-in of GitHub's and of GitLab's API.

The stand-in speaks as much of them as the jobs use: lists of comments in pages, a new comment, a changed one, and who a
token is. curl and jq are real.
"""

import json
import os
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from loopback_server import Answer, Asked, LoopbackServer
from tests.real.ci.gitlab_component import BASH, SH

import machine
from ci_checkout import checkout, page_blocks, pod

TOKEN = "token-of-the-test"
BLOCKS = [yaml.safe_load(block) for block in page_blocks("ci", "yaml") if "<!-- archfit -->" in block]
(GITHUB,) = [block for block in BLOCKS if "jobs" in block]
(GITLAB,) = [block for block in BLOCKS if "stages" in block]
STEPS = [step for step in GITHUB["jobs"]["comment"]["steps"] if "run" in step and "pipx" not in step["run"]]
MARKER = "<!-- archfit -->"
AMD = pod("web", "x.example/amd:1")
BOTH = pod("web", "x.example/both:1")


class Conversation(LoopbackServer):
    """The comments of one pull request, as both code hosts show them."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[dict[str, Any]] = []
        self.changed: list[int] = []
        self.refused = False

    def stored(self, asked: Asked) -> Answer:
        given = asked.headers.get("private-token") or asked.headers.get("authorization", "")
        if given.removeprefix("Bearer ") != TOKEN:
            status, value = 401, {"message": "401 Unauthorized"}
        elif asked.method != "GET" and self.refused:
            status, value = 403, {"message": "Resource not accessible by integration"}
        else:
            status, value = self._answered(asked)
        return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def add(self, text: str, login: str = "github-actions[bot]", author: int = 7) -> None:
        number = 100 + len(self.comments)
        self.comments.append({"id": number, "body": text, "user": {"login": login}, "author": {"id": author}})

    def _answered(self, asked: Asked) -> tuple[int, Any]:
        path, query = urlsplit(asked.path).path, parse_qs(urlsplit(asked.path).query)
        if path == "/user":
            return 200, {"id": 7}
        lists = ("/repos/team/shop/issues/5/comments", "/projects/9/merge_requests/5/notes")
        if asked.method == "GET" and path in lists:
            size, page = int(query["per_page"][0]), int(query["page"][0])
            return 200, self.comments[size * (page - 1) : size * page]
        if asked.method == "POST" and path in lists:
            self.add(json.loads(asked.body)["body"])
            return 201, self.comments[-1]
        one = re.fullmatch(
            r"/repos/team/shop/issues/comments/(\d+)|/projects/9/merge_requests/5/notes/(\d+)", path
        )
        if one and asked.method == ("PATCH" if one[1] else "PUT"):
            number = int(one[1] or one[2])
            self.comments[number - 100]["body"] = json.loads(asked.body)["body"]
            self.changed.append(number)
            return 200, {}
        return 404, {"message": "Not Found"}


@pytest.fixture
def conversation():
    with Conversation() as held:
        yield held


@pytest.fixture(params=["github", "gitlab"])
def run(request, tmp_path, conversation, lookups, with_archfit):
    """`run(text)` runs the jobs for a pull request whose manifests are the text; the exit code of the last one."""
    environ = {
        **lookups,
        **with_archfit,
        "HOME": str(tmp_path),
        "TOKEN": TOKEN,
        "ARCHFIT_COMMENT_TOKEN": TOKEN,
        "NUMBER": "5",
        "GITHUB_REPOSITORY": "team/shop",
        "GITHUB_API_URL": conversation.url,
        "CI_API_V4_URL": conversation.url,
        "CI_PROJECT_ID": "9",
        "CI_MERGE_REQUEST_IID": "5",
        "no_proxy": "127.0.0.1",
    }
    folder = checkout(tmp_path / "work", {"rendered/web.yaml": AMD})
    shell, scripts = (
        ((*BASH[:3], "-e", "-c"), [step["run"] for step in STEPS])
        if request.param == "github"
        else (SH, ["\n".join(GITLAB[job]["script"]) for job in ("archfit", "comment")])
    )

    def done(text: str) -> int:
        (folder / "rendered" / "web.yaml").write_text(text)
        status = 0
        for script in scripts:
            ran = machine.run([*shell, script], cwd=folder, env=environ)
            status = ran.returncode
            assert TOKEN not in ran.stdout + ran.stderr
        return status

    return done


def test_the_first_run_writes_a_comment_and_the_next_one_changes_it(run, conversation):
    assert run(AMD) == 0
    (comment,) = conversation.comments
    assert comment["body"].startswith(
        f"{MARKER}\n## archfit: 0 images run on linux/arm64; 1 does not; 0 not known\n"
    )
    assert "| x.example/amd:1 |" in comment["body"]
    assert re.search(r"^## .*ready for arm64", comment["body"], re.MULTILINE)
    assert run(BOTH) == 0
    (comment,) = conversation.comments
    assert comment["body"].startswith(
        f"{MARKER}\n## archfit: 1 image runs on linux/arm64; 0 do not; 0 not known\n"
    )
    assert conversation.changed == [comment["id"]]


def test_a_comment_of_somebody_else_with_the_mark_stays(run, conversation):
    conversation.add(f"{MARKER}\nmine", login="mallory", author=8)
    conversation.add(f"I wonder what {MARKER} is")
    run(AMD)
    assert [comment["body"] for comment in conversation.comments[:2]] == [
        f"{MARKER}\nmine",
        f"I wonder what {MARKER} is",
    ]
    assert len(conversation.comments) == 3


def test_a_comment_behind_two_pages_is_found(run, conversation):
    for number in range(230):
        conversation.add(f"comment {number}", login="somebody", author=1)
    run(AMD)
    run(AMD)
    assert (len(conversation.comments), conversation.changed) == (231, [330])


def test_a_host_that_refuses_fails_the_job(run, conversation):
    conversation.refused = True
    assert run(AMD) != 0
    assert conversation.comments == []


def test_the_check_decides_over_the_job():
    """The step that comments always runs, and the check's exit code stays what the job ends with."""
    assert [step.get("if", "").startswith("always()") for step in STEPS] == [False, True, True]
    assert "archfit check" in STEPS[0]["run"]
    assert GITLAB["archfit"]["script"][-1].startswith("archfit check")
    assert GITLAB["comment"]["rules"][0]["when"] == "always"
    assert GITLAB["archfit"]["artifacts"]["when"] == "always"
    assert os.path.basename(GITLAB["archfit"]["artifacts"]["paths"][0]) == "check.md"
