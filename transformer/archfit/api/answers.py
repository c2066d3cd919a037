"""Answers about images: as `platforms` gives them, and as `decide` takes them.

    ["linux/amd64", "linux/arm64/v8"], "arm64" for linux     Found: the caller knows these platforms
    {"answer": "Found", "platforms": [..], ..}               as `platforms` gave it; also Absent, Unknown, ..
    an image that is not named                               Unasked: it restricts nothing, and no toleration is added

An image of the pod is looked for as it is written, then by its normalised reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from archfit.api.options import as_data, type_name
from archfit.api.values import ImageAnswer
from archfit.base.errors import InvalidReference, Problem, UsageError
from archfit.base.printable import visible
from archfit.base.spelling import refused
from archfit.images.overrides import override
from archfit.images.platforms import (
    Absent,
    Answer,
    Found,
    ImagePlatforms,
    Malformed,
    Platform,
    Unasked,
    Unknown,
    parse_platform,
)
from archfit.images.reference import parse
from archfit.reports.report import answer_value

_WITHOUT: dict[Any, type[Absent | Unasked | Malformed]] = {
    "Absent": Absent,
    "Unasked": Unasked,
    "Malformed": Malformed,
}
_KINDS = ("Found", "Unknown", *_WITHOUT)
_UNNAMED = Unasked("the caller of decide gives no answer for it")


def as_values(answers: Mapping[str, Answer]) -> dict[str, ImageAnswer]:
    """The answers as plain values, by image string, in order."""
    return {text: as_value(answer) for text, answer in answers.items()}


def as_value(answer: Answer) -> ImageAnswer:
    """The answer as the report has it, and what `decide` needs besides."""
    value = answer_value(answer)
    if isinstance(answer, Found):
        value |= {"index": answer.index, "image": answer.image}
    if isinstance(answer, Unknown):
        value |= {"remedy": answer.remedy} if answer.remedy else {}
        value |= {"final": True} if answer.final else {}
        value |= {"last": as_value(answer.last)} if answer.last else {}
    return cast("ImageAnswer", value)


class GivenAnswers:
    """What the caller of `decide` knows. overrides: count before it. Raises UsageError for what is no answer."""

    def __init__(self, images: object, overrides: tuple[ImagePlatforms, ...] = ()) -> None:
        if not isinstance(images, Mapping):
            raise UsageError(
                f"images: has to be a mapping of image strings to answers, not {type_name(images)}: "
                "pass what platforms(..) returned, or {'nginx:1.27': ['linux/amd64', 'linux/arm64']}"
            )
        self._answers = {text: _answer(text, value) for text, value in images.items()}
        self._names: dict[str, Answer] | None = None
        self._overrides = overrides

    def of(self, text: str) -> Answer:
        """The answer for an image string of a pod, which is a reference. Raises UsageError."""
        stated = override(parse(text), self._overrides) if self._overrides else None
        if stated:
            return stated
        answer = self._answers.get(text)
        return answer if answer is not None else self._by_name().get(_name(text), _UNNAMED)

    def _by_name(self) -> dict[str, Answer]:
        """By normalised reference. Raises UsageError where two spellings of one image have different answers."""
        if self._names is None:
            names: dict[str, Answer] = {}
            for text, answer in self._answers.items():
                name = _name(text)
                if names.setdefault(name, answer) != answer:
                    raise UsageError(f"images: {name} has several answers: leave all but one out")
            self._names = names
        return self._names


def _name(text: str) -> str:
    try:
        return parse(text).normalised
    except InvalidReference:
        return text


def _answer(text: object, value: object) -> Answer:
    if not isinstance(text, str):
        raise UsageError(f"images: {type_name(text)} is a key: write image strings, such as 'nginx:1.27'")
    try:
        return _given(as_data(value))
    except Problem as problem:
        raise UsageError(f"images[{visible(repr(text))}]: {problem.message}") from None


def _given(value: object) -> Answer:
    if isinstance(value, list):
        return Found(_platforms(value), origin="caller")
    if not isinstance(value, dict):
        raise Problem(
            f"has to be a list of platforms or an answer of platforms(..), not {type_name(value)}: "
            "write ['linux/amd64']"
        )
    kind = value.get("answer")
    if kind not in _KINDS:
        raise Problem(f"answer: {refused(str(kind), _KINDS)}")
    if kind == "Found":
        return _found(value)
    cause = _text(value, "cause")
    if kind != "Unknown":
        return _WITHOUT[kind](cause)
    last = value.get("last")
    return Unknown(
        cause,
        final=value.get("final") is True,
        remedy=_text(value, "remedy"),
        last=_found(last) if isinstance(last, dict) else None,
    )


def _found(value: dict[Any, Any]) -> Found:
    age = value.get("ageSeconds", 0)
    if type(age) is not int:
        raise Problem(f"ageSeconds: has to be an int, not {type_name(age)}")
    return Found(
        _platforms(value.get("platforms")),
        _text(value, "digest"),
        value.get("index", True) is not False,
        value.get("image", True) is not False,
        _text(value, "origin") or "caller",
        age,
    )


def _platforms(value: object) -> tuple[Platform, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Problem("platforms: has to be a list of texts: write ['linux/amd64', 'linux/arm64']")
    try:
        return tuple(sorted({parse_platform(item) for item in value}, key=str))
    except InvalidReference as error:
        raise Problem(str(error)) from None


def _text(value: dict[Any, Any], key: str) -> str:
    text = value.get(key, "")
    if not isinstance(text, str):
        raise Problem(f"{key}: has to be a text, not {type_name(text)}")
    return text
