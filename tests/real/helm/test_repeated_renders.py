"""Rendering again gives the same bytes: whatever the cache holds, and after an upgrade but for what the chart changed.

No cluster is here, so `helm template` twice stands for upgrades of a live release.
"""

from collections.abc import Callable

from program import Ran

Archfit = Callable[..., Ran]

POD = b"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: %s\n"


def test_any_state_of_the_cache_gives_the_same_bytes(helm, registry, archfit, mirrors, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    registry.forget()
    cold = helm.template("shop", "--include-crds", **cache).ok()
    asked = len(registry.asked)
    assert asked > 10
    assert helm.template("shop", "--include-crds", **cache).ok() == cold
    assert len(registry.asked) == asked, "the second run asks nothing"
    uncached = helm.template("shop", "--include-crds", "--post-renderer-args=--no-cache", **cache).ok()
    assert uncached == cold
    partly = {"XDG_CACHE_HOME": str(tmp_path / "partly")}
    archfit(POD % b"nginx:1.29.3", ARCHFIT_MIRROR=mirrors, **partly).ok()
    assert helm.template("shop", "--include-crds", **partly).ok() == cold


def test_an_upgrade_changes_nothing_that_the_install_did_not(helm, judge, tmp_path):
    """The diff of two renders, as helm-diff makes it: the chart's change and nothing else."""
    words = ("--set", "storefront.replicas=5")
    before = helm.template("shop", XDG_CACHE_HOME=str(tmp_path / "one")).ok()
    after = helm.template("shop", *words, XDG_CACHE_HOME=str(tmp_path / "two")).ok()
    assert after == before.replace(b"replicas: 3", b"replicas: 5")
    changed = [
        new["metadata"]["name"]
        for old, new in zip(judge.kubectl(before), judge.kubectl(after), strict=True)
        if old != new
    ]
    assert changed == ["demo-storefront"]
