"""Flags, environment and file together: precedence, enforcement, sources, and what a bare run costs."""

import itertools
import sys

import pytest

import machine
from archfit.base.errors import UsageError
from archfit.cli.usage.general_flags import help_or_version
from archfit.images.platforms import ImagePlatforms, Platform
from archfit.options.config_file import from_values
from archfit.options.hosts import mirror
from archfit.options.layers import load
from archfit.options.option_types import PATH, SWITCH
from archfit.options.settings import (
    CacheServer,
    Exclude,
    HostPattern,
    Match,
    Operator,
    Options,
    RequestRate,
    Rule,
    Settings,
    Toleration,
    TolerationRule,
)
from archfit.options.table import BY_KEY, TABLE, Option
from case_files import rows

HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"
AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")


def settings(argv: list[str], environ: dict[str, str] | None = None, file: str | None = None) -> Settings:
    """Everything loaded; a file is named by --config."""

    def read(path: str) -> bytes:
        assert path == "a.yaml"
        return (HEAD + (file or "")).encode()

    return load([*argv, *(["--config", "a.yaml"] if file is not None else [])], environ or {}, read)


def complaint(argv: list[str], environ: dict[str, str] | None = None, file: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        settings(argv, environ, file)
    assert caught.value.exit_code == 2
    return str(caught.value)


def value(option: Option, found: Settings) -> object:
    return getattr(found.options if option.part == "spec" else found.operator, option.field)


def _tolerate(key: str) -> tuple[TolerationRule, ...]:
    return (TolerationRule(("arm64",), Toleration(key, "Equal", "arm64", "NoSchedule")),)


# Of every option three values that differ from each other: as text, as YAML, and what they become.
THREE: dict[str, list[tuple[str, str, object]]] = {
    "clusterArchitectures": [("arm64", "[arm64]", ("arm64",)), ("amd64", "[amd64]", ("amd64",)),
                             ("s390x,amd64", "[s390x, amd64]", ("amd64", "s390x"))],
    "tolerate": [("none", "none", ()), ("a=arm64:NoSchedule", "['a=arm64:NoSchedule']", _tolerate("a")),
                 ("b=arm64:NoSchedule", "['b=arm64:NoSchedule']", _tolerate("b"))],
    "systemTaints": [("windows=a=b:NoSchedule", "{windows: 'a=b:NoSchedule'}",
                      (("windows", Toleration("a", "Equal", "b", "NoSchedule")),)),
                     ("none", "none", ()),
                     ("windows=c:NoExecute", "{windows: 'c:NoExecute'}",
                      (("windows", Toleration("c", "Equal", "", "NoExecute")),))],
    "prefer": [("arm64=1", "{arm64: 1}", (("arm64", 1),)), ("none", "none", ()),
               ("arm64=2,amd64=1", "{arm64: 2, amd64: 1}", (("amd64", 1), ("arm64", 2)))],
    "assume": [("amd64", "[amd64]", (AMD64,)), ("arm64", "[arm64]", (ARM64,)),
               ("arm64,amd64", "[arm64, amd64]", (AMD64, ARM64))],
    "imagePlatforms": [("a.io/*=amd64", "{'a.io/*': [amd64]}", (ImagePlatforms("a.io/*", (AMD64,)),)),
                       ("b.io/*=amd64", "{'b.io/*': [amd64]}", (ImagePlatforms("b.io/*", (AMD64,)),)),
                       ("b.io/*=arm64", "{'b.io/*': [arm64]}", (ImagePlatforms("b.io/*", (ARM64,)),))],
    "exclude": [("Job", "[Job]", (Exclude("Job"),)), ("Pod", "[Pod]", (Exclude("Pod"),)),
                ("*/a", "['*/a']", (Exclude("*", "a"),))],
    "unlabelledNodes": [("a", "[a]", ("a",)), ("b", "[b]", ("b",)), ("c.io/d", "[c.io/d]", ("c.io/d",))],
    "mirror": [("a.io=https://a", "{a.io: 'https://a'}", (mirror("a.io", "https://a"),)),
               ("a.io=https://b", "{a.io: 'https://b'}", (mirror("a.io", "https://b"),)),
               ("*=http://c:1", "{'*': 'http://c:1'}", (mirror("*", "http://c:1"),))],
    "allowHost": [("a.io", "[a.io]", (HostPattern("a.io"),)), ("none", "none", ()),
                  ("*.B.io:1", "['*.b.io:1']", (HostPattern("*.b.io", 1),))],
    "denyHost": [("*", "['*']", (HostPattern("*"),)), ("none", "none", ()),
                 ("a.io:5000", "['a.io:5000']", (HostPattern("a.io", 5000),))],
    "requestsPerSecond": [("a.io=5", "{a.io: 5}", (RequestRate("a.io", 5.0),)), ("none", "none", ()),
                          ("*=0.5", "{'*': 0.5}", (RequestRate("*", 0.5),))],
    "cache": [("/a", "/a", "/a"), ("/b", "/b", "/b"), ("redis://c", "redis://c", CacheServer(False, "c"))],
    "cacheTtl": [("1h", "1h", 3600), ("0", "0", 0), ("2h", "2h", 7200)],
    "maxStale": [("1d", "1d", 86400), ("0", "0", 0), ("2d", "2d", 172800)],
    "timeout": [("1s", "1s", 1.0), ("2s", "2s", 2.0), ("3500ms", "3500ms", 3.5)],
}  # fmt: skip


def three(option: Option) -> list[tuple[str, str, object]]:
    """The three values of an option; those of words, switches and files follow from its type."""
    if option.type is SWITCH:
        return [("true", "true", True), ("false", "false", False), ("1", "true", True)]
    if option.type is PATH:
        return [("/a", "/a", "/a"), ("/b", "/b", "/b"), ("c", "c", "c")]
    if words := option.type.schema.get("enum"):
        another = [word for word in words if word != option.default][-1]
        return [(word, word, word) for word in (another, option.default, another)]
    return THREE[option.key]


# What an option cannot be without.
COMPANIONS = {"locked": {"ARCHFIT_LOCK_FILE": "archfit.lock"}}
BY_FLAG = [option for option in TABLE if not option.file_only]


def flags(option: Option, text: str) -> list[str]:
    """The value as flags: a switch has one for each."""
    if text in {"true", "1", "false", "0"} and not option.metavar:
        return [option.flags[0]] if text in {"true", "1"} else list(option.flags[1:])
    return [option.flags[0], text]


@pytest.mark.parametrize("option", BY_FLAG, ids=lambda option: option.key)
@pytest.mark.parametrize("given", list(itertools.product((True, False), repeat=3)), ids=lambda given: "".join(
    name if there else "-" for name, there in zip(("flag", "env", "file"), given, strict=True)))  # fmt: skip
def test_flag_beats_environment_beats_file_beats_default(option, given):
    """Of all sources that give an option, the highest one gives its whole value."""
    for order in itertools.permutations(three(option)):
        by_flag, by_env, by_file = order
        if given[0] and not flags(option, by_flag[0]):
            continue
        found = settings(
            flags(option, by_flag[0]) if given[0] else [],
            {**COMPANIONS.get(option.key, {}), **({option.variable: by_env[0]} if given[1] else {})},
            f"{option.part}:\n  {option.key}: {by_file[1]}\n" if given[2] else None,
        )
        wanted_values = [value for value, there in zip(order, given, strict=True) if there]
        default = getattr(Options() if option.part == "spec" else Operator(), option.field)
        assert value(option, found) == (wanted_values[0][2] if wanted_values else default)


@pytest.mark.parametrize("option", BY_FLAG, ids=lambda option: option.key)
def test_an_enforced_option_cannot_be_changed(option):
    """A flag or variable that says something else than the operator's file is an error that names both."""
    first, second, _third = three(option)
    own, other = (second, first) if not option.positive else (first, second)
    file = f"operator:\n  enforced: [{option.key}]\n"
    own_line = f"  {option.key}: {own[1]}\n"
    file += own_line if option.part == "operator" else f"spec:\n{own_line}"
    for argv, environ, who in (
        (flags(option, other[0]), {}, option.flags[0]),
        ([], {option.variable: other[0]}, option.variable),
    ):
        assert complaint(argv, environ, file) == (
            f"{who}: {option.key} is enforced by file a.yaml (--config): leave it out here"
        )
    environ = {option.variable: own[0], **COMPANIONS.get(option.key, {})}
    assert value(option, settings(flags(option, own[0]), environ, file)) == own[2]


def test_the_default_can_be_enforced():
    """An enforced option that the file does not give keeps its default."""
    file = "operator: {enforced: [onConflict, clusterArchitectures]}\n"
    assert complaint(["--on-conflict", "leave"], {}, file) == (
        "--on-conflict: onConflict is enforced by file a.yaml (--config): leave it out here"
    )
    assert settings(["--cluster-architectures=arm64,amd64"], {}, file).options == Options()
    assert settings([], {}, file).sources == ("file a.yaml (--config)",)


def test_an_application_is_between_flags_and_environment():
    """A functionConfig loses against flags, wins over variables, and cannot change what is enforced."""
    application = from_values(
        {
            "apiVersion": "archfit.dev/v1alpha1",
            "kind": "ArchFit",
            "spec": {"affinity": "never", "strict": True},
        },
        "functionConfig",
    )
    found = load(
        ["--affinity", "always"], {"ARCHFIT_STRICT": "false"}, lambda _path: b"", application=application
    )
    assert found == Settings(
        Options(affinity="always", strict=True),
        Operator(),
        ("flags (--affinity)", "functionConfig", "environment (ARCHFIT_STRICT)"),
        given=(("affinity", "--affinity"), ("strict", "functionConfig, spec.strict")),
    )
    with pytest.raises(UsageError) as caught:
        load(
            [],
            {"ARCHFIT_CONFIG": "/etc/archfit.yaml"},
            lambda _path: (HEAD + "operator: {enforced: [affinity]}").encode(),
            application=application,
        )
    assert str(caught.value) == (
        "functionConfig, spec.affinity: affinity is enforced by file /etc/archfit.yaml (ARCHFIT_CONFIG): "
        "leave it out here"
    )


def test_rules_come_from_the_file_alone():
    """`rules` has neither flag nor variable."""
    found = settings([], {}, "spec: {rules: [{match: {kind: Job}, skip: true}]}\n")
    assert found.options == Options(rules=(Rule(Match(kind="Job"), skip=True),))
    assert complaint(["--rules", "x"]) == "there is no flag '--rules': see archfit --help"
    assert BY_KEY["rules"].variable == ""


def test_sources_are_named_in_order_of_precedence():
    """The report's head says who configured the run, without values."""
    assert settings(
        ["--strict", "--mirror", "a.io=https://a"],
        {"ARCHFIT_OFFLINE": "1", "HOME": "/x"},
        "spec: {exclude: [Job]}",
    ).sources == ("flags (--strict, --mirror)", "environment (ARCHFIT_OFFLINE)", "file a.yaml (--config)")


def test_repeated_flags_add_up_and_others_are_overwritten():
    """`--exclude a --exclude b` are two; of two `--affinity` the last one counts."""
    found = settings(
        [
            "--exclude",
            "Job",
            "--exclude=Pod",
            "--affinity",
            "never",
            "--affinity=always",
            "--strict",
            "--no-strict",
        ]
    ).options
    assert found == Options(exclude=(Exclude("Job"), Exclude("Pod")), affinity="always", strict=False)


def test_a_variable_holds_several_separated_by_blanks():
    """For repeatable options only; a path may hold blanks."""
    found = settings(
        [],
        {
            "ARCHFIT_MIRROR": " a.io=https://a  *=http://b\n",
            "ARCHFIT_TOLERATE": "gke x=arm64:NoSchedule",
            "ARCHFIT_CACHE": "/with blank/c.db",
        },
    )
    assert found.operator == Operator(
        mirrors=(mirror("a.io", "https://a"), mirror("*", "http://b")), cache="/with blank/c.db"
    )
    assert found.options == Options(tolerate=(*Options().tolerate, *_tolerate("x")))


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param([""], id="alone"),
        pytest.param(["", "--strict", ""], id="around flags"),
        pytest.param(["--strict", "--"], id="the end of flags"),
    ],
)
def test_an_empty_argument_is_ignored(argv):
    """Helm passes one for an empty --post-renderer-args."""
    assert settings(argv).options == Options(strict="--strict" in argv)


