"""What `--verbose` of every command adds to its messages: the tree of `archfit explain`, cut to a screen or two."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from archfit.base.results import Decision
    from archfit.images.platforms import Answer
    from archfit.options.settings import Options
    from archfit.stream_inventory import StreamInventory
    from archfit.workloads.pods import Pod


def verbose_lines(
    data: bytes,
    inventory: StreamInventory,
    decisions: Sequence[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    options: Options,
) -> list[str]:
    """Why each pod is placed as it is; `run.Explain`."""
    from archfit.explain.explained import explained  # a run without --verbose needs none of it
    from archfit.explain.text import bounded_lines

    return bounded_lines(explained(data, inventory, decisions, answers, options))
