"""Every test here has a twin for `customResources: read`."""

import pytest


@pytest.fixture(autouse=True)
def _twins(twins_for_read):
    """Asks for them."""
