"""Any change of any text, for the unified diff: lines that may be shown or may not, and splices that touch."""

from __future__ import annotations

from hypothesis import strategies as st

from archfit.rewrite.unified_diff import DiffObject
from archfit.yaml.stream import Splice

_LINES = [b"a\n", b"kind: Secret\n", b"---\n", b"\n", b"b\r\n", b"  x: 1\n", b"  y:\n", "é: ü\n".encode()]
_TEXTS = [b"", b"x", b"\n", b"\nq: 1", b"q: 1\n", b"a\nb\n", b"a\n", b"\r\n", "ö".encode()]


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, list[Splice], list[DiffObject]]:
    """A text of UTF-8, splices in order that do not overlap, and objects."""
    data = b"".join(draw(st.lists(st.sampled_from(_LINES), max_size=40))) + draw(st.sampled_from([b"", b"z"]))
    begins = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    offsets = [at for at in range(len(data) + 1) if at == len(data) or data[at] & 0xC0 != 0x80]
    anywhere = st.sampled_from(begins) | st.sampled_from(offsets)
    places = sorted(draw(st.lists(anywhere, max_size=12)))
    splices = list[Splice]()
    while places:
        start = places.pop(0)
        is_long: bool = draw(st.booleans())
        end = places.pop(0) if places and is_long else start
        splices.append(Splice(start, end, draw(st.sampled_from(_TEXTS))))
    if draw(st.booleans()):
        return data, splices, [DiffObject(0, len(data), "o")]
    bounds = sorted(set(draw(st.lists(anywhere, max_size=6))))
    return data, splices, [DiffObject(*pair, "o") for pair in zip(bounds[::2], bounds[1::2], strict=False)]
