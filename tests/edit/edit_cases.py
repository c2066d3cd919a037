"""Cases of edits: the folders of `fixtures/edits`.

    fixtures/edits/NAME/input.yaml        a stream
    fixtures/edits/NAME/expected.yaml     what archfit writes, byte by byte
    fixtures/edits/NAME/archfit           words of the command line, where the case needs some

NAME begins with what is tried: block-style, flow-style, comments, empty (values), block-scalar, scalar, separator,
several (edits at one place), shared (nodes), fuzzed (what the fuzzer found). What an image offers is said in
`stream_edits`: `amd:1` needs an affinity, `both:1` a toleration. A new folder is a new case.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from archfit.base.files import read_file
from archfit.options.layers import load
from archfit.options.settings import Options

FOLDER = Path(__file__).parents[2] / "fixtures" / "edits"


class EditCase(NamedTuple):
    """One folder, read."""

    name: str
    before: bytes
    after: bytes
    words: tuple[str, ...]

    @property
    def options(self) -> Options:
        return load(self.words, {}, read_file).options


def edit_cases(*prefixes: str) -> list[EditCase]:
    """The cases whose names begin with one of the prefixes, or all of them, by name."""
    folders = sorted(path.parent for path in FOLDER.glob("*/input.yaml"))
    return [_case(folder) for folder in folders if not prefixes or folder.name.startswith(prefixes)]


def names(cases: Sequence[EditCase]) -> list[str]:
    """The ids of a test that takes the cases."""
    return [case.name for case in cases]


def _case(folder: Path) -> EditCase:
    words = folder / "archfit"
    return EditCase(
        folder.name,
        (folder / "input.yaml").read_bytes(),
        (folder / "expected.yaml").read_bytes(),
        tuple(shlex.split(words.read_text(encoding="utf-8"))) if words.exists() else (),
    )
