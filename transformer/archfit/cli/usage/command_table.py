"""The commands, one row each: from it come dispatch, parsers, help, completion, the man page and a page of the site.

A test compares each row with what the command's parser takes. A run without arguments loads none of this.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.cli.usage.cluster_commands import AUDIT, POLICY, SERVE
from archfit.cli.usage.command_row import (
    AS_JSON,
    DONE_OR_FAILED,
    NO_INPUT,
    WRONG_USAGE,
    Command,
    Flag,
    operator_options_without,
    options_named,
)
from archfit.cli.usage.manifest_commands import CHECK, EXPLAIN, INSPECT, LOCK, LOGIN_CHECK, PATCH, TRANSFORM
from archfit.cli.usage.setup_commands import SETUP
from archfit.options.table import TABLE

HELM = Command(
    "helm",
    "Does what transform does, with defaults for Helm; Helm 4 starts it.",
    ("helm [OPTION].. < rendered.yaml > placed.yaml",),
    "archfit.integrations.helm.command:post_render",
    options=TABLE,
    group="other tools",
    about="The defaults of two options differ here: --on-blank is comment, --hooks is recreated.",
    exits=DONE_OR_FAILED,
)
ARGOCD = Command(
    "argocd",
    "Renders an Argo CD application; Argo CD starts it.",
    ("argocd generate|parameters|discover [OPTION]..",),
    "archfit.integrations.argocd.command:generate",
    NO_INPUT,
    arguments=(
        (
            "generate",
            "Render the application in the working directory with Helm, with Kustomize or as plain files, and add "
            "what each pod needs.",
        ),
        ("parameters", "Write the parameters that the application's page offers, as a JSON list."),
        ("discover", "Write the name of the renderer, or nothing if there is nothing to render."),
    ),
    flags=(
        Flag("--helm PATH", "The program helm; default: the one on PATH."),
        Flag("--helm-option WORD", "A word to add to `helm template`.", repeatable=True),
        Flag(
            "--helm-dependencies",
            "Run `helm dependency build` first where charts/ lacks what Chart.yaml names.",
        ),
        Flag("--kustomize PATH", "The program kustomize; default: the one on PATH."),
        Flag(
            "--kustomize-option WORD",
            "A word to add to `kustomize build`, as --enable-helm.",
            repeatable=True,
        ),
    ),
    options=TABLE,
    group="other tools",
    about="The default of one option differs here: --hooks is recreated.",
    exits=DONE_OR_FAILED,
)
CACHE = Command(
    "cache",
    "Shows where the answers of registries are kept, and removes them.",
    ("cache path|info|prune|clear [OPTION]..",),
    "archfit.cli.cache:manage_cache",
    ("stdout", "environ"),
    arguments=(
        ("path", "Show where the cache is."),
        ("info", "Show what it holds."),
        ("prune", "Remove what no run would use any more."),
        ("clear", "Remove everything that archfit stored in it, without asking."),
    ),
    flags=(AS_JSON,),
    options=options_named(
        "cache", "cachePasswordFile", "cacheCaFile", "cacheTtl", "maxStale", "quiet", "color"
    ),
)
LAST = Command(
    "last",
    "Shows the report of the last run.",
    ("last [--format json]",),
    "archfit.cli.last:show_last_run",
    ("stdout", "environ"),
    flags=(AS_JSON.replace(help="json: write the whole report as JSON."),),
    about="""\
It shows what the last run on this machine decided, and why. The first line shows its time, command and version. \
A run that did not start left no report, so the report of the run before it is shown.""",
)
DOCTOR = Command(
    "doctor",
    "Shows what this machine has for archfit, and what is wrong.",
    ("doctor [OPTION]..",),
    "archfit.doctor.command:diagnose",
    ("stdout", "environ"),
    flags=(AS_JSON,),
    options=(*options_named("lockFile"), *operator_options_without("report", "verbose")),
    about="""\
It checks Python, the configuration, the cache, credentials, proxies and certificates, and the programs on PATH: \
Helm 3 and 4 with the plugin, kustomize, kpt, kubectl, container runtimes. It renders one Pod \
through Helm 4 where the plugin is there. It shows no credential. Without a cache on a server it asks nobody over \
the network; archfit login-check asks a registry. All checks together take no longer than --timeout.

  archfit doctor""",
    exits=(
        (0, "nothing is wrong"),
        (1, "failed"),
        WRONG_USAGE,
        (3, "something that is configured is broken"),
    ),
)
VERSION = Command(
    "version",
    "Shows the versions of archfit, its Python and its dependencies.",
    ("version [--format json]",),
    "archfit.cli.installation:show_installation",
    ("stdout",),
    flags=(AS_JSON,),
    about="""\
