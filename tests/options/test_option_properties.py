"""Whatever is written: a value or one sentence, never a traceback; and argv's own oddities."""

import contextlib
import json
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from archfit.base.errors import UsageError
from archfit.cli.usage.general_flags import help_or_version
from archfit.options.config_file import from_file
from archfit.options.layers import load, merge
from archfit.options.table import TABLE

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
FLAGS = [flag for option in TABLE for flag in option.flags]
PIECES = st.sampled_from(
    [
        *" -=@,/*",
        "--",
        "none",
        "gke",
        "arm64",
        "amd64=1",
        "a=b:NoSchedule",
        "30s",
        "docker.io=https://h",
        *FLAGS,
    ]
)
ARGUMENT = st.one_of(st.text(max_size=12), st.lists(PIECES, max_size=4).map("".join), st.sampled_from(FLAGS))
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), PIECES)
KEYS = st.sampled_from(
    [option.key for option in TABLE] + ["match", "architectures", "toleration", "key", "only", "x"]
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | PIECES | st.text(max_size=3), inner),
    max_leaves=8,
)


@contextlib.contextmanager
def at_most_one_sentence(*, each_of_several: bool = False) -> Iterator[None]:
    """A UsageError is fine when its message is one line. each_of_several: or one for each mistake of a file."""
    said = "nothing"
    try:
        yield
    except UsageError as error:
        said = str(error)
    for line in said.split("\n") if each_of_several else [said]:
        assert line
        assert line.isprintable()


@given(st.lists(ARGUMENT, max_size=6))
def test_any_arguments_load_or_are_refused_in_one_sentence(argv):
    """No argument reaches argparse's own exits."""
    with at_most_one_sentence():
        load([word for word in argv if word != "--config"], {}, lambda _path: HEAD.encode())


@given(
    st.dictionaries(
        st.sampled_from([option.variable for option in TABLE if option.variable]), ARGUMENT, max_size=3
    )
)
def test_any_variables_load_or_are_refused_in_one_sentence(environ):
    """No text of a variable is more than a usage error."""
    with at_most_one_sentence():
        load([], environ, lambda _path: HEAD.encode())


@given(st.dictionaries(KEYS, VALUE, max_size=3), st.dictionaries(KEYS, VALUE, max_size=2))
def test_any_values_in_the_file_load_or_are_refused_in_sentences(spec, operator):
    """No shape of a value is more than a usage error. (JSON is YAML.)"""
    text = HEAD + f"spec: {json.dumps(spec)}\noperator: {json.dumps(operator)}\n"
    with at_most_one_sentence(each_of_several=True):
        merge([from_file(text.encode(), "x.yaml")])


@given(st.binary(max_size=60))
def test_any_bytes_as_file_are_refused_in_one_sentence(content):
    """A file of another kind is an error, never a crash."""
    with contextlib.suppress(UsageError):
        from_file(content, "x.yaml")
        raise AssertionError(content)


@given(st.lists(ARGUMENT, max_size=4))
def test_asking_for_help_never_fails(argv):
    """Whatever stands beside it; behind `--` it is an argument."""
    asked = help_or_version([*argv, "--help"])
    assert asked in {"help", "version"} or (asked == "" and "--" in argv)
