"""What audits need of a lock file: the images that run, as reports of `archfit audit --format json` hold them.

    Found                          needed, as the images of manifests are
    Unknown, Absent, Malformed     left out, with a warning that says why
    Unread                         left out: the report of its shard is missing
    Unasked                        left out: nothing says which image it is

--prune would drop the entry of an image that is only not known, so that is an error then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.cluster.audit_facts import ImageFacts
from archfit.cluster.audit_merge import merge
from archfit.commands.audit_reports import facts_of_report
from archfit.commands.lock_needs import LockNeeds
from archfit.errors import InvalidInput
from archfit.images.overrides import override
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.printable import visible
from archfit.results import Result

_MAY_EXIST = ("Unknown", "Unread")


def audit_needs(files: Sequence[str], options: Options, *, prune: bool) -> LockNeeds:
    """The images of the reports together, without those that an override answers. Raises UsageError, InvalidInput."""
    facts = merge(facts_of_report(file, "--from-audit") for file in files)
    known = [image.reference for image in facts.images if image.answer == "Found"]
    if files and not known:
        raise InvalidInput(
            f"--from-audit: {', '.join(files)}: of no image the platforms are known, so there is nothing to lock: make "
            "the report again without --offline"
        )
    stated = {name for name in known if override(parse(name), options.image_platforms)}
    needed = {name: name for name in known if name not in stated}
    results = tuple(
        _left_out(image, prune=prune) for image in facts.images if image.answer not in ("Found", "Unasked")
    )
    return LockNeeds(needed, {name: Result("error", "") for name in needed}, results)


def together(needs: Iterable[LockNeeds]) -> LockNeeds:
    """What all of them need; the first counts where two name an image."""
    needed: dict[str, str] = {}
    uses: dict[str, Result] = {}
    results: list[Result] = []
    unknown: list[str] = []
    for one in needs:
        needed = {**one.needed, **needed}
        uses = {**one.uses, **uses}
        results += one.results
        unknown += one.unknown
    return LockNeeds(needed, uses, tuple(results), tuple(unknown))


def _left_out(image: ImageFacts, *, prune: bool) -> Result:
    why = visible(image.detail) or "the audit has no answer for it"
    if image.answer == "Unread":
        why = "the audit did not ask for it; merge the reports of all shards first"
    name = visible(image.reference)
    if prune and image.answer in _MAY_EXIST:
        return Result(
            "error", f"{name}: {why}; --prune would drop its entry: audit it again, or leave --prune out"
        )
    return Result("warning", f"{name} is left out: {why}")
