"""The answer for one image as a fact of an audit.

    answer                     architectures                                     restricts
    Found, an image            what counts for pods on Linux (`placement`)       yes
    Found, all WebAssembly,    ()                                                no: it runs on every node
      or an artifact
    Found, an index none of    (), and the answer is Unknown, as for a pod       yes
      whose entries counts
    all others                 ()                                                yes

What the cache has is a registry's answer, and is called so: an audit that runs again gives the same bytes.
`--on-unknown` and `--on-absent` say what archfit writes into manifests. An audit reports the answers as they are.
"""

from __future__ import annotations

from archfit.cluster.audit_facts import ImageFacts
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.placement.architectures import is_plain, offered
from archfit.placement.uncounted import counted
from archfit.workloads.pods import ImageUse


def image_facts(reference: str, answer: Answer) -> ImageFacts:
    """The fact for a reference, which may be no reference at all."""
    match answer:
        case Found():
            return _found(reference, answer)
        case Absent(detail=detail):
            return ImageFacts(reference, "Absent", detail=detail)
        case Unknown(cause=cause):
            return ImageFacts(reference, "Unknown", detail=cause)
        case Unasked(reason=reason):
            return ImageFacts(reference, "Unasked", detail=reason)
        case Malformed(reason=reason):
            return ImageFacts(reference, "Malformed", detail=reason)


def _found(reference: str, found: Found) -> ImageFacts:
    use = ImageUse((), reference)
    judged, _ = (found, ()) if is_plain(found) else counted(use, found, runtime_class=False, wanted=None)
    fact = ImageFacts(
        reference,
        "Found",
        tuple(map(str, found.platforms)),
        digest=found.digest,
        kind="artifact" if not found.image else "index" if found.index else "manifest",
        origin="registry" if found.origin == "cache" else found.origin,
    )
    if isinstance(judged, Unknown):
        return fact.replace(answer="Unknown", detail=judged.cause)
    architectures = offered(use, judged, "linux")
    if architectures is None:
        return fact.replace(restricts=False)
    return fact.replace(architectures=tuple(sorted(architectures)))
