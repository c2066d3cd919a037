"""Flags that are read without argparse mean what argparse makes of them; the rest is left to it."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archfit.base.errors import Problem, UsageError
from archfit.options import option_types, taints
from archfit.options.arguments import from_arguments
from archfit.options.layers import from_flags
from archfit.options.table import TABLE

VALUES = (
    "",
    "-",
    "-1s",
    "--",
    "=",
    "a=b",
    "amd64,arm64",
    "amd64",
    "arch=arm64:NoSchedule",
    "gke",
    "none",
    "always",
    "leave",
    "30s",
    "7d",
    "true",
    "docker.io=https://hub.example",
    "Job",
    "a b",
    "é",
    "x.yaml",
)
FLAGS = (
    *(flag for option in TABLE for flag in option.flags),
    "--config",
    "--confi",
    "-q",
    "-v",
    "-qv",
    "--diff",
    "-o",
    "--unknown",
)
WORDS = st.one_of(
    st.sampled_from(VALUES),
    st.sampled_from(FLAGS),
    st.builds("{}={}".format, st.sampled_from(FLAGS), st.sampled_from(VALUES)),
)
PAIRS = st.tuples(st.sampled_from(FLAGS), st.sampled_from(VALUES))


def agrees(argv: list[str]) -> bool:
    """Whether it was read at all; what was read is what argparse makes of it."""
    found = from_flags(argv, TABLE)
    if found is not None:
        layer, config = from_arguments(argv)
        assert (found[0].source, found[0].given, found[1]) == (layer.source, layer.given, config)
    return found is not None


@given(st.lists(WORDS, max_size=6) | st.lists(PAIRS, max_size=4).map(lambda pairs: [*sum(pairs, ())]))
def test_what_is_read_is_what_argparse_reads(argv):
    agrees(argv)


@pytest.mark.parametrize("option", TABLE, ids=lambda option: option.key)
def test_every_flag_with_every_value_is_read_as_by_argparse(option):
    for flag, value in product(option.flags, VALUES):
        agrees([flag, value])
        agrees([f"{flag}={value}", "--locked", "--lock-file=a"])


@pytest.mark.parametrize(
    "argv",
    [
        ["--cluster-architectures", "amd64,arm64"],
        ["--cluster-architectures=amd64", "", "--strict", "--no-strict", "--config", "a.yaml"],
        ["--tolerate", "arch=arm64:NoSchedule", "--tolerate", "gke", "--timeout=20s"],
        [""],
    ],
    ids=" ".join,
)
def test_usual_flags_are_read(argv):
    assert agrees(argv)


@pytest.mark.parametrize(
    "argv",
    [
        ["file.yaml"],
        ["-q"],
        ["--diff"],
        ["--cluster-architectures"],
        ["--cluster-architectures", "--strict"],
        ["--cluster-architectures="],
        ["--cluster-architectures", "amd46"],
        ["--cluster-arch", "amd64"],
        ["--strict=true"],
        ["--config="],
        ["--", "--strict"],
        ["--timeout", "-1s"],
    ],
    ids=" ".join,
)
def test_anything_else_is_left_to_argparse(argv):
    assert not agrees(argv)


DNS = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
LABEL = st.lists(st.sampled_from(["a", "Z", "9", "-", "_", ".", "/", "é", "²", "\n", "ab" * 40, "c." * 130]))


@given(LABEL.map("".join))
def test_keys_and_values_of_labels_follow_their_grammar(text):
    key = re.fullmatch(rf"(?:({DNS})/)?({NAME})", text)
    fits = key is not None and len(key[2]) <= 63 and len(key[1] or "") <= 253
    assert accepts(taints.label_key, text) == fits
    assert accepts(taints.label_value, text) == (
        bool(re.fullmatch(rf"(?:{NAME})?", text)) and len(text) <= 63
    )


@given(
    st.lists(st.sampled_from(["0", "7", "12", "s", "m", "h", "d", "ms", ".", "٣", "²", " "]), max_size=5).map(
        "".join
    )
)
def test_durations_follow_their_grammar(text):
    parts = re.findall(r"([0-9]+)(ms|s|m|h|d)", text)
    fits = text == "0" or re.fullmatch(r"(?:[0-9]{1,9}(?:ms|s|m|h|d))+", text) is not None
    assert accepts(option_types.duration, text) == fits
    if fits:
        assert option_types.duration(text) == sum(
            int(number) * option_types.UNITS[unit] for number, unit in parts
        )


def accepts(read, text: str) -> bool:
    """Whether the text is one of the grammar."""
    try:
        read(text)
    except (Problem, UsageError):
        return False
    return True
