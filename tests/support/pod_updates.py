"""Updates of Pods that archfit changed when they were created, for every writer: one table.

Update(spec, change, expected)
    spec       of the user's manifest; its image decides what archfit adds
    change     the update: a function of the manifest and of the Pod as it is stored
    expected   STORED: the Pod stays as it is stored; AS_IT_IS: the update stays as it is, which the API server may
               refuse; else a function of the update and the stored Pod
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from archfit.admission.added_record import NAME
from archfit.admission.admitted_pod import admitted_pod, at_admission
from archfit.base.patch import apply
from archfit.options.settings import Options
from archfit.yaml.values import plain, typed
from pod_decisions import ARCH, GKE, PREFERRED, REQUIRED, answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from archfit.admission.added_record import Writer

Pod = dict[str, Any]

STORED, AS_IT_IS = "stored", "as it is"
PREFER = Options(prefer=(("arm64", 5),))
KNOWN = answers(
    {"both:1": "amd64 arm64", "amd:1": "amd64", "arm:1": "arm64", "arm-windows:1": "arm64 windows/amd64"}
)
# What the API server adds to each Pod, on creation and on update (DefaultTolerationSeconds).
DEFAULTS = [
    {
        "key": f"node.kubernetes.io/{state}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for state in ("not-ready", "unreachable")
]
OWN = {"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}
NEW = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
POOL = {"key": "pool", "operator": "Exists"}
ZONE = {"key": "zone", "operator": "In", "values": ["a"]}
FIELD = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
OWN_PREFERENCE = {"weight": 9, "preference": {"matchExpressions": [POOL]}}


def only(*architectures: str) -> dict[str, Any]:
    return {"key": ARCH, "operator": "In", "values": list(architectures)}


def manifest(image: str, spec: dict[str, Any]) -> Pod:
    """What the user applies."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "annotations": {"team": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}], **copy.deepcopy(spec)},
    }


def completed(pod: Pod) -> Pod:
    """The Pod after the API server's own admission plugins."""
    made = copy.deepcopy(pod)
    tolerations = made["spec"].get("tolerations", [])
    made["spec"]["tolerations"] = [*tolerations, *(one for one in DEFAULTS if one not in tolerations)]
    return made


def stored(pod: Pod, writer: Writer = "webhook", options: Options = PREFER) -> Pod:
    """The Pod as it is created."""
    options = at_admission(options)
    made = completed(pod)
    admitted = admitted_pod(made, "shop", options, writer)
    decision = admitted.decide({text: KNOWN[text] for text in admitted.questions}, options)
    assert decision.patch, "archfit adds nothing to this Pod: it proves nothing"
    changed: Pod = plain(apply(typed(made), decision.patch))
    changed["metadata"]["uid"] = "0b1c"
    return changed


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    made = [{"matchExpressions": expressions} for expressions in terms]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": made}}}}


def applied(own: Pod, old: Pod) -> Pod:
    """`kubectl apply`: the lists of the manifest take the place of the stored ones; what it does not state stays."""
    made = copy.deepcopy(old)
    if "tolerations" in own["spec"]:
        made["spec"]["tolerations"] = own["spec"]["tolerations"]
    made["spec"]["affinity"] = _merged(old["spec"].get("affinity"), own["spec"].get("affinity"))
    if made["spec"]["affinity"] is None:
        del made["spec"]["affinity"]
    return completed(made)


def _merged(old: Any, own: Any) -> Any:
    if isinstance(old, dict) and isinstance(own, dict):
        return {key: _merged(old.get(key), own.get(key)) for key in {**old, **own}}
    return copy.deepcopy(old if own is None else own)


def replaced(own: Pod, old: Pod) -> Pod:
    """`kubectl replace`: the manifest, and nothing else."""
    made = completed(own)
    made["metadata"]["uid"] = old["metadata"]["uid"]
    return made


def annotated(**annotations: str | None) -> Callable[[Pod, Pod], Pod]:
    """An apply that sets annotations, too, or takes them away; `added` and `skip` are archfit's."""

    def change(own: Pod, old: Pod) -> Pod:
        made = applied(own, old)
        for name, text in annotations.items():
            made["metadata"]["annotations"].pop(f"archfit.dev/{name}", None)
            if text is not None:
                made["metadata"]["annotations"][f"archfit.dev/{name}"] = text
        return made

    return change


def with_tolerations(*tolerations: dict[str, Any]) -> Callable[[Pod, Pod], Pod]:
    """An apply of a manifest with these tolerations."""
    return lambda own, old: applied({**own, "spec": {**own["spec"], "tolerations": list(tolerations)}}, old)


def with_terms(
    *terms: list[dict[str, Any]], change: Callable[[Pod, Pod], Pod] = applied
) -> Callable[[Pod, Pod], Pod]:
    """An apply of a manifest with these required terms."""
    return lambda own, old: change({**own, "spec": {**own["spec"], **required(*terms)}}, old)


def with_affinity(affinity: Any) -> Callable[[Pod, Pod], Pod]:
    """A replacement by a manifest with this affinity."""
    return lambda own, old: replaced({**own, "spec": {**own["spec"], "affinity": affinity}}, old)


def tolerating(*tolerations: dict[str, Any]) -> Callable[[Pod, Pod], Pod]:
    """The stored Pod with these tolerations."""
    return lambda _, old: {**old, "spec": {**old["spec"], "tolerations": list(tolerations)}}


