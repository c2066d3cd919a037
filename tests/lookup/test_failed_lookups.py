"""A lookup that fails stops the run, unless the operator says otherwise."""

from __future__ import annotations

from archfit.options.settings import Options


def test_a_failed_lookup_fails_the_run_unless_the_operator_says_otherwise() -> None:
    """And what is assumed is listed by the operator: there is no multi-architecture guess."""
    assert (Options().on_unknown, Options().on_absent, Options().assume) == ("fail", "fail", ())


def test_a_run_with_an_unknown_image_writes_nothing(archfit) -> None:
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.example/a:1'}]}\n"
    done = archfit(pod, "--offline", "--no-cache")
    assert (done.status, done.stdout) == (1, b"")
    assumed = archfit(pod, "--offline", "--on-unknown", "assume")
    assert assumed.status == 2
