"""Usual references are recognised without the grammar's regular expressions, and mean what these say."""

from hypothesis import example, given
from hypothesis import strategies as st

from archfit.base.errors import InvalidReference
from archfit.images.reference import Reference, host_and_rest, is_digest, is_host, is_path, parse
from archfit.images.reference_grammar import check, follows_digest, follows_host, follows_path

HEX = "0123456789abcdef"
F64 = "f" * 64
# What each kind of part is made of, and what a careless check would let through: digits and letters beyond ASCII,
# separators at the ends and in runs, a line end.
ODD = ["", "A", "é", "\u0661", "\u00b2", "\uff11", "ß", "İ", "\u212a", " ", "\n", "%", "+", "~", "\0"]
SEPARATORS = [".", "_", "__", "___", "-", "--", "---", "..", ".-", "-.", "_.", "/", "//", ":", "@", "[", "]"]
RUNS = [
    "a", "z", "0", "9", "nginx", "docker.io", "localhost", "index.docker.io", "library", "x1", "Foo", "v1.2-3",
]  # fmt: skip
DIGESTS = [
    "sha256:" + F64,
    "sha512:" + F64 * 2,
    "sha256:" + F64[1:],
    "sha256:" + "F" * 64,
    "sha1:" + "f" * 40,
    F64,
]
HOSTS = [
    "[::1]", "[2001:db8::1]:5000", "a-b.c:80", "h:", "h:0", "h:65536", ":5000", "xn--n3h.com", "[]", "[::g]",
]  # fmt: skip
pieces = st.sampled_from([*ODD, *SEPARATORS, *RUNS, *DIGESTS, *HOSTS, ":1.27", "@", "a" * 128, "b" * 255])
drawn = st.lists(pieces, max_size=8).map("".join)
tags = st.text("aZ09_.-é\u0661\n ", max_size=5) | st.sampled_from(["a" * 128, "a" * 129, "_", "_" * 129])


@st.composite
def references(draw: st.DrawFn) -> str:
    """A reference as people write it, with at most a few of its characters replaced, removed or added."""
    run = st.text("abz09", min_size=1, max_size=4)
    component = st.lists(run, min_size=1, max_size=3).map(
        lambda runs: draw(st.sampled_from("._-")).join(runs)
    )
    host = draw(
        st.sampled_from(["", "docker.io/", "ghcr.io/", "localhost:5000/", "r.example:443/", "[::1]:5000/"])
    )
    text = host + "/".join(draw(st.lists(component, min_size=1, max_size=3)))
    text += draw(st.sampled_from(["", ":1.27", ":latest", ":v1_2-rc.1"]))
    text += draw(st.sampled_from(["", f"@sha256:{F64}", f"@sha512:{F64 * 2}"]))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(pieces) + text[at + draw(st.integers(0, 1)) :]
    return text


def outcome(text: str) -> Reference | str:
    try:
        return parse(text)
    except InvalidReference as error:
        return str(error)


def by_the_grammar(text: str) -> Reference | str:
    """The outcome if nothing is recognised before the grammar."""
    host, rest = host_and_rest(text)
    rest, at, digest = rest.partition("@")
    written, colon, tag = rest.partition(":")
    path = f"library/{written}" if host == "docker.io" and "/" not in written else written
    try:
        check(text, host, written, path, tag if colon else None, digest if at else None, parse)
    except InvalidReference as error:
        return str(error)
    return Reference(host, path, "" if digest else tag or "latest", digest, text)


@example("a" * 64)
@example("a" * 63 + "g")
@example(f"docker.io/{F64}")
@example("nginx:")
@example("nginx@")
@example("a/" * 127 + "a")
@example("a/" * 128 + "a")
@given(references() | drawn | tags.map("nginx:{}".format))
def test_a_reference_is_what_the_grammar_says(text):
    assert outcome(text) == by_the_grammar(text)


@given(drawn | references())
def test_a_path_is_what_the_grammar_says(text):
    assert is_path(text) is bool(follows_path(text))


@given(drawn | references())
def test_a_host_is_what_the_grammar_says(text):
    port = text.rpartition("]")[2].partition(":")[2]
    assert is_host(text) is (bool(follows_host(text)) and len(port) <= 5 and 0 < int(port or 443) <= 65535)


@given(drawn | st.text(HEX + "Fg\n\u0661", min_size=60, max_size=66).map("sha256:{}".format))
def test_a_digest_is_what_the_grammar_says(text):
    assert is_digest(text) is bool(follows_digest(text))
