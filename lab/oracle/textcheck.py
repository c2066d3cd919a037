#!/usr/bin/env python3
"""Byte-level check of a transformed stream: OUT must be IN plus inserted lines.

    textcheck.py IN OUT

A line of IN may change only by a flow-style insertion (`{a: 1}` -> `{a: 1, b: 2}`, `]` -> `],`) or by an empty value
filled in (`tolerations: []` -> `tolerations:` or a flow list, `affinity: {}`, `- {}`). Inserted lines may be no
comment, blank line or document marker, and take the line ending of their neighbours. The final newline stays as it was.
Prints the faults; exit status 0 clean, 1 not, 2 usage.
"""

import argparse
import re
import sys
from pathlib import Path

FILLABLE = (
    rb"(?:tolerations|affinity|nodeAffinity|nodeSelectorTerms|matchExpressions"
    rb"|requiredDuringSchedulingIgnoredDuringExecution|preferredDuringSchedulingIgnoredDuringExecution)"
)
EMPTY_VALUE = re.compile(
    rb"""^(?P<head>[\s-]*(?P<q>["']?)""" + FILLABLE + rb"""(?P=q)\s*:|\s*-)"""
    rb"""[ \t]*(?P<empty>\[\s*\]|\{\s*\}|null|Null|NULL|~)(?P<tail>[ \t]*,?[ \t]*(?:#.*)?)$"""
)
TOKEN = re.compile(
    rb"""\s+|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[{}\[\],]|:(?=[\s,\[\]{}"']|$)|[^\s{}\[\],:]+|:|["']"""
)
PLACEMENT = re.compile(rb"tolerations|[aA]ffinity|nodeSelectorTerms|matchExpressions|key|preference|weight")
MARKER = re.compile(rb"^(?:---|\.\.\.)(?:\s|$)")
OPEN, CLOSE = (b"{", b"["), (b"}", b"]")


def split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    out = [line + b"\n" for line in lines[:-1]]
    return [*out, lines[-1]] if lines[-1] else out


def body(line: bytes) -> bytes:
    return line.rstrip(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line


def ending(line: bytes) -> bytes:
    return line[len(body(line)) :]


def balanced(tokens: list[bytes]) -> bool:
    stack = []
    for t in tokens:
        if t in OPEN:
            stack.append(t)
        elif t in CLOSE and (not stack or OPEN.index(stack.pop()) != CLOSE.index(t)):
            return False
    return not stack


def filled(was: bytes, now: bytes) -> bool:
    """An empty value filled in: the head and the trailing comment stay, a flow value or nothing stands between."""
    m = EMPTY_VALUE.match(was)
    if not m or not now.startswith(m["head"]):
        return False
    tail, rest = m["tail"], now[len(m["head"]) :]
    if m["head"].strip() == b"-":  # an empty term: `- {}` becomes a mapping, in flow or block style
        return PLACEMENT.search(rest) is not None and balanced(TOKEN.findall(rest))
    for end in {tail, tail.rstrip(), tail.strip()}:
        if rest.endswith(end):
            value = rest[: len(rest) - len(end)].strip()
            if not value:
                return True
            tokens = TOKEN.findall(value)
            if tokens[0] in OPEN and balanced(tokens) and PLACEMENT.search(value):
                return True
    return False


def flow_inserted(was: bytes, now: bytes) -> bool:
    """Entries inserted into flow collections on one line, every other token as it was."""
    if len(now) <= len(was):
        return False
    if now == was + b"," or now.rstrip() == was.rstrip() + b",":
        return was.rstrip().endswith((b"}", b"]", b'"')) or was.lstrip().startswith((b'"', b"}", b"]"))
    if not PLACEMENT.search(now) or not re.search(rb"[{}\[\]]", was):
        return False
    a, b = TOKEN.findall(was), TOKEN.findall(now)
    if b"".join(a) != was or b"".join(b) != now:
        return False
    i = j = 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i] == b[j]:
            if a[i].startswith(b"#") and (
                i == 0 or a[i - 1].isspace()
            ):  # a comment: nothing may be inserted in it
                return a[i:] == b[j:]
            i, j = i + 1, j + 1
            continue
        start, depth = j, 0
        after_open = any(t in OPEN for t in b[j - 1 : j] if not t.isspace())
        while j < len(b):
            t = b[j]
            if t in CLOSE and depth == 0:
                break
            depth += (t in OPEN) - (t in CLOSE)
            j += 1
            if depth == 0 and i < len(a) and j < len(b) and b[j] == a[i]:
                piece = [x for x in b[start:j] if not x.isspace()]
                if piece and (piece[0] == b"," or piece[-1] == b"," or (after_open and b[j] in CLOSE)):
                    break
        piece = [x for x in b[start:j] if not x.isspace()]
        legal = piece and balanced(piece) and (piece[0] == b"," or piece[-1] == b"," or after_open)
        if not legal or not (PLACEMENT.search(b"".join(piece)) or piece == [b","]):
            return False
        if i >= len(a) and j >= len(b):
            break
        if i >= len(a) or j >= len(b) or a[i] != b[j]:
            return False
    return True


def changed_legally(was: bytes, now: bytes, last: bool) -> bool:
    if ending(was) != ending(now) and not (last and not ending(was)):
        return False
    a, b = body(was), body(now)
    return filled(a, b) or flow_inserted(a, b)


def align(old: list[bytes], new: list[bytes]) -> tuple[list[int], int | None]:
    """The earliest place of each IN line in OUT, or the first IN line that has none."""
    places: list[int] = []
    j, no_final_eol = 0, bool(old) and not old[-1].endswith(b"\n")
    for i, line in enumerate(old):
        last = no_final_eol and i == len(old) - 1
        while j < len(new):
            if new[j] == line or (last and body(new[j]) == line) or changed_legally(line, new[j], last):
                break
            j += 1
        if j == len(new):
            return places, i
        places.append(j)
        j += 1
    return places, None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before")
    parser.add_argument("after")
    args = parser.parse_args()
    before, after = Path(args.before).read_bytes(), Path(args.after).read_bytes()
    old, new = split(before), split(after)
    faults: list[str] = []

    if before.endswith(b"\n") != after.endswith(b"\n") and before and after:
        faults.append("the final newline was %s" % ("lost" if before.endswith(b"\n") else "added"))
    places, stuck = align(old, new)
    if stuck is not None:
        faults.append(f"in:{stuck + 1}: line is missing, out of order or changed: {old[stuck][:80]!r}")
    taken = set(places)
    for j in (j for j in range(len(new)) if j not in taken and stuck is None):
        text = body(new[j])
        if MARKER.match(text):
            faults.append(f"out:{j + 1}: inserted document marker")
        elif not text.strip():
            faults.append(f"out:{j + 1}: inserted blank line")
        elif text.lstrip().startswith(b"#"):
            faults.append(f"out:{j + 1}: inserted comment")
        near = {ending(new[k]) for k in taken_near(taken, j, len(new))} - {b""}
        if ending(new[j]) and near and ending(new[j]) not in near:
            faults.append(f"out:{j + 1}: line ending {ending(new[j])!r} among {sorted(near)}")
    print("\n".join([*faults[:50], f"{len(faults)} faults"]))
    return 1 if faults else 0


def taken_near(taken: set[int], j: int, size: int) -> list[int]:
    """The nearest lines of IN before and after the inserted line j."""
    out = []
    for step in (-1, 1):
        k = j + step
        while 0 <= k < size and k not in taken:
            k += step
        if 0 <= k < size:
            out.append(k)
    return out


if __name__ == "__main__":
    sys.exit(main())
