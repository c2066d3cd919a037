"""What a stream holds: what `pipeline` reads of its documents, and `pod_stages` of their pods."""

from __future__ import annotations

from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.base.results import Message, ObjectRef
    from archfit.edit.stamp.document_stamps import DocumentStamps
    from archfit.placement.selection import PodOptions
    from archfit.workloads.documents import Document
    from archfit.workloads.pods import Pod
    from archfit.workloads.unsupported.untouched import Untouched


class StreamInventory(Record):
    """What a stream holds, before anything is known about its images.

    documents: those with pods. messages: about the rest. texts: the image strings that the
    decisions depend on, as written, each once. untouched: objects that may hold pods and are left as they are.
    excluded: objects without a row that the user excludes. pod_options: one for each pod of the documents, in order.
    stamps: with `stamp`, those of each document; its pods are those that it would hold without them.
    """

    documents: tuple[Document, ...]
    messages: tuple[Message, ...]
    texts: tuple[str, ...]
    untouched: tuple[Untouched, ...] = ()
    pod_options: tuple[PodOptions, ...] = ()
    stamps: tuple[DocumentStamps, ...] = ()
    excluded: tuple[ObjectRef, ...] = ()

    def pods(self) -> Iterator[tuple[Pod, PodOptions]]:
        """Every pod with its options, in the order of the stream."""
        return zip(
            (pod for document in self.documents for pod in document.pods), self.pod_options, strict=True
        )
