"""The picture of a report in docs/audit.md, made from the cluster of a shop (`audit_clusters`) in headless Chromium.

PYTHONPATH=tests/support .venv/bin/python -m audit_picture    writes docs/audit.png
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

import audit_clusters
from archfit.audit.findings import findings
from archfit.audit.report.page import render
from chromium import Chromium
from machine import ROOT

WIDTH, HEIGHT = 1000, 1340
PICTURE = ROOT / "docs" / "audit.png"


def picture(folder: Path) -> bytes:
    """The beginning of the page as PNG."""
    page = folder / "audit.html"
    page.write_bytes(render(findings(audit_clusters.shop(), own=["registry.shop.example/*"])))
    with Chromium.started(folder) as browser:
        shown = browser.opened(page, WIDTH, HEIGHT)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
        return base64.b64decode(shown.call("Page.captureScreenshot", format="png", clip=clip)["data"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_bytes(picture(Path(folder)))
