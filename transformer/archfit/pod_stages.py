"""The stages of the job that need a pod: the last of the inventory, the decisions, the edits.

`pipeline` loads this module with the first document that holds a pod. What only few of those need (a stamp, an edit) is
loaded later.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput, UnplaceableEdit
from archfit.base.patch import Operation
from archfit.base.results import Decision, Message, ObjectRef
from archfit.edit.insert import applied, insertions
from archfit.edit.prove import prove
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.placement.annotations import misplaced
from archfit.placement.decide import decide
from archfit.placement.pod_patch import one_after_another
from archfit.placement.selection import PodOptions, pod_options, questions
from archfit.workloads.builtin import UserRows, by_kind
from archfit.workloads.documents import Document, Lines
from archfit.workloads.pods import Pod
from archfit.yaml.scan import check_editable
from archfit.yaml.stream import Piece, Splice
from archfit.yaml.tree import C_EXTENSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from archfit.edit.insert import TextEdit
    from archfit.edit.stamp.document_stamps import DocumentStamps
    from archfit.stream_inventory import StreamInventory

_OURS, _STAMP = b"archfit.dev", b"archfit.dev/added"
# The words of `workloads.node_selectors` and of `workloads.operators.openshift`.
_CLASS, _SELECTING = b"RuntimeClass", b"scheduler.alpha."
_OPENSHIFT, _OPENSHIFT_SELECTING = b"openshift.io", b"openshift.io/node-selector"
_REPLACING = (b"image.openshift.io", b"image.policy.openshift.io")
_OPENSHIFT_APPS = "apps.openshift.io"
_PURE_PARSER = (
    "PyYAML came without its C extension, so this run reads YAML about ten times slower: install PyYAML from a wheel, "
    "or build it where libyaml's headers are"
)


def scan_pods(
    data: bytes, pieces: Sequence[Piece], contents: StreamInventory, options: Options, rows: UserRows
) -> StreamInventory:
    """The contents of a stream with what is known of its pods before anything is of their images. rows: the user's."""
    documents = contents.documents
    messages = [*contents.messages, *_misplaced_messages(data, documents, rows)]
    stamps: tuple[DocumentStamps, ...] = ()
    if options.stamp or (options.stamps_present and data.find(_STAMP) >= 0):
        from archfit.edit.stamp.document_stamps import without_stamps

        pairs = [without_stamps(data, document, rows) for document in documents]
        documents, stamps = tuple(bare for bare, _ in pairs), tuple(stamps for _, stamps in pairs)
    if not C_EXTENSION:
        messages.append(Message("info", _PURE_PARSER))
    pods = [pod for document in documents for pod in document.pods]
    if any(pod.placement_paths is not None and pod.placement_paths.borrows for pod in pods):
        from archfit.workloads.operators.lenders import with_borrowed_images

        documents, unlike = with_borrowed_images(documents, rows)
        messages += unlike
    if any(pod.placement_paths is not None and pod.placement_paths.outside for pod in pods):
        from archfit.workloads.operators.outside import with_outside

        documents, unlike = with_outside(data, pieces, documents)
        messages += unlike
    selects_nodes, replaces_images = _effects_of_others(data)
    if selects_nodes or (data.find(_CLASS) >= 0 and any("runtimeClassName" in pod.spec for pod in pods)):
        from archfit.workloads.node_selectors import with_node_selectors

        documents, unlike = with_node_selectors(data, pieces, documents)
        messages += unlike
    if replaces_images or any(
        pod.placement_paths is not None and pod.group == _OPENSHIFT_APPS for pod in pods
    ):
        from archfit.workloads.operators.openshift import with_replaced_images

        documents, replaced = with_replaced_images(data, pieces, documents)
        messages += replaced
    pods = [pod for document in documents for pod in document.pods]
    own = tuple([pod_options(pod, options) for pod in pods])
    texts = dict.fromkeys(
        text for pod, of_pod in zip(pods, own, strict=True) for text in questions(pod, of_pod)
    )
    return contents.replace(
        documents=documents, messages=tuple(messages), texts=tuple(texts), pod_options=own, stamps=stamps
    )


def _effects_of_others(data: bytes) -> tuple[bool, bool]:
    selects = data.find(_SELECTING) >= 0
    if data.find(_OPENSHIFT) < 0:
        return selects, False
    return (selects or data.find(_OPENSHIFT_SELECTING) >= 0, any(data.find(word) >= 0 for word in _REPLACING))


def _misplaced_messages(data: bytes, documents: Iterable[Document], rows: UserRows) -> Iterator[Message]:
    for document in documents:
        if data.find(_OURS, document.span.start, document.span.end) >= 0:
            yield from misplaced(document.value, document.pods, rows)


