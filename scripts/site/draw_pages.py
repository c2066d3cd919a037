"""The pictures of pages, made by headless Chromium.

PYTHONPATH=.:tests/support:fixtures:benchmarks .venv/bin/python scripts/site/draw_pages.py

It writes docs/audit.png and, for README, docs/audit-head.png: the report of a shop's cluster (`audit_clusters`). And
docs/comment.png: the Markdown of `check`, of a shop's images on a registry of its own, and of that audit, as a page
that renders it shows it. Python's Markdown, which comes with what builds the site, makes HTML of them.
"""

import base64
import subprocess
import tempfile
from pathlib import Path

from registry import Registry
from tests.audit import audit_clusters

import machine
from archfit.audit.findings import findings
from archfit.audit.report import markdown, page
from chromium import Chromium
from ci_checkout import pod
from machine import ROOT
from program import archfit

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
IMAGES = {
    "shop.example/web:4.2": BOTH,
    "shop.example/cart:1.9": BOTH,
    "shop.example/search-indexer:0.8.2": AMD,
}
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
    """The page of the comment, whose Markdown is joined as the recipe in docs/ci.md joins it."""
    text = "---\n".join(pod(image.partition(":")[0].rpartition("/")[2], image) for image in IMAGES)
    with Registry(IMAGES) as served:
        words = ("check", "--no-cache", *served.mirrors(), "--require=arm64", "--format=markdown")
        check = archfit(text.encode(), *words).stdout.decode()
    machine.tool("mkdocs")  # whose environment has Markdown
    python = ROOT / ".tools" / "docs" / "bin" / "python"
    words = (str(python), "-m", "markdown", "-x", "tables", "-x", "md_in_html")
    report = markdown.render(AUDIT).decode()
    done = subprocess.run(words, input=f"{check}\n{report}", capture_output=True, text=True, check=True)
    head = "<header><b>archfit</b> commented on this pull request</header>"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>comment</title><style>{STYLE}</style>'
        f"<article>{head}<section>{done.stdout}</section></article></html>"
    )


def picture(browser: Chromium, path: Path, width: int, height: int) -> bytes:
    """The beginning of a page as PNG."""
    shown = browser.opened(path, width, height)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    return base64.b64decode(shown.call("Page.captureScreenshot", format="png", clip=clip)["data"])


AUDIT = findings(audit_clusters.shop(), own=["registry.shop.example/*"])

if __name__ == "__main__":
    # Chromium may still write into its profile while it ends.
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        Chromium.started(Path(name)) as browser,
    ):
        (report := Path(name) / "audit.html").write_bytes(page.render(AUDIT))
        (commented := Path(name) / "comment.html").write_text(comment(), encoding="utf-8")
        for file, path, width, height in (
            ("audit.png", report, 1000, 1340),
            ("audit-head.png", report, 1000, 480),
            ("comment.png", commented, 900, 586),
        ):
            (ROOT / "docs" / file).write_bytes(picture(browser, path, width, height))
