"""The pictures of a report, made from the cluster of a shop (`audit_clusters`) in headless Chromium.

PYTHONPATH=.:tests/support .venv/bin/python -m tests.real.audit.audit_picture

It writes docs/audit.png and, for README, docs/audit-head.png.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from tests.audit import audit_clusters

from archfit.audit.findings import findings
from archfit.audit.report.page import render
from chromium import Chromium
from machine import ROOT

WIDTH = 1000
DOCS = ROOT / "docs"
# File of docs/ -> its height.
PICTURES = {"audit.png": 1340, "audit-head.png": 480}


def picture(folder: Path, height: int) -> bytes:
    """The beginning of the page as PNG."""
    page = folder / "audit.html"
    page.write_bytes(render(findings(audit_clusters.shop(), own=["registry.shop.example/*"])))
    with Chromium.started(folder) as browser:
        shown = browser.opened(page, WIDTH, height)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
        return base64.b64decode(shown.call("Page.captureScreenshot", format="png", clip=clip)["data"])


if __name__ == "__main__":
    for name, height in PICTURES.items():
        # Chromium may still write into its profile while it ends.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            (DOCS / name).write_bytes(picture(Path(folder), height))
