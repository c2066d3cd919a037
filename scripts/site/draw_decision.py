"""docs/decision.svg: how archfit decides for one pod, as questions from top to bottom.

python scripts/site/draw_decision.py > docs/decision.svg

question --answer--> result         the pod's way ends there where the result is in ENDS
    |
next question
"""

from __future__ import annotations

import sys
from html import escape

STEPS = (
    (
        ("Does the pod opt out, name its node,", "or run on virtual nodes alone?"),
        "yes",
        ("No change.", "The report says why."),
    ),
    (
        ("Do lock file, cache or registry say", "what each of its images supports?"),
        "no",
        ("Error: what failed and", "what to do. No output."),
    ),
    (
        ("Is there an architecture that the pod", "allows and all its images have?"),
        "no",
        ("Error: each image with", "its architectures."),
    ),
    (
        ("Does it allow an architecture of the", "cluster that one of its images lacks?"),
        "yes",
        ("Add kubernetes.io/arch", "In [..] to each term."),
    ),
    (
        ("Do its images run on all the nodes", "behind a taint of an architecture?"),
        "yes",
        ("Add the toleration.",),
    ),
    (
        ("Is it a Job or a bare Pod, which", "nobody can change later?"),
        "yes",
        ("Keep only what it", "cannot run without."),
    ),
)
ENDS = 3
LAST = ("Insert the text, read it again, and compare it with the decision.", "Every other byte stays.")
STYLE = """\
.decision {
  --paper: #f6f8fa; --line: #d0d7de; --ink: #1f2328; --faint: #59636e; --added: #116329; --wash: #dafbe1;
  --wrong: #a40e26; --blush: #ffebe9;
}
@media (prefers-color-scheme: dark) {
  .decision {
    --paper: #151b23; --line: #3d444d; --ink: #e6edf3; --faint: #9198a1; --added: #56d364; --wash: #12261e;
    --wrong: #ff7b72; --blush: #2d1618;
  }
}
.decision text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
.decision rect { fill: var(--paper); stroke: var(--line); }
.decision path { stroke: var(--faint); fill: none; }
.decision .answer { fill: var(--faint); font-size: 11px; }
.decision .adds { fill: var(--wash); stroke: var(--added); }
.decision .fails { fill: var(--blush); stroke: var(--wrong); }"""
WIDTH, LEFT, RIGHT = 470, 240, 166
BOX, STEP, TOP = 46, 68, 12


def drawing() -> str:
    """The picture as SVG."""
    parts: list[str] = []
    x = WIDTH - RIGHT - 4
    for number, (question, answer, result) in enumerate(STEPS):
        y = TOP + number * STEP
        kind = "" if answer == "yes" and number < ENDS else "fails" if number < ENDS else "adds"
        parts += _box(4, y, LEFT, question)
        parts += _box(x, y, RIGHT, result, kind)
        parts.append(_arrow(f"M{LEFT + 4} {y + BOX / 2}H{x - 2}"))
        parts.append(_text((LEFT + 4 + x) / 2 - 3, y + BOX / 2 - 6, answer, "answer"))
        parts.append(_arrow(f"M{4 + LEFT / 2} {y + BOX}V{y + STEP - 2}"))
        otherwise = "either way" if number >= ENDS else "no" if answer == "yes" else "yes"
        parts.append(_text(4 + LEFT / 2 + 6, y + BOX + 14, otherwise, "answer", "start"))
    y = TOP + len(STEPS) * STEP
    parts += _box(4, y, WIDTH - 8, LAST)
    height = y + BOX + TOP
    body = "\n".join(parts)
    return f"""\
<!-- `python scripts/site/draw_decision.py > docs/decision.svg` makes this file. -->
<svg xmlns="http://www.w3.org/2000/svg" class="decision" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"
  height="{height}">
<style>
{STYLE}
</style>
<marker id="decision-head" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
<path d="M0 0L5 3L0 6"/></marker>
{body}
</svg>
"""


def _box(x: float, y: float, width: float, lines: tuple[str, ...], kind: str = "") -> list[str]:
    first = y + BOX / 2 + 4 - (len(lines) - 1) * 8
    return [
        f'<rect{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} x="{x:g}" y="{y:g}" width="{width:g}"'
        f' height="{BOX}" rx="6"/>',
        *(_text(x + width / 2, first + number * 16, line) for number, line in enumerate(lines)),
    ]


def _arrow(path: str) -> str:
    return f'<path d="{path}" marker-end="url(#decision-head)"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    words = f' class="{kind}"' if kind else ""
    return f'<text{words} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text, quote=False)}</text>'


if __name__ == "__main__":
    sys.stdout.write(drawing())
