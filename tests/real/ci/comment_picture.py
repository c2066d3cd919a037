"""The picture of a comment in docs/ci.md: the Markdown of `check` and of `audit`, as a page that renders it shows it.

PYTHONPATH=.:tests/support:fixtures:benchmarks .venv/bin/python -m tests.real.ci.comment_picture

It writes docs/comment.png.

The check is of a shop's images on a registry of its own, the audit of the cluster that docs/audit.md shows. Python's
Markdown, which comes with what builds the site, makes HTML of them, and headless Chromium the picture.
"""

from __future__ import annotations

import base64
import subprocess
import tempfile
from pathlib import Path

from registry import Registry
from tests.audit import audit_clusters

import machine
from archfit.audit.findings import findings
from archfit.audit.report.markdown import render
from chromium import Chromium
from ci_checkout import pod
from machine import ROOT
from program import archfit

WIDTH, HEIGHT = 900, 586
PICTURE = ROOT / "docs" / "comment.png"
BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
IMAGES = {"shop.example/web:4.2": BOTH, "shop.example/cart:1.9": BOTH}
IMAGES |= {"shop.example/search-indexer:0.8.2": AMD}
STYLE = """\
body { margin: 24px; font: 14px/1.5 sans-serif; color: #1f2328; background: #fff }
article { border: 1px solid #d1d9e0; border-radius: 6px }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e }
section { padding: 0 16px 16px }
table { border-collapse: collapse; margin-bottom: 12px }
th, td { border: 1px solid #d1d9e0; padding: 4px 10px; text-align: left }
h2 { font-size: 19px; border-bottom: 1px solid #d1d9e0; padding-bottom: 4px } h3 { font-size: 16px }
"""


def comment() -> str:
    """The Markdown, as the recipe in docs/ci.md joins it."""
    text = "---\n".join(pod(image.partition(":")[0].rpartition("/")[2], image) for image in IMAGES)
    with Registry(IMAGES) as served:
        words = ("check", "--no-cache", *served.mirrors(), "--require=arm64", "--format=markdown")
        check = archfit(text.encode(), *words).stdout.decode()
    return f"{check}\n{render(findings(audit_clusters.shop(), own=['registry.shop.example/*'])).decode()}"


def picture(folder: Path) -> bytes:
    """The beginning of the comment as PNG."""
    python = machine.ROOT / ".tools" / "docs" / "bin" / "python"  # the environment of the tool mkdocs
    machine.tool("mkdocs")
    words: list[str | Path] = [python, "-m", "markdown", "-x", "tables", "-x", "md_in_html"]
    done = subprocess.run(words, input=comment(), capture_output=True, text=True, check=True)
    page = folder / "comment.html"
    head = "<header><b>archfit</b> commented on this pull request</header>"
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>comment</title><style>{STYLE}</style>'
        f"<article>{head}<section>{done.stdout}</section></article></html>",
        encoding="utf-8",
    )
    with Chromium.started(folder) as browser:
        shown = browser.opened(page, WIDTH, HEIGHT)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
        return base64.b64decode(shown.call("Page.captureScreenshot", format="png", clip=clip)["data"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PICTURE.write_bytes(picture(Path(made)))
