"""Decisions and answers as values of the run report; loaded with the first pod of a stream."""

from __future__ import annotations

from archfit.base.patch import dotted, to_json
from archfit.base.results import Decision
from archfit.base.typing_names import Any
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.workloads.pods import Pod
from archfit.yaml.json_output import location_value, object_value


def decision_value(pod: Pod, decision: Decision) -> dict[str, Any]:
    """The decision about one pod spec."""
    return {
        "object": object_value(pod.ref),
        **location_value(pod.location),
        "path": dotted(pod.path),
        "outcome": decision.outcome,
        "reason": decision.reason,
        "supported": decision.supported,
        "reachable": decision.reachable,
        "removed": [{"architecture": gone.architecture, "images": gone.images} for gone in decision.removed],
        "immutable": decision.immutable,
        **({"controller": decision.controller} if decision.controller else {}),
        "images": [{"field": dotted(path), "image": text} for path, text in pod.named_images],
        "patch": to_json(decision.patch),
    }


def answer_value(answer: Answer) -> dict[str, Any]:
    """The answer for one image."""
    match answer:
        case Found():
            return {
                "answer": "Found",
                "platforms": [str(platform) for platform in answer.platforms],
                "digest": answer.digest,
                "origin": answer.origin,
                "ageSeconds": answer.age_seconds,
            }
        case Absent():
            return {"answer": "Absent", "detail": answer.detail}
        case Unknown():
            return {"answer": "Unknown", "cause": answer.cause}
        case Unasked():
            return {"answer": "Unasked", "reason": answer.reason}
        case Malformed():
            return {"answer": "Malformed", "reason": answer.reason}
