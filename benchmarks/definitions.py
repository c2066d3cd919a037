"""CustomResourceDefinitions: those of the corpus, again and again until there are enough bytes.

Each repetition has API groups of its own, so that no name is there twice: `metadata.name` and `spec.group` agree.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_KIND = re.compile(rb"^kind: CustomResourceDefinition\s*$", re.MULTILINE)
_NAME = re.compile(rb"^  name: \"?'?([^\s.\"']+)\.(\S+?)\"?'?$", re.MULTILINE)
_GROUP = re.compile(rb"^  group: (\S+)$", re.MULTILINE)


def definitions(streams: Iterable[bytes]) -> list[bytes]:
    """The documents of the streams that are CustomResourceDefinitions, as they are written."""
    documents = (one for stream in streams for one in re.split(rb"^---[^\n]*\n", stream, flags=re.MULTILINE))
    return [one for one in documents if _KIND.search(one)]


def repeated(documents: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The documents with API groups made unique, as many as `size` bytes hold."""
    documents = tuple(documents)
    for number in itertools.count():
        for document in documents:
            named = _NAME.sub(rb"  name: \1.r%d.\2" % number, document, count=1)
            made = _GROUP.sub(rb"  group: r%d.\1" % number, named, count=1)
            size -= len(made)
            if size < 0:
                return
            yield made


def as_list(documents: Iterable[bytes]) -> bytes:
    """The same documents as the items of one List, as `kubectl get crds -o yaml` nests them."""
    items = b"".join(
        b"- " + re.sub(rb"\n(?=[^\n])", b"\n  ", document.strip(b"\n")) + b"\n" for document in documents
    )
    return b"apiVersion: v1\nitems:\n" + items + b"kind: List\n"