BAD_ARGUMENTS = rows("options/bad_arguments.yaml", "argv", "message")


@pytest.mark.parametrize(("argv", "message"), BAD_ARGUMENTS)
def test_wrong_arguments_are_one_sentence(argv, message):
    """Who, what is wrong, what to write; exit code 2."""
    assert complaint(argv) == message


BAD_VARIABLES = rows("options/bad_variables.yaml", "name", "text", "message")


@pytest.mark.parametrize(("name", "text", "message"), BAD_VARIABLES)
def test_wrong_variables_are_one_sentence(name, text, message):
    """Who, what is wrong, what to write; exit code 2."""
    assert complaint([], {name: text}) == message


# What the kubelet sets for Services archfit-cache, archfit and archfit-report.
SERVICE_LINKS = [
    ("ARCHFIT_CACHE_SERVICE_HOST", "10.96.0.7"),
    ("ARCHFIT_CACHE_SERVICE_PORT", "6379"),
    ("ARCHFIT_CACHE_SERVICE_PORT_REDIS_TLS", "6379"),
    ("ARCHFIT_CACHE_PORT", "tcp://10.96.0.7:6379"),
    ("ARCHFIT_CACHE_PORT_6379_TCP", "tcp://10.96.0.7:6379"),
    ("ARCHFIT_CACHE_PORT_6379_TCP_PROTO", "tcp"),
    ("ARCHFIT_CACHE_PORT_6379_TCP_PORT", "6379"),
    ("ARCHFIT_CACHE_PORT_6379_TCP_ADDR", "10.96.0.7"),
    ("ARCHFIT_CACHE_PORT_53_UDP", "udp://[fd00::7]:53"),
    ("ARCHFIT_CACHE_PORT_53_UDP_ADDR", "fd00::7"),
    ("ARCHFIT_PORT", "sctp://10.96.0.7:80"),
    ("ARCHFIT_REPORT_PORT", "tcp://10.96.0.7:80"),
]


