"""Reports of `archfit audit --format json`, as --merge, --compare and `archfit lock --from-audit` take them."""

from __future__ import annotations

from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_facts_json import from_json
from archfit.errors import UsageError
from archfit.files import read_file


def facts_of_report(file: str, flag: str) -> AuditFacts:
    """The facts of a report. flag: that named it, for messages. Raises UsageError and InvalidInput."""
    try:
        return from_json(read_file(file), file)
    except OSError as error:
        raise UsageError(
            f"{flag}: cannot read {file!r} ({error.strerror}): name a report of archfit audit --format json"
        ) from None
