"""Why archfit may refuse what kubectl and kustomize both take; any other refusal of such a stream is a defect."""

from __future__ import annotations

import re

REASONS: tuple[tuple[str, str], ...] = (
    (r"^functionConfig", "the configuration says something that no option takes"),
    (
        r"has to be a (mapping|list|single text|string|boolean|number), but|write it as the Kubernetes API does$",
        "the API server refuses it",
    ),
    (r"^archfit\.dev/", "an annotation of archfit's own is wrong"),
    (r"kubectl and kustomize drop it silently|did not find expected <document start>", "text would be lost"),
    (r"^this is not a Kubernetes object", "nobody could apply it"),
    (r"the ResourceList already has results, in flow style", "there is no place for an edit"),
    (r"cannot be edited: an explicit key", "there is no place for an edit"),
    (r"cannot be edited: an anchor stands where the value is missing", "there is no place for an edit"),
    (
        r"cannot be edited: the value there is neither a mapping nor a list, or a tag",
        "there is no place for an edit",
    ),
    (
        r"the text ends inside a block scalar, behind which something has to be added",
        "there is no place for an edit",
    ),
    (r"holds a bare CR, NEL, LS or PS", "parsers disagree on its lines"),
    (r"collections are nested more than|its aliases stand for", "a limit"),
    (r"kubectl and kustomize disagree on which one counts", "readers disagree"),
)
_FOUND = tuple((re.compile(pattern, re.DOTALL).search, why) for pattern, why in REASONS)


def reason(message: str, _text: bytes) -> str:
    """Why the message is justified, "" if nothing says so."""
    return next((why for matches, why in _FOUND if matches(message)), "")
