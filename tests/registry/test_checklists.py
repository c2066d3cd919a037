"""The rest of the two checklists, and the table of all their points in tests/support/checklists.md."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

import checklists
from archfit.errors import InvalidReference
from archfit.images.reference import parse
from archfit.options.settings import Options
from machine import ROOT


@pytest.mark.parametrize(
    ("text", "registry", "repository", "tag"),
    [
        pytest.param("test.com:5000", "docker.io", "library/test.com", "5000", id="conformance-3-a-tag"),
        pytest.param("test:5000/repo", "test:5000", "repo", "latest", id="conformance-3-a-port"),
        pytest.param("localhost/x", "localhost", "x", "latest", id="conformance-4-localhost"),
        pytest.param("LOCALDOMAIN/x", "LOCALDOMAIN", "x", "latest", id="conformance-4-upper-case"),
        pytest.param("Foo/bar", "Foo", "bar", "latest", id="conformance-4-a-capital"),
        pytest.param("[2001:db8::1]:5000/r:t", "[2001:db8::1]:5000", "r", "t", id="conformance-5-ipv6"),
    ],
)
def test_hosts_are_told_from_paths(text: str, registry: str, repository: str, tag: str) -> None:
    found = parse(text)
    assert (found.registry, found.repository, found.tag) == (registry, repository, tag)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[2001:db8::1]", id="conformance-5-no-path"),
        pytest.param("[fe80::1%eth0]:5000/x", id="conformance-5-zone"),
        pytest.param("[::ffff:1.2.3.4]:5000/x", id="conformance-5-mapped"),
        pytest.param("fc00::1:5000/x", id="conformance-5-no-brackets"),
    ],
)
def test_other_spellings_of_ipv6_are_no_reference(text: str) -> None:
    with pytest.raises(InvalidReference):
        parse(text)


def test_a_failed_lookup_fails_the_run_unless_the_operator_says_otherwise_security_23() -> None:
    """And what is assumed is listed by the operator: there is no multi-architecture guess."""
    assert (Options().on_unknown, Options().on_absent, Options().assume) == ("fail", "fail", ())


def test_a_run_with_an_unknown_image_writes_nothing_security_23(archfit) -> None:
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.example/a:1'}]}\n"
    done = archfit(pod, "--offline", "--no-cache")
    assert (done.status, done.stdout) == (1, b"")
    assumed = archfit(pod, "--offline", "--on-unknown", "assume")
    assert assumed.status == 2


def test_dependencies_are_few_and_pinned_with_hashes_security_25() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) == 4
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-zA-Z0-9])", lock.partition("\n")[2].replace("\\\n", " "))
    pinned = [entry for entry in entries if re.match(r"[a-zA-Z0-9._\[\]-]+==", entry)]
    assert pinned
    assert all("--hash=sha256:" in entry for entry in pinned)


def test_one_module_knows_the_http_library_security_25() -> None:
    """Beside it, only the streams that it is given."""
    knows = {"httpx": set(), "httpcore": set()}
    for path in (ROOT / "transformer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.partition(".")[0] in knows:
                    knows[name.partition(".")[0]].add(path.stem)
    assert knows == {"httpx": {"http_transport"}, "httpcore": {"http_transport", "network_stream"}}


def test_the_page_has_the_table_of_the_tests() -> None:
    """`python tests/support/checklists.py tests/support/checklists.md` renews it."""
    page = (ROOT / "tests" / "support" / "checklists.md").read_text(encoding="utf-8")
    assert checklists.updated(page) == page


def test_every_point_has_a_test() -> None:
    tested = checklists.tests()
    points = [("conformance", number) for number in checklists.CONFORMANCE]
    points += [("security", number) for number in checklists.SECURITY]
    assert len(points) == 85
    assert {point for point in points if not tested.get(point)} == set()
