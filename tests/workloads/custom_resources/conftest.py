"""Every test here has a twin for `customResources: read`."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _twins(twins_for_read: None) -> None:
    """Asks for them."""
