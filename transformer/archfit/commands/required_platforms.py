"""The platforms of `--require`, as `check` and `audit` take them: architectures, or os/architecture."""

from __future__ import annotations

from collections.abc import Sequence

from archfit.errors import UsageError
from archfit.images.platforms import Platform
from archfit.options.problem import Problem
from archfit.options.text_form import architecture, platforms


def required_platforms(texts: Sequence[str]) -> tuple[Platform, ...]:
    """The platforms, () where the flag is not given. Raises UsageError."""
    if not texts:
        return ()
    try:
        found = platforms(",".join(texts))
        for platform in found:
            architecture(platform.architecture)
    except Problem as problem:
        raise UsageError(f"--require: {problem.message}") from None
    return found
