"""Workloads to leave alone, as `--exclude` and `exclude:` write them.

exclude = kind [ "/" namespace [ "/" name ] ]        each a glob; parts left out match everything
        | kind "/" name                              a kind without wildcards, as kubectl writes it: deployment/cart

`placement.filters` says what a kind may be called.
"""

from __future__ import annotations

from archfit.options.option_entries import Exclude
from archfit.options.problem import Problem


def exclude(text: str) -> Exclude:
    """One of the grammar above. Raises Problem."""
    parts = text.split("/")
    if len(parts) > 3 or not all(parts) or text != text.strip():
        raise Problem(
            f"{text!r} is not KIND/NAMESPACE/NAME: write it as 'Job', '*/kube-system' or 'Job/*/migrate-*'"
        )
    return Exclude(*parts)
