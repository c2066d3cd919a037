"""What the answers about a pod's images mean for it, and the architectures that all of them offer for an OS.

    an entry of an index counts for         because
    its architecture, without a variant     every node of the architecture takes it; amd64/v1 and arm64/v8 are spelt so
    arm, with any variant                   they share one node label
    amd64 too, where it is linux/386        containerd may take it on amd64 nodes; CRI-O does not (`uncounted` warns)
    nothing, with another variant           amd64/v3, arm64/v9: no runtime takes it unless its node is set up for it
    nothing, of os wasi or wasm* beside     the pod's runtime runs native code; where its RuntimeClass is for them,
      native entries                        `uncounted` judges

    an image restricts nothing when         because
    it is an artifact                       nothing of it is run (`Found.image` is False)
    all its platforms are wasi/* or wasm*   a WebAssembly runtime class runs it on any node
    it is a volume of a single manifest     the kubelet mounts its files wherever the pod is (KEP-4639)

A single manifest counts by its architecture, whatever the variant: nodes pull it without a check. Answers of
registries are stored unchanged, so that these rules also apply to old caches and lock files.

Source: containerd/platforms, compare.go and database.go; containers/image,
internal/pkg/platform/platform_matcher.go.
"""

from __future__ import annotations

from archfit.base.patch import dotted
from archfit.base.printable import span
from archfit.base.results import Message, Removed, Severity
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.options.settings import Options
from archfit.placement.annotations import STAMP
from archfit.placement.uncounted import counted, runs_wasm
from archfit.startup.record import Record
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

KnownImages: TypeAlias = "Sequence[tuple[ImageUse, Found]]"


def offered(use: ImageUse, answer: Found, os: str) -> set[str] | None:
    """The architectures that one image offers for an os, None when it restricts nothing."""
    if not answer.image or (use.volume and not answer.index):
        return None
    architectures = set()
    native = False
    for platform in answer.platforms:
        architecture = platform.architecture
        if architecture[:4] == "wasm" or platform.os == "wasi":
            continue
        native = True
        if platform.os == os and (not platform.variant or architecture == "arm" or not answer.index):
            architectures.add(architecture)
    if not native and answer.platforms:
        return None
    if "386" in architectures and os == "linux":
        architectures.add("amd64")
    return architectures


def supported(images: KnownImages, os: str) -> frozenset[str] | None:
    """The architectures that every image supports, None when no image restricts."""
    common: set[str] | None = None
    for use, answer in images:
        own = offered(use, answer, os)
        if own is not None:
            common = own if common is None else common & own
    return None if common is None else frozenset(common)


_NO_PART = "it restricts nothing, and no toleration and no preference is added"


def removed(images: KnownImages, os: str, architectures: Iterable[str]) -> tuple[Removed, ...]:
    """Those of the architectures that not all images offer, sorted, each with the images that do not."""
    blame: dict[str, dict[str, None]] = {architecture: {} for architecture in sorted(architectures)}
    for use, answer in images:
        own = offered(use, answer, os)
        for architecture, culprits in blame.items():
            if own is not None and architecture not in own:
                culprits[use.text or ""] = None
    return tuple([Removed(gone, tuple(culprits)) for gone, culprits in blame.items() if culprits])


class ImageEvidence(Record):
    """What is known about the images of one pod, judged by the options.

    known: each use of an image whose platforms count.
    unasked: at least one image has no answer and restricts nothing, so that no toleration is added.
    unanswered: why that is, for an Absent or Unknown image; "" where there is none.
    messages: for the user; with an error among them the pod cannot be decided.
    unknown: at the gate alone, each other use with its answer.
    """

    known: tuple[tuple[ImageUse, Found], ...]
    unasked: bool = False
    unanswered: str = ""
    messages: tuple[Message, ...] = ()
    unknown: tuple[tuple[ImageUse, Absent | Unknown | Unasked | Malformed], ...] = ()

    @property
    def mounted_only(self) -> bool:
        """Whether all that is known restricts nothing because it is mounted: KubeVirt's disk of a single manifest.

        Files say nothing about where the program runs that reads them.
        """
        return bool(self.known) and all(use.volume and not answer.index for use, answer in self.known)

    @classmethod
    def from_answers(
        cls, pod: Pod, given: Iterable[Answer], options: Options, *, at_gate: bool = False
    ) -> ImageEvidence:
        """The evidence of one answer for each of `pod.images`, in order.

        at_gate: no option stands for an answer, and nothing that is not known is an error.
        """
        builder = _EvidenceBuilder(pod, options)
        for use, answer in zip(pod.images, given, strict=True):
            builder.add(use, answer, at_gate=at_gate)
        return cls(
            tuple(builder.known),
            builder.unasked,
            builder.unanswered,
            tuple(builder.messages.values()),
            tuple(builder.unknown),
        )


