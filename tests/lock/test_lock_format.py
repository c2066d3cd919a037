"""The lock file's text: what is written, what is read, and what is refused with its line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import machine
from archfit.base.errors import InvalidLock
from archfit.images.platforms import Found, Platform, Unknown
from archfit.images.reference import parse as parse_reference
from archfit.lookup import lockfile
from archfit.lookup.lockfile import MAX_BYTES, Lock, as_locked, parse, render

A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")
PINNED = f"quay.io/team/app@{B}"
IMAGES = {
    PINNED: Found((AMD64,), B, index=False, image=True, origin="lock"),
    "docker.io/library/nginx:1.27": Found((AMD64, ARM64), A, index=True, image=True, origin="lock"),
    "ghcr.io/charts/web:1": Found((), A, index=False, image=False, origin="lock"),
}
# Python's words and position for it since 3.13, and before.
COMMA_TOO_MANY = (
    "line 2: is not JSON (illegal trailing comma before end of object, column 7)"
    if sys.version_info >= (3, 13)
    else "line 3: is not JSON (expecting property name enclosed in double quotes, column 1)"
)
TEXT = f"""\
{{"version": 1, "images": {{
"docker.io/library/nginx:1.27": {{"digest": "{A}", "kind": "index", "platforms": ["linux/amd64", "linux/arm64"]}},
"ghcr.io/charts/web:1": {{"digest": "{A}", "kind": "artifact", "platforms": []}},
"{PINNED}": {{"digest": "{B}", "kind": "manifest", "platforms": ["linux/amd64"]}}
}}}}
"""


def test_it_is_one_sorted_line_for_each_reference():
    assert render(IMAGES).decode() == TEXT
    assert render(dict(reversed(IMAGES.items()))).decode() == TEXT
    assert json.loads(TEXT)["version"] == 1


def test_an_empty_one_is_a_lock_file_too():
    assert render({}) == b'{"version": 1, "images": {\n}}\n'
    assert parse(render({}), "archfit.lock") == {}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: json.dumps(json.loads(text), indent=4), id="indented by an editor"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="checked out with CRLF"),
        pytest.param(lambda text: "\ufeff" + text, id="with a byte order mark"),
        pytest.param(lambda text: text.rstrip("\n"), id="without its last line end"),
        pytest.param(lambda text: text.replace('"linux/amd64", "linux/arm64"', '"linux/arm64", "linux/amd64"'), id="platforms in another order"),
        pytest.param(lambda text: json.dumps(dict(reversed(json.loads(text).items()))), id="keys reversed"),
    ],
)  # fmt: skip
def test_the_layout_does_not_matter(change):
    """Formatters and merges touch it; `archfit lock` writes it in its own form again."""
    assert parse(change(TEXT).encode(), "archfit.lock") == IMAGES


def with_line(line: str) -> str:
    return f'{{"version": 1, "images": {{\n"docker.io/library/redis:7": {entry()},\n{line}\n}}}}\n'


def entry(**changes: object) -> str:
    return json.dumps({"digest": A, "kind": "index", "platforms": ["linux/amd64"]} | changes)


WRONG = [
    pytest.param("", "archfit.lock: is empty; delete it, then write it again with archfit lock", id="empty"),
    pytest.param("\n \n", "archfit.lock: is empty; delete it, then write it again with archfit lock", id="blank"),
    pytest.param("{}", "is not a lock file of archfit; name another, or write it with archfit lock", id="empty object"),
    pytest.param("[]", "is not a lock file of archfit; name another, or write it with archfit lock", id="a list"),
    pytest.param('"x"', "is not a lock file of archfit; name another, or write it with archfit lock", id="a text"),
    pytest.param("[" * 100_000, "is not a lock file of archfit; name another", id="200,000 brackets"),
    pytest.param("1" * 5000, "is not a lock file of archfit; name another", id="a number of 5000 digits"),
    pytest.param('{"version": 1, "images": {\n"a": 1,\n}}\n', f"archfit.lock {COMMA_TOO_MANY}; correct it", id="a comma too many"),
    pytest.param(TEXT.replace("]},\n", "]}\n", 1), "archfit.lock line 3: is not JSON (expecting ',' delimiter, column 1); correct it", id="a comma too few"),
    pytest.param(
        TEXT.replace('"version": 1', '"version": 2'),
        "archfit.lock line 1: has the format 2, and this archfit knows 1; use the archfit that wrote it, or delete it and write it again with archfit lock",
        id="a later version",
    ),
    pytest.param('{"images": {}}', "which has a version and images", id="no version"),
    pytest.param('{"version": "1", "images": {}}', "which has a version and images", id="a version in quotes"),
    pytest.param('{"version": true, "images": {}}', "which has a version and images", id="a version that is true"),
    pytest.param('{"version": 1}', "which has a version and images", id="no images"),
    pytest.param('{"version": 1,\n"images": []}', "archfit.lock line 2: has images that are not an object", id="a list of images"),
    pytest.param(
        '{"version": 1, "images": {},\n"created": "2026"}',
        "archfit.lock line 2: has the key 'created', which means nothing here; remove it",
        id="a key of its own",
    ),
    pytest.param('{"version": 1, "images": {},\n"images": {}}', "archfit.lock line 2: has the key 'images' twice; keep one", id="images twice"),
    pytest.param('{"a": 1, "a": 2}', "archfit.lock: has the same key twice; keep one", id="a foreign key twice"),
    pytest.param(
        with_line(f'"docker.io/library/redis:7": {entry(digest=B)}'),
        "archfit.lock line 3: 'docker.io/library/redis:7' is there twice; keep one of the lines",
        id="a reference twice",
    ),
    pytest.param(
        with_line(f'"a.example/a:1": {{"digest": "{A}", "digest": "{B}", "kind": "index", "platforms": []}}'),
        "archfit.lock line 3: 'a.example/a:1' has the key 'digest' twice; keep one",
        id="a digest twice",
    ),
    pytest.param(
        with_line(f'"nginx:1.27": {entry()}'),
        "archfit.lock line 3: 'nginx:1.27' is not written in full; write docker.io/library/nginx:1.27",
        id="a short reference",
    ),
    pytest.param(with_line(f'"a.example/a:1@{A}": {entry()}'), f"is not written in full; write a.example/a@{A}", id="tag and digest"),
    pytest.param(with_line(f'"A b": {entry()}'), "archfit.lock line 3: 'A b' is not an image reference", id="no reference"),
    pytest.param(with_line('"a.example/a:1": []'), "has an entry that is not an object", id="an entry that is a list"),
    pytest.param(with_line('"a.example/a:1": {}'), "has no digest; run archfit lock", id="an empty entry"),
    pytest.param(
        with_line(f'"a.example/a:1": {{"digest": "{A}", "platforms": ["linux/amd64"]}}'),
        "archfit.lock line 3: 'a.example/a:1' has no kind; run archfit lock to write the line again",
        id="no kind",
    ),
    pytest.param(
        with_line(f'"a.example/a:1": {entry(size=3)}'),
        "'a.example/a:1' has the key 'size', which means nothing here; remove it",
        id="a key of its own in an entry",
    ),
    pytest.param(with_line(f'"a.example/a:1": {entry(digest="latest")}'), "has a digest that is not sha256:", id="no digest"),
    pytest.param(with_line(f'"a.example/a:1": {entry(digest=A.upper())}'), "has a digest that is not sha256:", id="upper case"),
    pytest.param(with_line(f'"a.example/a:1": {entry(digest=None)}'), "has a digest that is not sha256:", id="null digest"),
    pytest.param(
        with_line(f'"a.example/a@{B}": {entry()}'),
        f"archfit.lock line 3: 'a.example/a@{B}' is pinned to another digest than the {A} beside it; remove the line",
        id="another digest than the pinned one",
    ),
    pytest.param(with_line(f'"a.example/a:1": {entry(kind="list")}'), "none of index, manifest, artifact", id="kind"),
    pytest.param(with_line(f'"a.example/a:1": {entry(kind=[])}'), "none of index, manifest, artifact", id="kind of no text"),
    pytest.param(with_line(f'"a.example/a:1": {entry(platforms=[])}'), "has no platform, and its kind is index", id="no platforms"),
    pytest.param(with_line(f'"a.example/a:1": {entry(kind="artifact")}'), "is an artifact and has platforms", id="artifact with platforms"),
    pytest.param(with_line(f'"a.example/a:1": {entry(platforms="linux/amd64")}'), "platforms that are not a list of texts", id="a text"),
    pytest.param(with_line(f'"a.example/a:1": {entry(platforms=[386])}'), "platforms that are not a list of texts", id="a number"),
    pytest.param(with_line(f'"a.example/a:1": {entry(platforms=["linux/"])}'), "'linux/', which is not a platform", id="half a platform"),
    pytest.param(
        with_line(f'"a.example/a:1": {entry(platforms=["linux/aarch64"])}'), "has the platform 'linux/aarch64'; write it as linux/arm64", id="another spelling"
    ),
    pytest.param(with_line(f'"a.example/a:1": {entry(platforms=["amd64"])}'), "'amd64'; write it as linux/amd64", id="no system"),
    pytest.param(
        with_line(f'"a.example/a:1": {entry(platforms=[f"linux/a{n}" for n in range(257)])}'), "has 257 platforms; at most 256 are allowed", id="257 platforms"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_no_lock_file_is_refused_with_its_line(text, message):
    with pytest.raises(InvalidLock) as caught:
        parse(text.encode(), "archfit.lock")
    assert message in str(caught.value)
    assert str(caught.value).startswith("archfit.lock")
    assert caught.value.exit_code == 1


def test_bytes_that_are_not_text_are_refused_with_their_line():
    with pytest.raises(InvalidLock, match=r"^archfit\.lock line 2: is not UTF-8; "):
        parse(b'{"version": 1,\n"\xff": 1}', "archfit.lock")


def test_an_endless_file_is_refused():
    with pytest.raises(InvalidLock, match="is larger than 16 MiB, which no lock file is"):
        parse(b" " * (MAX_BYTES + 1), "/dev/zero")


CONFLICT = """\
{{"version": 1, "images": {{
<<<<<<< HEAD
"docker.io/library/nginx:1.27": {one}
{middle}=======
"docker.io/library/nginx:1.28": {one}
>>>>>>> renovate/nginx
}}}}
"""


@pytest.mark.parametrize(
    "middle", [pytest.param("", id="merge"), pytest.param("||||||| 1234567\n", id="diff3")]
)
def test_a_merge_conflict_is_named_as_one(middle):
    with pytest.raises(
        InvalidLock, match=r"^archfit\.lock line 2: has a git conflict marker; keep the lines"
    ):
        parse(CONFLICT.format(one=entry(), middle=middle).encode(), "archfit.lock")


def test_half_a_resolved_conflict_is_named_as_well():
    text = TEXT.replace("\n", "\n=======\n", 2)
    with pytest.raises(InvalidLock, match=r"^archfit\.lock line 2: has a git conflict marker"):
        parse(text.encode(), "archfit.lock")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"auths": {"registry.example": {"auth": "aHVudGVyMg=="}}}', id="credentials"),
        pytest.param("root:aHVudGVyMg==:0:0:root:/root:/bin/bash\n", id="a file of accounts"),
        pytest.param('{"aHVudGVyMg==": 1, "aHVudGVyMg==": 2}', id="a key twice"),
        pytest.param('{"version": "aHVudGVyMg=="}', id="a version"),
        pytest.param('{"aHVudGVyMg==": 1, "images": {}}', id="no version"),
    ],
)
def test_a_foreign_file_is_refused_without_a_word_of_it(text):
    """Whoever may name a lock file may name any file: its content must not come back in an error."""
    with pytest.raises(InvalidLock) as caught:
        parse(text.encode(), "archfit.lock")
    assert "aHVudGVyMg" not in str(caught.value)
    assert "auths" not in str(caught.value)


ARCHITECTURES = st.sampled_from(["amd64", "arm64", "386", "s390x", "ppc64le", "riscv64"])
PLATFORMS = st.builds(
    Platform, st.sampled_from(["linux", "windows", "freebsd"]), ARCHITECTURES, st.sampled_from(["", "v9"])
)
_WORDS = st.text("az09", min_size=1, max_size=6)
NAMES = st.builds(
    "{}.example{}/{}:{}{}".format,
    _WORDS, st.sampled_from(["", ":5000"]), st.lists(_WORDS, min_size=1, max_size=3).map("/".join),
    st.sampled_from("aZ0_"), st.text("aZ0_.-", max_size=20),
)  # fmt: skip


@st.composite
def answers(draw: st.DrawFn) -> Found:
    digest = "sha256:" + draw(st.binary(min_size=32, max_size=32)).hex()
    platforms = tuple(sorted(draw(st.sets(PLATFORMS, max_size=8)), key=str))
    return Found(platforms, digest, index=draw(st.booleans()), image=bool(platforms))


@given(st.dictionaries(NAMES, answers(), max_size=12))
def test_every_answer_of_a_registry_survives(images):
    """And the same answers make the same bytes."""
    text = render(images)
    read = parse(text, "archfit.lock")
    assert read == {name: as_locked(found) for name, found in images.items()}
    assert render(read) == text
    assert text.count(b"\n") == len(images) + 2


@given(st.binary(max_size=200), st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
def test_no_damage_is_more_than_an_error(noise, start, end):
    content = TEXT.encode()[:start] + noise + TEXT.encode()[end:]
    said = ""
    try:
        parse(content, "archfit.lock")
    except InvalidLock as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("path", "command"),
    [
        pytest.param("archfit.lock", "archfit lock --add-missing", id="the usual name"),
        pytest.param("deploy/my lock", "archfit lock --lock-file 'deploy/my lock' --add-missing", id="another"),
    ],
)  # fmt: skip
def test_what_it_lacks_is_said_with_the_command_that_adds_it(path, command):
    assert Lock(path, {}, only=True).missing_answer(parse_reference("redis")) == Unknown(
        f"{path} does not hold docker.io/library/redis:latest, and --locked forbids asking: run `{command}` on these "
        "manifests",
        final=True,
    )


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example", "-c", "init.defaultBranch=main"]
    return machine.run(["git", *identity, *words], cwd=folder)


def merge_of(folder: Path, *images: dict[str, Found]) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The lock file of `main`, and of two branches that begin there: what comes of merging them."""
    file = folder / "archfit.lock"
    git(folder, "init", "--quiet")
    for branch, held in zip(("main", "ours", "theirs"), images, strict=True):
        if branch != "main":
            git(folder, "checkout", "--quiet", "-b", branch, "main")
        file.write_bytes(render(held))
        git(folder, "add", "archfit.lock")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", branch)
    return file, git(folder, "merge", "--quiet", "-m", "both", "ours")


