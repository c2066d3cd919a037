"""A failing stream made smaller while its signature stays: delta debugging on blocks, lines, then characters.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002, with a bound on the attempts.
"""

from collections.abc import Callable, Sequence

from fuzz.streams import OPTIONS, Stream

ATTEMPTS = 900
LARGEST = 1500
"""Characters of a stream that are tried one by one."""


def shrunk(stream: Stream, fails: Callable[[Stream], bool]) -> Stream:
    """The smallest stream found. fails: whether a stream has the signature still."""
    left = ATTEMPTS

    def still(candidate: Stream) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(candidate)

    stamped = OPTIONS[stream.options].stamp
    simple = stream._replace(options="default --stamp" if stamped else "default")
    for candidate in (simple._replace(options="default"), simple):
        if stream.options != candidate.options and still(candidate):
            stream = candidate
            break
    text, before = stream.text, b""

    def fails_as(parts: Sequence[bytes]) -> bool:
        return still(stream._replace(text=b"".join(parts)))

    while text != before and left > 0:
        before = text
        text = b"".join(_reduced(text.splitlines(keepends=True), fails_as))
        outdented = b"".join(line.removeprefix(b"  ") for line in text.splitlines(keepends=True))
        if outdented != text and fails_as([outdented]):
            text = outdented
        characters = [char.encode() for char in text.decode()]
        if len(characters) <= LARGEST:
            text = b"".join(_reduced(characters, fails_as, largest=32))
    return stream._replace(text=text)


def _reduced(
    parts: Sequence[bytes], fails: Callable[[Sequence[bytes]], bool], largest: int = 1 << 20
) -> Sequence[bytes]:
    """The parts without those that are not needed."""
    size = min(largest, max(1, len(parts) // 2))
    while size:
        at = 0
        while at < len(parts):
            fewer = [*parts[:at], *parts[at + size :]]
            if fewer and fails(fewer):
                parts = fewer
            else:
                at += size
        size //= 2
    return parts
