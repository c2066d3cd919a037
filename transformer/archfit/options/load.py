"""From arguments, environment and configuration file to Settings; `layers` says which of them wins.

A run without arguments and without ARCHFIT_* variables, which is what Helm 3 makes of `--post-renderer
archfit`, gets the defaults at once; nothing else is imported for it.
"""

from __future__ import annotations

from archfit.options.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from archfit.options.layers import Layer
    from archfit.options.table import Option


def load(
    argv: Sequence[str],
    environ: Mapping[str, str],
    read: Callable[[str], bytes],
    *,
    application: Layer | None = None,
    rows: Sequence[Option] | None = None,
    program: str = "archfit",
    flags: tuple[Layer, str | None] | None = None,
    fallback: Layer | None = None,
    named_by: str = "",
) -> Settings:
    """The settings of a run.

    argv: without program and command. read: the bytes of the file at a path, or OSError. application: what
    `config_file.from_values` gave, where the caller has such a layer. rows: the options of the command; all of them if
    None. flags: what `arguments.read` made of argv, where a command takes more than options. fallback: the caller's
    own defaults. named_by: what names the configuration file, "" for flag or variable. Raises UsageError.
    """
    given = argv or application or flags or fallback
    if not given and not any(name.startswith("ARCHFIT_") for name in environ):
        return Settings()
    from archfit.base.errors import UsageError  # this and what follows: for runs with options
    from archfit.options.layers import from_environment, from_flags, merge
    from archfit.options.table import BY_KEY, CONFIG_FLAG, CONFIG_VARIABLE, TABLE

    layers = []
    path: str | None = None
    if argv and flags is None:
        rows = TABLE if rows is None else rows
        flags = from_flags(argv, rows)
        if flags is None:
            from archfit.options.arguments import from_arguments  # argparse costs 4 ms

            flags = from_arguments(argv, rows, program)
    if flags is not None:
        layer, path = flags
        layers.append(layer)
    if application is not None:
        layers.append(application)
    layers.append(from_environment(environ))
    named_by = named_by or (CONFIG_FLAG if path else CONFIG_VARIABLE)
    path = path or environ.get(CONFIG_VARIABLE)
    if path:
        from archfit.options.config_file import from_file  # the YAML parser costs 15 ms

        try:
            content = read(path)
        except OSError as error:
            raise UsageError(
                f"{named_by}: cannot read {path!r} ({error.strerror or error}): name a file that archfit can read"
            ) from None
        layers.append(from_file(content, path, named_by))
    settings = merge(layers, fallback)
    own = dict(application.given) if application else {}
    own |= flags[0].given if flags else {}
    filters = tuple((key, value.where) for key, value in own.items() if BY_KEY[key].filter)
    return settings.replace(filters=filters) if filters else settings
