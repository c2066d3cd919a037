"""Where configuration comes from: the file, the variables, and the files that they name. No value is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from archfit.base.errors import ArchfitError, UsageError
from archfit.doctor.findings import Diagnostic, note, ok, wrong
from archfit.lookup import lockfile, operator_files
from archfit.options.layers import is_service_link
from archfit.options.settings import Settings
from archfit.options.table import CONFIG_VARIABLE, TABLE, VARIABLE_PREFIX

SUBJECT = "configuration"
_OTHERS = {CONFIG_VARIABLE, "ARCHFIT_CACHE_PASSWORD", "ARCHFIT_DEBUG"}


def configuration(
    settings: Settings, problem: UsageError | None, environ: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """problem: why the configuration could not be read; settings are then the defaults."""
    if problem is not None:
        for mistake in str(problem).split("\n"):
            yield wrong(SUBJECT, mistake, "correct it: every run ends with this")
    elif settings.sources:
        yield ok(SUBJECT, ", then ".join(settings.sources))
    else:
        yield ok(SUBJECT, "none: every option has its default")
    yield from _unknown(environ, str(problem or ""))
    yield from _named(settings)


def _unknown(environ: Mapping[str, str], problem: str) -> Iterator[Diagnostic]:
    """Variables of nobody. problem: of the configuration, which may name one of them."""
    known = {option.variable for option in TABLE if option.variable} | _OTHERS
    ignored = sorted(
        name
        for name, value in environ.items()
        if name.startswith(VARIABLE_PREFIX)
        and name not in known
        and not is_service_link(name, value)
        and not problem.startswith(f"{name}:")
    )
    if ignored:
        verb = "is not a variable" if len(ignored) == 1 else "are not variables"
        yield note(
            SUBJECT, f"{', '.join(ignored)} {verb} of archfit, and ignored", f"unset {' '.join(ignored)}"
        )


def _named(settings: Settings) -> Iterator[Diagnostic]:
    try:
        operator_files.check(settings.operator)
    except UsageError as error:
        yield wrong(SUBJECT, str(error))
    path = settings.options.lock_file
    if path:
        try:
            lock = lockfile.lock_of(settings.options)
        except ArchfitError as error:
            yield wrong(SUBJECT, str(error), "archfit lock")
        else:
            yield ok(SUBJECT, f"--lock-file {path} has {len(lock.images) if lock else 0} images")
