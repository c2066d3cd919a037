"""docs/diff.svg: what the real program adds to two Deployments, as a terminal would show it.

    python scripts/site/draw_diff.py > docs/diff.svg

The program runs on STREAM against a registry on loopback that knows its images. The colours are variables: the file
alone follows the system's preference, as on GitHub, and within a page of the site the site's colours. The ground of the
added lines brightens once, one line after the other, but for readers who prefer reduced motion. Nothing is hidden at
any time, so a print or a screenshot shows the whole diff.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fixtures"))

from registry import Registry  # noqa: E402 - found only now

COMMAND = "helm template . | archfit --diff"
IMAGES = {
    "argoproj/rollouts-demo:green": ["linux/amd64"],
    "nginx:1.29.3": ["linux/amd64", "linux/arm64"],
}
STREAM = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: recommendations
spec:
  template:
    spec:
      containers:
        - name: recommendations
          image: argoproj/rollouts-demo:green  # amd64
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: nginx:1.29.3         # amd64 and arm64
"""
STYLE = """\
.diff {
  --paper: #f6f8fa; --line: #d0d7de; --ink: #1f2328; --faint: #59636e; --added: #116329; --wash: #dafbe1;
  --flash: #aceebb;
}
@media (prefers-color-scheme: dark) {
  .diff {
    --paper: #151b23; --line: #3d444d; --ink: #e6edf3; --faint: #9198a1; --added: #56d364; --wash: #12261e;
    --flash: #1f5130;
  }
}
.diff text {
  font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre; fill: var(--ink);
}
.diff .box { fill: var(--paper); stroke: var(--line); }
.diff .faint { fill: var(--faint); }
.diff .wash { fill: var(--wash); animation: diff-flash .8s ease-in-out; }
.diff .added { fill: var(--added); }
@keyframes diff-flash { 50% { fill: var(--flash); } }
@media (prefers-reduced-motion: reduce) { .diff .wash { animation: none; } }"""
WIDTH, LEFT, TOP, STEP = 490, 14, 30, 18


def shown(text: str) -> tuple[str, str]:
    """What `archfit --diff` writes for a stream: standard output and standard error."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCHFIT_", "XDG_"))}
    program = Path(sys.executable).parent / "archfit"
    with Registry(IMAGES) as registry, tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [program, "--diff", *registry.mirrors(), "--no-cache"],
            input=text,
            env={**kept, "HOME": home, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout, done.stderr


def drawing() -> str:
    """The picture as SVG."""
    output, messages = shown(STREAM)
    lines = output.splitlines()[2:]  # the names of the files mean nothing on standard input
    said = next(line for line in messages.splitlines() if "pod templates" in line)
    summary = textwrap.wrap(said.partition(";")[0].partition(",")[0], 54)
    parts = [_text(0, f"$ {COMMAND}", "faint")]
    washed = 0
    for place, line in enumerate(lines, 2):
        added = line.startswith("+")
        washed += added
        if added:
            parts.append(_wash(place, 0.4 + washed * 0.12))
        parts.append(_text(place, line, "added" if added else "faint" if line.startswith("@@") else ""))
    parts += [_text(len(lines) + 3 + number, line, "faint") for number, line in enumerate(summary)]
    height = _y(len(lines) + 2 + len(summary)) + 18
    body = "\n".join(parts)
    return f"""\
<!-- `python scripts/site/draw_diff.py > docs/diff.svg` makes this file. -->
<svg xmlns="http://www.w3.org/2000/svg" class="diff" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">
<style>
{STYLE}
</style>
<rect class="box" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>
{body}
</svg>
"""


def _y(place: int) -> int:
    return TOP + place * STEP


def _wash(place: int, delay: float) -> str:
    """The ground of an added line. delay: seconds until it brightens."""
    style = f'style="animation-delay: {delay:.2f}s"'
    return f'<rect class="wash" {style} x="1" y="{_y(place) - 13}" width="{WIDTH - 2}" height="{STEP}"/>'


def _text(place: int, text: str, words: str) -> str:
    kind = f' class="{words}"' if words else ""
    return f'<text{kind} x="{LEFT}" y="{_y(place)}" xml:space="preserve">{escape(text, quote=False)}</text>'


if __name__ == "__main__":
    sys.stdout.write(drawing())
