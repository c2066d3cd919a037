"""The platforms of `--require`, as `check` and `audit` take them: architectures, or os/architecture."""

from __future__ import annotations

from collections.abc import Sequence

from archfit.errors import UsageError
from archfit.images.platforms import Platform
from archfit.options.problem import Problem
from archfit.options.text_form import architecture, in_order


def required_platforms(texts: Sequence[str]) -> tuple[Platform, ...]:
    """The platforms in their order, each once; () where the flag is not given. Raises UsageError."""
    try:
        required = tuple(dict.fromkeys(platform for text in texts for platform in in_order(text)))
        for platform in required:
            architecture(platform.architecture)
    except Problem as problem:
        raise UsageError(f"--require: {problem.message}") from None
    return required
