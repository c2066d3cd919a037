"""The applications of `make -C lab whole PART=argocd`: archfit writes what the last run measured."""

import pytest
import whole_tables

from whole.argocd.renders import manifests


@pytest.fixture(scope="module")
def written():
    """Application -> digest of what archfit writes today."""
    return manifests()


def test_the_manifests_are_those_of_the_last_run(written):
    """Else its figures are those of another archfit: run `make -C lab whole PART=argocd`."""
    assert written == whole_tables.measured("argocd")["manifests"]


def test_clusters_with_other_architectures_get_other_manifests(written):
    assert written["everywhere-hub"] != written["everywhere-edge"]