It shows how archfit was installed, which extras it has, whether the fast YAML parser is there, and the versions of \
the files that it reads and writes. Add it to a bug report. archfit --version shows the version alone.""",
)
SCHEMA = Command(
    "schema",
    "Shows the JSON Schema of a file that archfit reads or writes.",
    ("schema [NAME]",),
    "archfit.cli.schema:show_schema",
    ("stdout",),
    arguments=(
        ("config", "The configuration file (the default)."),
        ("report", "What --report and archfit last --format json write."),
        ("check", "What archfit check --format json writes."),
        ("explain", "What archfit explain --format json writes."),
        ("audit", "What archfit audit --format json writes."),
        ("audit-images", "What archfit audit --images --format json writes."),
        ("patch", "What archfit patch --format json writes."),
        ("policy-check", "What archfit policy --check --format json writes."),
        ("inspect", "What archfit inspect --format json writes."),
        ("login-check", "What archfit login-check --format json writes."),
        ("cache", "What archfit cache ACTION --format json writes."),
        ("doctor", "What archfit doctor --format json writes."),
        ("version", "What archfit version --format json writes."),
        ("lock-changes", "What archfit lock --format json writes."),
        ("lock", "The lock file."),
        ("workloads", "The kinds of custom resources that archfit knows, a file for each API group."),
    ),
    about="""\
Editors complete and check a file by its schema.

  archfit schema > archfit.schema.json
  check-jsonschema --schemafile archfit.schema.json archfit.yaml""",
)
COMPLETION = Command(
    "completion",
    "Writes the completion script for a shell.",
    ("completion bash|zsh|fish",),
    "archfit.cli.completion:show_completion",
    ("stdout",),
    arguments=(
        ("bash", 'In ~/.bashrc: eval "$(archfit completion bash)"'),
        ("zsh", "In a folder of $fpath: archfit completion zsh > _archfit"),
        ("fish", "archfit completion fish > ~/.config/fish/completions/archfit.fish"),
    ),
)
HELP = Command(
    "help",
    "Shows the help of a command, or a page of the documentation.",
    ("help [COMMAND|PAGE[#HEADING]]",),
    "archfit.cli.manual:show_help",
    ("stdout",),
    arguments=(
        (
            "COMMAND",
            "A command, such as check or setup helm: what --help shows. Add --help-all for every option.",
        ),
        (
            "PAGE",
            "A page, such as registries, or check.md where a command has the name. Without a word: all names.",
        ),
    ),
    about="""\
The pages come with archfit, so this needs no network.

  archfit help registries
  archfit help check.md#exit-codes""",
)

COMMANDS = (
    TRANSFORM,
    CHECK,
    EXPLAIN,
    PATCH,
    POLICY,
    AUDIT,
    LOCK,
    INSPECT,
    LOGIN_CHECK,
    SERVE,
    HELM,
    ARGOCD,
    *SETUP,
    CACHE,
    LAST,
    SCHEMA,
    COMPLETION,
    DOCTOR,
    VERSION,
    HELP,
)
BY_NAME = {command.name: command for command in COMMANDS}
MAIN = BY_NAME["transform"]  # what runs where no command is named


def find(words: Sequence[str]) -> tuple[Command | None, Sequence[str]]:
    """The command that the words begin with, and the words after its name."""
    for length in (2, 1):
        command = BY_NAME.get(" ".join(words[:length]))
        if command:
            return command, words[length:]
    return None, words


def members(group: Command) -> list[Command]:
    """The commands of a group."""
    return [command for command in COMMANDS if command.name.startswith(f"{group.name} ")]


def by_group() -> dict[str, list[Command]]:
    """The commands that a user can start, by what they are about; those of a group behind its name."""
    groups: dict[str, list[Command]] = {}
    for command in COMMANDS:
        if not command.run:
            groups[f"{command.name} TOOL"] = members(command)
        elif " " not in command.name:
            groups.setdefault(command.group, []).append(command)
    return groups


def first_words() -> list[str]:
    """What may stand right after `archfit`."""
    return [command.name for command in COMMANDS if " " not in command.name]


def words_below(group: Command) -> list[str]:
    """What the commands of a group are called behind its name."""
    return [command.name.removeprefix(f"{group.name} ") for command in members(group)]