def old_terms_and(*expressions: dict[str, Any]) -> Callable[[Pod, Pod], Pod]:
    """The stored Pod with these expressions behind those of its first required term."""

    def expected(_: Pod, old: Pod) -> Pod:
        made = copy.deepcopy(old)
        terms = made["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
        terms[0]["matchExpressions"] += expressions
        return made

    return expected


class Update(NamedTuple):
    """See the module."""

    image: str
    spec: dict[str, Any]
    change: Callable[[Pod, Pod], Pod]
    expected: Callable[[Pod, Pod], Pod] | str

    def result(self, update: Pod, old: Pod) -> Pod:
        """What has to become of the update."""
        if callable(self.expected):
            return self.expected(update, old)
        return old if self.expected == STORED else update


def _row(
    name: str,
    spec: dict[str, Any],
    change: Callable[[Pod, Pod], Pod],
    expected: Callable[[Pod, Pod], Pod] | str = STORED,
    image: str = "arm:1",
) -> Any:
    return pytest.param(Update(image, spec, change, expected), id=name)


def _labelled(_: Pod, old: Pod) -> Pod:
    return {**copy.deepcopy(old), "metadata": {**copy.deepcopy(old["metadata"]), "labels": {"tier": "front"}}}


def _other_image(_: Pod, old: Pod) -> Pod:
    made = copy.deepcopy(old)
    made["spec"]["containers"][0]["image"] = "amd:1"
    return made


def _without_the_defaults(own: Pod, old: Pod) -> Pod:
    made = applied(own, old)
    del made["spec"]["tolerations"]
    return made


TOLERATIONS = {"tolerations": [OWN]}
TWO_TERMS = required([POOL], [ZONE])
FIELDS = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [FIELD]}]}}}}
PREFERENCES = {"affinity": {"nodeAffinity": {PREFERRED: [OWN_PREFERENCE]}}}
NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}
FORGED = (
    '[{"by":"webhook","images":1,"path":"/spec/tolerations/-","value":{"key":"gpu","operator":"Exists"}}]'
)

UPDATES = [
    _row("apply: own tolerations", TOLERATIONS, applied),
    _row(
        "apply: own tolerations, none of the API server's",
        TOLERATIONS,
        _without_the_defaults,
        tolerating(GKE),
    ),
    _row("apply: an own required term", required([POOL]), applied),
    _row("apply: two own required terms", TWO_TERMS, applied),
    _row("apply: an own term with matchFields alone", FIELDS, applied),
    _row("apply: own preferred terms", PREFERENCES, applied, image="both:1"),
    _row("apply: everything of its own", {**TOLERATIONS, **TWO_TERMS}, applied),
    _row("apply: nothing of its own", {}, applied),
    _row("replace: own tolerations", TOLERATIONS, replaced),
    _row("replace: an own required term", required([POOL]), replaced),
    _row("replace: nothing of its own", {}, replaced),
    _row("replace: nothing of its own, with preferred terms", {}, replaced, image="both:1"),
    _row("replace: an empty affinity", {"affinity": {}}, replaced),
    _row("replace: an empty node affinity", {"affinity": {"nodeAffinity": {}}}, replaced),
    _row("replace: another affinity", {"affinity": NEAR}, replaced),
    _row(
        "a toleration more",
        TOLERATIONS,
        with_tolerations(OWN, NEW),
        tolerating(OWN, NEW, DEFAULTS[0], GKE, DEFAULTS[1]),
    ),
    _row(
        "a toleration more before its own",
        TOLERATIONS,
        with_tolerations(NEW, OWN),
        tolerating(NEW, OWN, DEFAULTS[0], GKE, DEFAULTS[1]),
    ),
    _row("the user states archfit's toleration, too", TOLERATIONS, with_tolerations(OWN, GKE), AS_IT_IS),
    _row(
        "no toleration of its own any more",
        TOLERATIONS,
        with_tolerations(),
        lambda update, _: {**update, "spec": {**update["spec"], "tolerations": [*DEFAULTS, GKE]}},
    ),
    _row("an expression more", required([POOL]), with_terms([POOL, ZONE]), old_terms_and(ZONE)),
    _row("an expression where archfit made the term", {}, with_terms([ZONE]), old_terms_and(ZONE)),
    _row(
        "an own expression is gone",
        required([POOL, ZONE]),
        with_terms([POOL]),
        lambda update, _: {**update, "spec": {**update["spec"], **required([POOL, only("arm64")])}},
    ),
    _row("another number of terms", required([POOL]), with_terms([POOL], [ZONE]), AS_IT_IS),
    _row(
        "no own terms any more",
        required([POOL]),
        with_affinity({}),
        lambda update, old: {
            **update,
            "metadata": old["metadata"],
            "spec": {**update["spec"], "tolerations": old["spec"]["tolerations"]},
        },
    ),
    _row("the record is taken away", TOLERATIONS, annotated(added=None)),
    _row("the record is forged", TOLERATIONS, annotated(added=FORGED)),
    _row("the record is emptied", {}, annotated(added="")),
    _row("a label", TOLERATIONS, _labelled, AS_IT_IS),
    _row("another image: nothing is decided", TOLERATIONS, _other_image, AS_IT_IS),
    _row("the pod opts out", TOLERATIONS, annotated(skip="true"), AS_IT_IS),
    _row("it opts out, and loses the record", TOLERATIONS, annotated(skip=" true ", added=None), AS_IT_IS),
    _row(
        "skip is false",
        TOLERATIONS,
        annotated(skip="false"),
        lambda update, old: {**old, "metadata": update["metadata"]},
    ),
]


def record(old: Pod) -> str:
    """The annotation of a stored Pod."""
    text: str = old["metadata"]["annotations"][NAME]
    return text