def found(letter: str) -> Found:
    return Found((AMD64,), f"sha256:{letter * 64}", origin="lock")


BASE = {f"a.example/{name}:1": found("a") for name in "bdfhjl"}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param({"a.example/c:1": found("a")}, {"a.example/i:1": found("a")}, id="two added"),
        pytest.param({"a.example/c:1": found("a")}, {"a.example/h:1": found("b")}, id="one added, one moved"),
        pytest.param({"a.example/b:1": found("b")}, {"a.example/l:1": found("b")}, id="the first and the last moved"),
        pytest.param({"a.example/a:1": found("a")}, {"a.example/m:1": found("a")}, id="a new first and a new last"),
        pytest.param({"a.example/c:1": found("a")}, {}, id="one side only"),
    ],
)  # fmt: skip
@pytest.mark.real
def test_git_merges_what_two_branches_did(tmp_path, ours, theirs):
    """Without a conflict where the lines are not beside each other."""
    file, merged = merge_of(tmp_path, BASE, BASE | ours, BASE | theirs)
    assert merged.returncode == 0, merged.stdout
    assert file.read_bytes() == render(BASE | ours | theirs)


@pytest.mark.real
def test_git_conflicts_where_both_moved_one_image_and_that_is_said(tmp_path):
    file, merged = merge_of(tmp_path, *(BASE | {"a.example/f:1": found(letter)} for letter in "abc"))
    assert merged.returncode == 1
    with pytest.raises(InvalidLock, match=r"^archfit\.lock line 4: has a git conflict marker"):
        parse(file.read_bytes(), "archfit.lock")


# Objects as lists of pairs, so that keys may be there twice.
PAIRS = st.recursive(
    st.sampled_from(["", "a", "é", "b c", 1, True, None, "\\", '"', "\n"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(st.tuples(st.sampled_from(["a", "b", "é", ""]), inner), max_size=3).map(tuple)
    ),
    max_leaves=12,
)


def written(value: Any) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{written(key)}: {written(member)}" for key, member in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@given(PAIRS)
def test_a_key_that_is_there_twice_is_found_at_any_depth(value):
    """The usual file is read without the package `json`, which alone tells both."""
    reader = lockfile._LockReader(written(value).encode(), "archfit.lock")
    assert reader._decoded() == reader._decoded_again()
