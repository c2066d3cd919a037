"""What `--verbose` of every command adds to its messages: the tree of `archfit explain`, cut to a screen or two."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from archfit.images.platforms import Answer
    from archfit.options.settings import Options
    from archfit.run import ReportedInput


def verbose_lines(
    parts: Iterable[ReportedInput], answers: Mapping[str, Answer], options: Options, ascii_only: bool
) -> list[str]:
    """Why each pod is placed as it is; `run.Explain`."""
    from archfit.explain.explained import explained, merged  # a run without --verbose needs none of it
    from archfit.explain.text import bounded_lines

    return bounded_lines(merged(explained(*part, answers, options) for part in parts), ascii_only=ascii_only)