@pytest.mark.parametrize(
    ("name", "value", "nearest"),
    [
        pytest.param("ARCHFIT_PORT", "8080", "REPORT", id="a number"),
        pytest.param("ARCHFIT_REPORT_", "tcp://10.96.0.7:80", "REPORT", id="another name"),
        pytest.param("ARCHFIT_CACHE_TTL_", "6379", "CACHE_TTL", id="a misspelt option"),
        pytest.param(
            "ARCHFIT_CACHE_PORT", "tcp://10.96.0.7:6379 x", "CACHE_PASSWORD", id="more than an address"
        ),
    ],
)
def test_what_has_not_the_shape_of_a_service_link_is_refused(name, value, nearest):
    assert complaint([], {name: value}) == (
        f"{name}: there is no such variable: write ARCHFIT_{nearest}, or unset it"
    )


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param(
            {"ARCHFIT_SERVICE_HOST": "10.0.0.1", "ARCHFIT_PORT": "tcp://10.0.0.1:80"}, id="a Service's"
        ),
        *(pytest.param({variable: value}, id=variable) for variable, value in SERVICE_LINKS),
        pytest.param({"ARCHFIT_VERSION": "1.2.3"}, id="a build script's"),
        pytest.param({"ARCHFIT_STRICT": "", "ARCHFIT_CONFIG": "", "ARCHFIT_MIRROR": " "}, id="empty"),
        pytest.param({"archfit_strict": "true", "XARCHFIT_STRICT": "true"}, id="without the prefix"),
    ],
)
def test_other_variables_change_nothing(environ):
    """What is somebody else's, or empty, is as if it were not there."""
    assert settings([], environ) == Settings()


