"""What `make -C lab whole PART=flux` measured is of what archfit writes today."""

import pytest
import whole_tables

from whole.flux import forms


@pytest.fixture(scope="module")
def digests():
    return forms.digests()


def test_archfit_writes_what_was_measured(digests):
    """Else the figures of the page are those of another archfit: run `make -C lab whole PART=flux`."""
    assert whole_tables.measured("flux")["writes"] == digests


def test_what_was_written_for_a_release_is_what_helm_controller_had(digests):
    """The HelmReleases may have been measured on another day than the Kustomizations."""
    helm = whole_tables.measured("flux")["helm"]
    assert helm["writes"] == {name: one for name, one in digests.items() if name.startswith(forms.RELEASE)}