def decide_pods(
    pods: Iterable[tuple[Pod, PodOptions]], answers: Mapping[str, Answer], options: Options
) -> tuple[tuple[Pod, Decision], ...]:
    """The decisions for all pods of a stream, in order."""
    decisions = tuple((pod, decide(pod, own, answers, options)) for pod, own in pods)
    custom = (pod.placement_paths for pod, _ in decisions if pod.placement_paths is not None)
    if any(paths.missing or paths.inherited for paths in custom):
        return tuple(one_after_another(decisions))
    return decisions


def of_custom_rows(decisions: Iterable[tuple[Pod, Decision]], options: Options) -> list[Message]:
    """What the option `customResources` decided, once for each kind."""
    custom = [decision for decision in decisions if decision[0].row is not None]
    if not custom or options.custom_resources == "all":
        return []
    from archfit.workloads.known_rows import row_messages

    return row_messages(custom, options)


def controlled(decisions: Iterable[tuple[Pod, Decision]]) -> list[tuple[ObjectRef, str]]:
    """The objects that a controller made, and what controls them."""
    objects = {
        (pod.location, pod.root): (pod.ref, decision.controller)
        for pod, decision in decisions
        if decision.controller
    }
    return list(objects.values())


def located(data: bytes, documents: Iterable[Document], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages about documents, each with the line of what it is about."""
    if not any(message.path for message in messages):
        return messages
    return tuple(map(Lines(data, documents).located, messages))


def decide_stamped(
    documents: Iterable[Document],
    stamps: Iterable[DocumentStamps],
    decisions: Iterable[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    options: Options,
) -> tuple[tuple[Pod, Decision], ...]:
    """The decisions for pods without their stamps, as decisions for the documents as they are."""
    from archfit.edit.stamp.document_stamps import document_decisions

    def again(pods: Iterable[Pod]) -> tuple[tuple[Pod, Decision], ...]:
        return decide_pods(((pod, pod_options(pod, options)) for pod in pods), answers, options)

    rest, rows = iter(decisions), by_kind(options.workloads)
    stamped: list[tuple[Pod, Decision]] = []
    for document, stamp in zip(documents, stamps, strict=True):
        own = [next(rest) for _ in document.pods]
        stamped += document_decisions(document, stamp, own, again, rows, stamp=options.stamp)
    return tuple(stamped)


def edit_documents(
    data: bytes,
    documents: Iterable[Document],
    decisions: Iterable[tuple[Pod, Decision]],
    *,
    stamp: bool,
) -> tuple[list[Splice], list[Message]]:
    """The splices of all documents, and errors about edits that have no place. decisions: of all of their pods.

    stamp: the patches may take back what an earlier run recorded, and record what they add.
    Raises InternalError.
    """
    splices: list[Splice] = []
    problems: list[Message] = []
    rest = iter(decisions)
    for document in documents:
        patch = [step for _ in document.pods for step in next(rest)[1].patch]
        try:
            splices += edit_document(data, document, patch, stamp=stamp)
        except (UnplaceableEdit, InvalidInput) as error:
            problems.append(_problem(document, error))
    return splices, problems


def _problem(document: Document, error: UnplaceableEdit | InvalidInput) -> Message:
    pod = document.pods[0]
    line = error.line if isinstance(error, InvalidInput) else document.span.line + error.line - 1
    message = error.message if isinstance(error, InvalidInput) else str(error)
    return Message("error", message, ref=pod.ref, location=pod.location.replace(line=line))


def edit_document(
    data: bytes, document: Document, patch: Sequence[Operation], *, stamp: bool
) -> list[Splice]:
    """The splices that apply its patch to one document, proven.

    Raises UnplaceableEdit, InvalidInput, InternalError.
    """
    if not patch:
        return []
    check_editable(data, document.span)
    text = document.span.text(data)
    if stamp:
        from archfit.edit.stamp.document_stamps import restamped

        return _splices(document, text, restamped(text, document, patch))
    edits = insertions(text, document.value, document.sites, patch)
    prove(document, patch, applied(text, edits))
    return _splices(document, text, edits)


def _splices(document: Document, text: str, edits: Iterable[TextEdit]) -> list[Splice]:
    splices, at, offset = [], 0, document.span.start
    for edit in edits:
        offset += len(text[at : edit.start].encode())
        length = len(text[edit.start : edit.end].encode())
        splices.append(Splice(offset, offset + length if length else offset, edit.text.encode()))
        at, offset = edit.end, offset + length
    return splices
