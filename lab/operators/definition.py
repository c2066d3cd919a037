"""How an operator is built and started: fixtures/operators/NAME-VERSION/operator.toml.

operator = "k6 operator"                     the name that users know
module = "github.com/grafana/k6-operator"    Go module that holds its sources, CRDs and webhooks
version = "v1.2.0"
crds = ["config/crd/bases/*.yaml"]           globs in the module; MODULE@VERSION:GLOB in another one; jar:GLOB in
                                             the jars; ./GLOB beside the file
webhooks = ["config/webhook/manifests.yaml"] the same; their Services become loopback
                                             "FILES#PORT" for a program that listens elsewhere than at
webhook_port = 9443
webhook_host = "127.0.0.1"                   another name of this machine, where an operator writes its own certificate
mounts = { "/etc/x" = "{certificates}" }     folders that its programs see elsewhere
webhook_prefix = ""                          of the names of its webhook configurations, where the operator seeks them
nested = { "api" = "MODULE@VERSION" }        modules that a local replace of its go.mod points to
random = ["-[a-z0-9]{5}$"]                   parts of names that differ from run to run
patience_seconds = 60                        how long its pods may take
ending = true                                false where pods wait for work, which none of them gets here: they run on
quiet_seconds = 4                            how long nothing new has to appear until it is taken to have made all
released = 2025-09-02                        the day of that version: go list -m -json MODULE@VERSION
recorded = 2026-11-23
[[programs]]
name = "manager"
package = "./cmd"                            or jars = ["GROUP:ARTIFACT:VERSION", ..] and main = "CLASS"
module = "MODULE@VERSION"                    where the package is in another module
arguments = ["--kubeconfig={kubeconfig}"]    {kubeconfig} {certificates} {module} {folder} {url} {port}
                                             {here} (the folder of this file) {programs} (where each stands by its name)
environment = { WATCH_NAMESPACE = "" }       KUBECONFIG and TMPDIR are set
started = true                               false for a program that another one starts
script = "server.py"                         in place of a package: a Python program beside the file, which plays a
                                             server that the operator asks
"""

import datetime as dt
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from machine import ROOT

OPERATORS = ROOT / "fixtures" / "operators"


class Program(NamedTuple):
    """A program of an operator; package is "" for a Java program and for a script."""

    name: str
    package: str = ""
    module: str = ""
    jars: tuple[str, ...] = ()
    main: str = ""
    script: str = ""
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    started: bool = True


class Operator(NamedTuple):
    """See the module. folder: where its file is, NAME-VERSION."""

    folder: Path
    operator: str
    module: str
    version: str
    released: dt.date
    recorded: dt.date
    programs: tuple[Program, ...]
    crds: tuple[str, ...] = ()
    webhooks: tuple[str, ...] = ()
    webhook_port: int = 9443
    webhook_host: str = "127.0.0.1"
    mounts: tuple[tuple[str, str], ...] = ()
    webhook_prefix: str = ""
    nested: tuple[tuple[str, str], ...] = ()
    random: tuple[str, ...] = ()
    patience_seconds: float = 60.0
    quiet_seconds: float = 4.0
    controllers: bool = True
    ending: bool = True

    @property
    def started(self) -> list[Program]:
        """The programs that run beside the control plane."""
        return [program for program in self.programs if program.started]

    @property
    def cases(self) -> list[Path]:
        """The folders of its cases, by name."""
        return sorted(path.parent for path in self.folder.glob("*/object.yaml"))


class BadDefinition(Exception):
    """What is wrong with a file, and where."""


def operators() -> list[Operator]:
    """Every operator of the table, by name. Raises BadDefinition."""
    return [operator(path.parent) for path in sorted(OPERATORS.glob("*/operator.toml"))]


def operator(folder: Path) -> Operator:
    """The operator of a folder. Raises BadDefinition."""
    path = folder / "operator.toml"
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadDefinition(f"{path}: {error}") from error
    try:
        programs = tuple(Program(**_frozen(one)) for one in read.pop("programs", ()))
        return Operator(folder=folder, **_frozen(read), programs=programs)
    except TypeError as error:
        raise BadDefinition(f"{path}: {error}") from error


def _frozen(values: dict[str, Any]) -> dict[str, Any]:
    """Lists and tables as tuples."""

    def frozen(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(value)
        return tuple(value.items()) if isinstance(value, dict) else value

    return {name: frozen(value) for name, value in values.items()}
