"""The policy decides as archfit does: random pods through the API server, beside archfit's own patch, pod by pod."""

from __future__ import annotations

import pytest

from archfit.options.settings import Options
from drawn_pods import at_creation

LOCKED = at_creation.platforms()
# test_policy_cel.py draws options; the API server's own CEL decides there, too.
SETS = {"default": Options(), "s390x": Options(cluster_architectures=("amd64", "arm64", "s390x"))}


@pytest.fixture(scope="module")
def installed(policies):
    """The policy of each set of options, for a namespace of its own."""
    return {name: policies.install(name, LOCKED, options) for name, options in SETS.items()}


@pytest.mark.parametrize("name", SETS)
def test_random_pods_are_changed_as_archfit_changes_them(name, installed, policies, drawn):
    plain = drawn(1, 1000)[: 1000 if name == "default" else 300]
    policies.await_change(installed[name], plain)
    judged = policies.judged(installed[name], plain)
    assert not judged.wrong, str(judged)
    assert judged.left_alone.total() < len(plain) / 2, judged.left_alone
    assert policies.errors(installed[name]) == 0


@pytest.mark.parametrize("name", SETS)
def test_a_pod_that_was_changed_passes_unchanged(name, installed, policies, drawn):
    plain = drawn(1, 1000)[:300]
    policies.await_change(installed[name], plain)
    once = policies.admitted(name, plain)
    assert sum(pod["spec"] != after["spec"] for pod, after in zip(plain, once, strict=True)) > 50
    assert [pod for pod, after in zip(once, policies.admitted(name, once), strict=True) if pod != after] == []
