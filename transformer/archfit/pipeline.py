"""The whole job on one page: scan -> look up -> decide -> edit -> prove.

What needs a pod is in `pod_stages`, which is loaded with the first document that holds one. With `stamp`, pods are
those without what an earlier run added, and the patch takes that out as well.
"""

from __future__ import annotations

from archfit.base.results import Decision, Message, ObjectRef, has_error
from archfit.images.platforms import meant_arm64
from archfit.options.settings import Options
from archfit.startup.record import Record
from archfit.stream_inventory import StreamInventory
from archfit.workloads.builtin import UserRows, by_kind
from archfit.workloads.inventory import Inventory, scan_piece
from archfit.yaml.stream import Piece, Splice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from archfit.images.platforms import Answer
    from archfit.workloads.documents import Document
    from archfit.workloads.pods import Pod
    from archfit.workloads.unsupported.untouched import Untouched


Lookup: TypeAlias = "Callable[[list[str]], Mapping[str, Answer]]"


class StreamDecisions(Record):
    """What was decided about a stream.

    decisions: one for each pod spec, in the order of the stream. answers: by image string, as written.
    """

    decisions: tuple[tuple[Pod, Decision], ...]
    messages: tuple[Message, ...]
    answers: Mapping[str, Answer]

    def failed(self) -> bool:
        """Whether an error stands in the way of any output."""
        return has_error(self.messages)


class StreamEdits(StreamDecisions):
    """What became of a stream. inventory: what it holds.

    splices: what changes, in order; meaningless if an error stands in the way.
    """

    inventory: StreamInventory = StreamInventory((), (), ())
    splices: tuple[Splice, ...] = ()


def scan(data: bytes, pieces: Iterable[Piece], options: Options) -> StreamInventory:
    """What the pieces of a stream hold, and which images have to be looked up."""
    pieces, rows = tuple(pieces), by_kind(options.workloads)
    inventories = [scan_piece(data, piece, rows) for piece in pieces]
    documents = tuple(document for inventory in inventories for document in inventory.documents)
    messages = [message for inventory in inventories for message in inventory.messages]
    untouched, excluded = _untouched(inventories, options)
    messages += _unsupported(documents, untouched, rows)
    contents = StreamInventory(documents, tuple(messages), (), tuple(untouched), excluded=excluded)
    if not documents:
        return contents
    from archfit.pod_stages import scan_pods

    return scan_pods(data, pieces, contents, options, rows)


def _untouched(
    inventories: Iterable[Inventory], options: Options
) -> tuple[list[Untouched], tuple[ObjectRef, ...]]:
    untouched = [each for inventory in inventories for each in inventory.untouched]
    if not untouched or not options.exclude:
        return untouched, ()
    from archfit.placement.selection import excluded

    pairs = [(each, excluded(each, options)) for each in untouched]
    return [each for each, by in pairs if not by], tuple(dict.fromkeys(each.ref for each, by in pairs if by))


def _unsupported(documents: Iterable[Document], untouched: list[Untouched], rows: UserRows) -> list[Message]:
    messages: list[Message] = []
    if untouched:
        from archfit.workloads.unsupported.untouched import untouched_messages

        messages += untouched_messages(untouched)
    if rows:
        from archfit.workloads.unread import incomplete

        kinds = ((pod.group, pod.ref.kind) for document in documents for pod in document.pods)
        messages += incomplete(rows, kinds)
    return messages


def decide(contents: StreamInventory, answers: Mapping[str, Answer], options: Options) -> StreamDecisions:
    """The decisions for all pods of an inventory; answers: for each of its texts, perhaps for more."""
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    of_controllers: list[tuple[ObjectRef, str]] = []
    of_rows: list[Message] = []
    if contents.documents:
        from archfit.pod_stages import controlled, decide_pods, decide_stamped, of_custom_rows

        decisions = decide_pods(contents.pods(), answers, options)
        if contents.stamps:
            decisions = decide_stamped(contents.documents, contents.stamps, decisions, answers, options)
        of_controllers = controlled(decisions)
        of_rows = of_custom_rows(decisions, options)
    # Several pods of an object read the same annotations: an error in one is one error.
    own = dict.fromkeys(message for _, decision in decisions for message in decision.messages)
    owned = [
        *of_controllers,
        *((left.ref, left.controller) for left in contents.untouched if left.controller),
    ]
    if owned:
        from archfit.workloads.pod_specs import left_to_controllers

        of_rows.append(left_to_controllers(owned))
    named = meant_arm64(options.cluster_architectures, answers.values())
    of_options = [Message("warning", f"--cluster-architectures: {named}")] if named else []
    return StreamDecisions(decisions, (*contents.messages, *own, *of_rows, *of_options), answers)


def transform(data: bytes, pieces: Iterable[Piece], options: Options, look_up: Lookup) -> StreamEdits:
    """What the pieces of a stream need, decided and proven; `look_up` is called once, with every distinct image."""
    contents = scan(data, pieces, options)
    return edit(data, contents, look_up(list(contents.texts)) if contents.texts else {}, options)


def edit(
    data: bytes, contents: StreamInventory, answers: Mapping[str, Answer], options: Options
) -> StreamEdits:
    """What an inventory's documents become, decided and proven. data: that of the inventory."""
    outcome = decide(contents, answers, options)
    if not contents.documents:
        return StreamEdits(outcome.decisions, outcome.messages, answers, contents)
    from archfit.pod_stages import edit_documents, located

    messages = located(data, contents.documents, outcome.messages)
    if has_error(messages):
        return StreamEdits(outcome.decisions, messages, answers, contents)
    splices, problems = edit_documents(
        data, contents.documents, outcome.decisions, stamp=bool(contents.stamps)
    )
    return StreamEdits(outcome.decisions, (*messages, *problems), answers, contents, tuple(splices))
