"""Explained a second time, what an earlier run added and recorded is `present`, not `added`."""

import pytest
from tests.explain.explained_cases import CASES
from tests.explain.explained_pods import explained_stream

from archfit.pipeline import transform
from archfit.yaml import stream
from archfit.yaml.stream import split
from pod_decisions import answers


@pytest.mark.parametrize("name", CASES)
def test_with_stamps_what_an_earlier_run_added_is_there_already(name):
    case = CASES[name]
    options = case.options.replace(stamp=True)
    known = answers(case.answers)

    def run(data: bytes) -> bytes:
        done = transform(
            data,
            split(data),
            options,
            lambda texts: {text: known.get(text) or known["app:1"] for text in texts},
        )
        return b"".join(stream.parts(data, done.splices)) if not done.failed() else data

    first = run(case.stream.encode())
    second = run(first)
    assert second == first
    for before, again in zip(
        explained_stream(case.stream, case.answers, options).pods,
        explained_stream(first.decode(), case.answers, options).pods,
        strict=True,
    ):
        if name == "unknown-and-assumed":
            # Nothing is assumed a second time: what the first run wrote stays, and the rest is judged with it.
            assert again.explanation.outcome == "Unresolved"
            assert {reason.effect for reason in again.explanation.reasons} == {"none", "left out"}
            continue
        for was, is_now in zip(before.explanation.reasons, again.explanation.reasons, strict=True):
            if first == case.stream.encode():
                assert is_now == was
            elif was.effect == "added":
                assert (is_now.effect, is_now.what) == ("present", was.what)
