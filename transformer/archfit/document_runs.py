"""The documents of a large stream, settled run by run: a few documents at a time are held with their values.

    a run of documents ── questions ── known already? ──┬── all of it ── decide ── edit ──┐
                                                        └── else: kept ───────────────────┤
                     the one lookup of all questions ── decide and edit what was kept ────┴──> what the end needs

Known is what overrides, the lock file and the cache say, without a request and without a message. What the end needs
is small: splices, decisions, and `SettledPod`s in place of pods. With a cache that knows no image all documents are
kept until the lookup, as those of a small stream are.

Decisions and edits look at one document, so runs settle them as the whole stream does. Where a document depends on
others, `take` says so. An error of a run that may depend on others, such as overrides that disagree,
keeps its documents: they are decided again where the whole stream is decided.
"""

from __future__ import annotations

from archfit.errors import ArchfitError
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.placement.selection import PodOptions
from archfit.pod_stages import (
    asked,
    borrows_images,
    controlled,
    decisions_of,
    edits_of,
    effects_of_others,
    has_image_triggers,
    holds_a_class,
    located,
    misplaced_results,
    names_a_class,
    parser_results,
)
from archfit.results import Decision, ObjectRef, Result, has_error
from archfit.stream import Splice
from archfit.typing_names import Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeAlias
from archfit.workloads.documents import Document
from archfit.workloads.inventory import Inventory
from archfit.workloads.pods import Pod, SettledPod

Known: TypeAlias = "Callable[[list[str]], Mapping[str, Answer]]"
"""The answers that are known for image strings, without asking a registry and without a message."""


class _Run:
    """Some documents and what became of them.

    documents, options: of its pods, () once it is settled. results: of the decisions, each as it is and with its line.
    controlled: the objects that a controller decides for. problems: errors of edits. decided: until it is edited.
    """

    def __init__(self, documents: Sequence[Document], options: Sequence[PodOptions]) -> None:
        self.documents = documents
        self.options = options
        self.decisions: Sequence[tuple[SettledPod, Decision]] = ()
        self.results: Sequence[tuple[Result, Result]] = ()
        self.controlled: Sequence[tuple[ObjectRef, str]] = ()
        self.splices: Sequence[Splice] = ()
        self.problems: Sequence[Result] = ()
        self.decided: Sequence[tuple[Pod, Decision]] = ()


class DocumentRuns:
    """The runs of one stream, in its order."""

    def __init__(self, data: bytes, options: Options, known: Known) -> None:
        self._depends = any(effects_of_others(data))
        self._holds_a_class: bool | None = None  # asked with the first pod that names one
        self._data = data
        self._options = options
        self._known = known
        self._texts: dict[str, None] = {}
        self._answers: dict[str, Answer] = {}
        self._misplaced: list[Result] = []
        self._runs: list[_Run] = []
        self._failed = False
        # Documents of one stream are often alike, and so is what is kept of them: equal parts are kept once.
        self._same: dict[Any, Any] = {}

    def take(self, inventories: Sequence[Inventory]) -> tuple[Result, ...] | None:
        """Settles the next documents, or keeps them. The results of their pieces, with their lines.

        None where a document depends on others, so that the stream has to be transformed as a whole.
        """
        documents = [document for inventory in inventories for document in inventory.documents]
        results = tuple([result for inventory in inventories for result in inventory.results])
        pods = [pod for document in documents for pod in document.pods]
        if self._holds_a_class is None and names_a_class(pods):
            self._holds_a_class = holds_a_class(self._data)
        depends = self._depends or (self._holds_a_class and names_a_class(pods))
        if depends or borrows_images(pods) or has_image_triggers(pods):
            return None
        misplaced = tuple(misplaced_results(self._data, documents, {}))
        self._misplaced += located(self._data, documents, misplaced)
        results = located(self._data, documents, results)
        self._failed = self._failed or has_error((*results, *misplaced))
        options, texts = asked(pods, self._options)
        run = _Run(documents, options)
        self._runs.append(run)
        try:
            if self._knows(texts):
                self._decide(run, self._answers)
                self._edit(run)
                run.documents, run.options = (), ()
        except ArchfitError:
            pass  # raised again, if at all, once the whole stream is known
        return results

    def texts(self) -> list[str]:
        """Every distinct image string, in order."""
        return list(self._texts)

    def decide_rest(self, answers: Mapping[str, Answer]) -> tuple[list[Result], list[tuple[ObjectRef, str]]]:
        """The results of all pods, and the objects that a controller decides for. answers: for each of `texts`."""
        for run in self._runs:
            if run.documents:
                self._decide(run, answers)
        own: dict[Result, Result] = {}
        for run in self._runs:
            for result, placed in run.results:
                own.setdefault(result, placed)
        of_controllers = [one for run in self._runs for one in run.controlled]
        return [*self._misplaced, *parser_results(), *own.values()], of_controllers

    def edit_rest(self) -> list[Result]:
        """Edits what was kept. The problems of all edits."""
        for run in self._runs:
            if run.documents:
                self._edit(run)
        return [problem for run in self._runs for problem in run.problems]

    def decisions(self) -> Iterator[tuple[SettledPod, Decision]]:
        """Those of all pods, in order."""
        return (pair for run in self._runs for pair in run.decisions)

    def splices(self) -> Iterator[Splice]:
        """Those of all documents, in order."""
        return (splice for run in self._runs for splice in run.splices)

    def _knows(self, texts: Iterable[str]) -> bool:
        """Whether every answer is known."""
        new = [text for text in texts if text not in self._texts]
        if new:
            self._texts.update(dict.fromkeys(new))
            self._answers.update(self._known(new))
        return all(text in self._answers for text in texts)

    def _decide(self, run: _Run, answers: Mapping[str, Answer]) -> None:
        pods = [pod for document in run.documents for pod in document.pods]
        run.decided = decisions_of(zip(pods, run.options, strict=True), answers, self._options)
        own = tuple(dict.fromkeys(result for _, decision in run.decided for result in decision.results))
        run.results = tuple(zip(own, located(self._data, run.documents, own), strict=True))
        run.controlled = controlled(run.decided)
        run.decisions = [(self._settled(pod), decision) for pod, decision in run.decided]
        self._failed = self._failed or has_error(own)

    def _edit(self, run: _Run) -> None:
        """No splice is made for a stream that has failed."""
        if not self._failed:
            run.splices, run.problems = edits_of(self._data, run.documents, run.decided)
        run.decided = ()

    def _settled(self, pod: Pod) -> SettledPod:
        same, ref, root = self._same.setdefault, pod.ref, pod.root
        path, images = pod.path, pod.named_images
        if root:  # an object of a list in JSON, whose texts and paths are its own
            above = len(root)
            ref = ObjectRef(
                same(ref.api_version, ref.api_version),
                same(ref.kind, ref.kind),
                same(ref.namespace, ref.namespace),
                ref.name,
            )
            path, images = path[above:], tuple([(at[above:], text) for at, text in images])
        pairs = tuple([same(image, image) for image in images])
        return SettledPod(
            ref,
            pod.location,
            root,
            same(path, path),
            same(pairs, pairs),
            pod.immutable,
            pod.placement_paths is not None and pod.placed_elsewhere,
        )
