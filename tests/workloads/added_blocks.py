"""Diffs of what archfit adds, with names for the blocks that it always adds.

    before, after = sides(diff(TEXT))

A line `+N NAME` of the text stands for a block at indent N: AFFINITY, TERM (what is below `affinity:`), TOLERATIONS,
TOLERATION. Images that nobody knows offer linux/amd64 alone (`stream_edits`).
"""

TERM = """\
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions:
      - key: kubernetes.io/arch
        operator: In
        values:
        - amd64
"""
TOLERATION = """\
- key: kubernetes.io/arch
  operator: Equal
  value: arm64
  effect: NoSchedule
"""
FLOW = "{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}"
AFFINITY = "affinity:\n" + "".join(f"  {line}\n" for line in TERM.splitlines())
TOLERATIONS = "tolerations:\n" + TOLERATION


def added(indent: int, block: str) -> str:
    """The lines of a block as a diff adds them."""
    return "".join(f"+{' ' * indent}{line}\n" for line in block.splitlines())


def diff(text: str) -> str:
    """A diff whose lines `+N NAME` stand for a block at indent N."""
    blocks = {"AFFINITY": AFFINITY, "TOLERATIONS": TOLERATIONS, "TERM": TERM, "TOLERATION": TOLERATION}
    lines = []
    for line in text.removeprefix("\n").splitlines(keepends=True):
        head, _, name = line.strip().partition(" ")
        if head[:1] == "+" and head[1:].isdigit() and name in blocks:
            lines.append(added(int(head[1:]), blocks[name]))
        else:
            lines.append(line if line[:1] == "+" else " " + line)
    return "".join(lines)