def test_the_flag_for_the_file_wins_over_the_variable():
    """Only one file is read."""
    found = load(["--config", "b.yaml"], {"ARCHFIT_CONFIG": "a.yaml"}, {"b.yaml": HEAD.encode()}.__getitem__)
    assert found == Settings()


@pytest.mark.parametrize(
    ("argv", "environ", "message"),
    [
        (
            ["--config", "x"],
            {},
            "--config: cannot read 'x' (No such file): name a file that archfit can read",
        ),
        (
            [],
            {"ARCHFIT_CONFIG": "y"},
            "ARCHFIT_CONFIG: cannot read 'y' (No such file): name a file that archfit can read",
        ),
    ],
    ids=["flag", "variable"],
)
def test_a_file_that_cannot_be_read_is_one_sentence(argv, environ, message):
    """Who named it, and why it cannot be read."""

    def read(_path: str) -> bytes:
        raise FileNotFoundError(2, "No such file")

    with pytest.raises(UsageError) as caught:
        load(argv, environ, read)
    assert str(caught.value) == message


def test_a_command_has_only_its_own_flags():
    """Flags of other commands are unknown to it, and its name is in the sentence."""
    rows = [BY_KEY["cache"]]
    assert load(["--cache", "/x"], {}, lambda _path: b"", rows=rows).operator == Operator(cache="/x")
    with pytest.raises(UsageError) as caught:
        load(["--strict"], {}, lambda _path: b"", rows=rows, program="archfit inspect")
    assert str(caught.value) == "there is no flag '--strict': see archfit inspect --help"