class _EvidenceBuilder:
    def __init__(self, pod: Pod, options: Options) -> None:
        self.pod, self.options = pod, options
        self.unknown: list[tuple[ImageUse, Absent | Unknown | Unasked | Malformed]] = []
        self.known: list[tuple[ImageUse, Found]] = []
        self.unasked, self.unanswered = False, ""
        self.messages: dict[tuple[str, str], Message] = {}

    def add(self, use: ImageUse, answer: Answer, *, at_gate: bool) -> None:
        if isinstance(answer, Found):
            if answer.origin in ("override", "stale"):
                self._report(use, *_origin(answer))
            if answer.missing:
                self._report(use, "warning", f"{answer.not_there}: it counts as lacking")
            if answer.part_of:
                tag, _, index = answer.part_of.partition("@")
                self._report(
                    use, "warning", f"one platform of {tag}, whose index is {index}: pin that one for all"
                )
            answer = self._counted(use, answer)
        if isinstance(answer, Found):
            self.known.append((use, answer))
        elif at_gate:
            self.unknown.append((use, answer))
        else:
            self._judge(use, answer)

    def _judge(self, use: ImageUse, answer: Absent | Unknown | Unasked | Malformed) -> None:
        """What the options make of an answer without platforms."""
        options = self.options
        counts = assumed(answer, options) if isinstance(answer, Unknown) else None
        if isinstance(answer, Unknown) and counts and (counts is answer.last or not _is_stamped(self.pod)):
            self._report(use, "warning", _assumed(answer, options))
            counted = self._counted(use, counts)
            if isinstance(counted, Found):
                self.known.append((use, counted))
                return
            answer = counted
        if isinstance(answer, Unasked):
            self.unasked = True
            severity: Severity = "error" if options.strict else "info"
            effect = "--strict does not allow that" if options.strict else _NO_PART
            self._report(use, severity, f"its platforms cannot be looked up: {answer.cause}; {effect}")
        elif isinstance(answer, Malformed):
            message = (
                f"no node can pull it: {answer.cause}; correct it, or where something fills it in later, state its "
                "platforms with the annotation archfit.dev/image-platforms on the pod template"
            )
            self._report(use, "error", message)
        elif isinstance(answer, Absent):
            self.unasked = True
            self.unanswered = self.unanswered or f"{use.text} does not exist"
            self._report(use, *_absent(answer, options))
        else:
            self.unasked = True
            self.unanswered = self.unanswered or f"the platforms of {use.text} are not known"
            self._report(use, *_unknown(answer, options))

    def _counted(self, use: ImageUse, known: Found) -> Found | Unknown:
        handler = self.pod.runtime_class.handler if self.pod.runtime_class is not None else ""
        names = text_of(self.pod.spec.get("runtimeClassName")), handler
        wasm, cluster = any(names) and runs_wasm(names), self.options.cluster_architectures
        answer, warnings = counted(use, known, runtime_class=wasm, wanted=cluster)
        for warning in warnings:
            self._report(use, "warning", warning)
        return answer

    def _report(self, use: ImageUse, severity: Severity, text: str) -> None:
        field = dotted(use.path)
        text = f"{use.text}: {text}" if use.text else text
        message = self.pod.message(severity, text, use.path).replace(image=use.text or "")
        self.messages.setdefault((use.text or field, text), message)


def malformed(pod: Pod, given: Iterable[Answer], options: Options) -> tuple[Message, ...]:
    """The errors for images that are no references, whatever the others' answers."""
    pairs = [pair for pair in zip(pod.images, given, strict=True) if isinstance(pair[1], Malformed)]
    if not pairs:
        return ()
    uses, answers = zip(*pairs, strict=True)
    return ImageEvidence.from_answers(pod.replace(images=uses), answers, options).messages


def _origin(answer: Found) -> tuple[Severity, str]:
    platforms = ", ".join(map(str, answer.platforms))
    if answer.origin == "override":
        return "info", f"its platforms are stated by configuration or annotation: {platforms}"
    return (
        "warning",
        f"the registry could not be asked; an answer {span(answer.age_seconds)} old is used: {platforms}",
    )


def _absent(answer: Absent, options: Options) -> tuple[Severity, str]:
    problem = f"there is no such image: {answer.cause}"
    if options.on_absent == "leave":
        return "warning", f"{problem}; {_NO_PART} (--on-absent leave)"
    return "error", f"{problem}; correct the image, or leave such pods as they are with --on-absent leave"


def assumed(answer: Unknown, options: Options) -> Found | None:
    """What counts for an image without an answer under `on_unknown: assume`, None where nothing may.

    What a registry once said of it, however long ago, is better than what is said of all images.
    """
    if answer.final or options.on_unknown != "assume" or not options.assume:
        return None
    return answer.last or Found(options.assume, origin="assumed")


def _is_stamped(pod: Pod) -> bool:
    """Whether an earlier run recorded what it added to the pod: that rests on an answer, and may still be right."""
    annotations = pod.object_metadata.get("annotations")
    return pod.stamped is not None or (isinstance(annotations, dict) and STAMP in annotations)


def _assumed(answer: Unknown, options: Options) -> str:
    if answer.last:
        age = answer.last.age_seconds
        dated = f"{span(age)} old" if age >= 0 else "that is dated in the future"
        platforms = ", ".join(map(str, answer.last.platforms))
        return f"{answer.cause}; an answer {dated} is used (--on-unknown assume): {platforms}"
    return f"{answer.cause}; assumed to run on {', '.join(map(str, options.assume))} (--on-unknown assume)"


def _unknown(answer: Unknown, options: Options) -> tuple[Severity, str]:
    if answer.final:
        return "error", answer.cause
    problem = f"its platforms are not known: {answer.cause}"
    if options.on_unknown == "leave":
        return "warning", f"{problem}; {_NO_PART} (--on-unknown leave)"
    if options.on_unknown == "assume" and options.assume:
        return "warning", (
            f"{problem}; the pod keeps what an earlier run added ({STAMP}), and --assume does not count for it"
        )
    if options.on_unknown == "assume":
        return "error", f"{problem}; --on-unknown assume needs --assume, as in --assume linux/amd64"
    if answer.mistake:
        return "error", (
            f"{problem}. Correct this, or state the platforms with --image-platforms or archfit.dev/image-platforms"
        )
    choice = "" if options.on_unknown_is_enforced else ", or choose --on-unknown assume or leave"
    if answer.remedy:
        return "error", f"{problem}; {answer.remedy}{choice}"
    return "error", (
        f"{problem}. You can also state them with --image-platforms or archfit.dev/image-platforms{choice}"
    )
