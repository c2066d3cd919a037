"""`archfit doctor`: what this machine has for each entry point, and what is wrong with it.

Nothing is asked over the network, but the server that --cache names. No credential helper is started.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.files import read_file
from archfit.base.terminal import colored
from archfit.cli.installation import installation
from archfit.cli.usage.command_table import BY_NAME
from archfit.doctor import (
    cache_checks,
    configuration_checks,
    network_checks,
    program_checks,
    python_checks,
)
from archfit.doctor.findings import doctor_value, exit_code
from archfit.doctor.program_checks import Check, run_checks
from archfit.doctor.text import doctor_text
from archfit.options import arguments
from archfit.options.layers import load
from archfit.options.settings import Settings
from archfit.yaml.json_output import json_output

_COMMAND = BY_NAME["doctor"]


def diagnose(argv: Sequence[str], stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises UsageError for its own arguments alone."""
    layer, config, flags, words = arguments.parse(_COMMAND.parser(), argv, _COMMAND.options)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit doctor --help")
    settings, problem = Settings(), None
    try:
        settings = load(argv, environ, read_file, flags=(layer, config))
    except UsageError as error:
        problem = error
    facts = installation()
    checks = _checks(facts, settings, problem, environ)
    findings = run_checks(checks, settings.operator.timeout_seconds)
    if flags.format == "json":
        standard_streams.write_report(stdout, [json_output(doctor_value(facts, findings))])
    else:
        colors = colored(settings.operator.color, stdout, environ)
        standard_streams.write_report(stdout, [doctor_text(findings, colors=colors).encode()])
    return exit_code(findings)


def _checks(
    facts: Mapping[str, object],
    settings: Settings,
    problem: UsageError | None,
    environ: Mapping[str, str],
) -> dict[str, Check]:
    """By subject, in the order in which they are shown."""
    operator = settings.operator
    return {
        "python": lambda: python_checks.python(facts),
        "archfit": lambda: python_checks.on_path(environ),
        "configuration": lambda: configuration_checks.configuration(settings, problem, environ),
        "cache": lambda: cache_checks.cache(operator, environ, time.time),
        "last report": lambda: cache_checks.last_report(environ),
        "credentials": lambda: network_checks.credentials(operator, environ),
        "network": lambda: network_checks.network(operator, environ),
        "certificates": lambda: network_checks.trust(operator, environ),
        "helm": lambda: program_checks.helm(environ),
        "kustomize": lambda: program_checks.kustomize(environ),
        "kpt": lambda: program_checks.kpt(environ),
        "containers": lambda: program_checks.containers(environ),
        "kubectl": lambda: program_checks.kubectl(environ),
        "extras": lambda: python_checks.extras(facts),
    }