@pytest.mark.parametrize(
    ("argv", "asked"),
    [([], ""), (["--strict"], ""), (["--strict", "-h"], "help"), (["--bad", "--help"], "help"), (["-V"], "version"),
     (["--version"], "version")],
)  # fmt: skip
def test_help_and_version_are_seen_anywhere(argv, asked):
    """Also beside mistakes."""
    assert help_or_version(argv) == asked


PROBE = """
import sys
sys.path.insert(0, {source!r})
import archfit.options.layers as module
before = set(sys.modules)
settings = module.load([], {{"HOME": "/", "PATH": "/bin"}}, None)
assert settings.options.affinity == "needed"
print(*sorted(set(sys.modules) - before))
print(*sorted(name for name in sys.modules if name in {heavy!r} or name.startswith("archfit")))
"""


def test_a_bare_run_imports_nothing_for_its_options():
    """Without arguments and variables the defaults are there at once."""
    heavy = {
        "argparse",
        "yaml",
        "re",
        "json",
        "typing",
        "dataclasses",
        "difflib",
        "logging",
        "pathlib",
        "enum",
    }
    source = module_root()
    done = machine.run(
        [sys.executable, "-I", "-S", "-c", PROBE.format(source=source, heavy=heavy)], check=True
    )  # fmt: skip
    more, loaded = done.stdout.splitlines()
    assert not more
    assert set(loaded.split()) == {
        "archfit",
        "archfit.base",
        "archfit.base.errors",
        "archfit.base.printable",
        "archfit.options",
        "archfit.options.layers",
        "archfit.options.settings",
        "archfit.startup",
        "archfit.startup.record",
    }


def module_root() -> str:
    import archfit

    return archfit.__path__[0].rpartition("/")[0]
