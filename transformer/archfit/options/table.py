"""The options, one row each: from it come flags, variables, file keys, help, JSON Schema and documentation."""

from __future__ import annotations

from archfit.base.errors import Problem, UsageError
from archfit.options.architectures import CLUSTER, OVERRIDES, PLATFORMS, PREFERENCE
from archfit.options.hosts import ALLOWED_HOSTS, CACHE, DENIED_HOSTS, MIRRORS, RATES
from archfit.options.option_types import DEADLINE, PATH, SWITCH, WHOLE_SECONDS, OptionType, choice
from archfit.options.rules import EXCLUDES, RULES
from archfit.options.settings import Given, Layer
from archfit.options.taints import KEYS, SYSTEM_TAINTS, TOLERATIONS
from archfit.options.workload_rows import WORKLOADS
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias

Part: TypeAlias = "Literal['spec', 'operator']"
Admission: TypeAlias = "Literal['cel', 'python', 'none']"

VARIABLE_PREFIX = "ARCHFIT_"
CONFIG_FLAG = "--config"
CONFIG_VARIABLE = "ARCHFIT_CONFIG"
CONFIG_HELP = "The configuration file. archfit reads no other one, wherever it runs."
CONFIG_BRIEF = "The configuration file; no other one is read."


def kebab(key: str) -> str:
    """A key as flags write it: onUnknown is on-unknown."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in key)


class Option(Record):
    """One row.

    key: as in the configuration file; the flag is its kebab-case, the variable that in capitals.
    part: "spec" is placement, which anyone may supply; "operator" is trust.
    admission: what it is for a pod that is created: "cel", the policy holds it, in its CEL or its table of images;
        "python", `archfit serve` alone decides by it, and `archfit policy` refuses it; "none", no such pod differs.
    field: of settings.Options or settings.Operator.
    metavar: what stands for the value in help; "" for switches, and in a row for a choice, which shows its words.
    default: in the form that the file has; None where the help describes it.
    repeatable: the flag may be given again, the variable holds several separated by blanks.
    file_only: neither flag nor variable.
    positive: False for a switch that only ever turns something off, or on: it has one flag.
    filter: it names objects, images or nodes: a warning where those of the input are others (`placement.filters`).
    brief: a few words for the help that fits a screen; "" for an option that few people need.
    """

    key: str
    part: Part
    admission: Admission
    field: str
    type: OptionType
    metavar: str
    default: object
    help: str
    repeatable: bool = False
    file_only: bool = False
    positive: bool = True
    filter: bool = False
    short: str = ""
    brief: str = ""

    @property
    def name(self) -> str:
        """The key in kebab-case."""
        return kebab(self.key)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flag, and for a switch the one that turns it off."""
        if self.file_only:
            return ()
        off = (f"--no-{self.name}",) if self.type is SWITCH and self.positive else ()
        return (f"--{self.name}", *off)

    def divided(self, text: str) -> list[str]:
        """The occurrences that the text of a variable stands for: blanks divide what is repeatable."""
        return text.split() if self.repeatable else [text.strip()]

    def parsed(self, texts: Sequence[str], where: str) -> object:
        """The value of texts. Raises UsageError, which begins with `where`."""
        try:
            return self.type.text(texts)
        except Problem as problem:
            raise UsageError(f"{where}: {problem.message}") from None

    def flag_value(self, texts: Sequence[str]) -> object:
        """The value of the texts that the flag was given. Raises UsageError."""
        if "" in texts:
            raise UsageError(f"{self.flags[0]}: is empty: write a value, or leave the flag out")
        return self.parsed(texts, self.flags[0])

    @property
    def variable(self) -> str:
        """The environment variable, "" where there is none."""
        return "" if self.file_only else VARIABLE_PREFIX + self.name.replace("-", "_").upper()


def _row(
    part: Part,
    admission: Admission,
    key: str,
    type_: OptionType,
    metavar: str,
    default: object,
    text: str,
    *,
    field: str = "",
    **rest: Any,
) -> Option:
    """rest: further fields of Option. field: where it is not the key's own."""
    field = field or kebab(key).replace("-", "_")
    metavar = metavar or "|".join(type_.schema.get("enum", ()))
    return Option(key, part, admission, field, type_, metavar, default, text, **rest)


SPEC = (
    _row(
        "spec", "cel", "clusterArchitectures", CLUSTER, "[OS/]ARCH,..", ["amd64", "arm64"],
        "The architectures of the cluster's Linux nodes, and of its Windows nodes as windows/amd64. "
        "With a windows entry, a pod that names no system gets a term of those that its images are built for; "
        "without one, pods for Windows are not restricted.",
        brief="What the cluster's nodes have.",
    ),
    _row(
        "spec", "python", "systemTaints", SYSTEM_TAINTS, "OS=TAINT", {},
        "The taint that all nodes of another system than Linux have, such as "
        "windows=node.kubernetes.io/os=windows:NoSchedule: only a pod that tolerates it can come there, and only such "
        "a pod gets a term of its system.",
        repeatable=True,
    ),
    _row(
        "spec", "cel", "tolerate", TOLERATIONS, "TAINT[@ARCH,..]", ["gke"],
        "A taint to tolerate on a pod whose images run on all nodes behind the taint that the pod can reach, in "
        "kubectl's syntax, such as arch=arm64:NoSchedule; gke stands for kubernetes.io/arch=arm64:NoSchedule, none "
        "for no taint. The first use replaces the default.",
        repeatable=True,
        brief="A taint of nodes to tolerate; gke is GKE's.",
        filter=True,
    ),
    _row(
        "spec", "python", "affinity", choice("needed", "always", "never"), "", "needed",
        "When to require architectures: needed, where the images do not run on all of them; always; or never, which"
        " is unsafe: a pod may land on a node that cannot run it.",
    ),
    _row(
        "spec", "cel", "prefer", PREFERENCE, "ARCH=WEIGHT,..", {},
        "Architectures to prefer where a pod can reach more than one, with weights from 1 to 100.",
        filter=True,
    ),
    _row(
        "spec", "cel", "onAbsent", choice("fail", "leave"), "", "fail",
        "What to do when the registry says that an image does not exist: fail, or leave the pod as it is.",
    ),
    _row(
        "spec", "cel", "onUnknown", choice("fail", "assume", "leave"), "", "fail",
        "What to do when a registry cannot be asked or understood: fail, assume the platforms of --assume, or leave"
        " the pod as it is (then what an earlier run added is gone).",
    ),
    _row(
        "spec", "cel", "assume", PLATFORMS, "PLATFORM,..", [],
        "The platforms of an unknown image under --on-unknown=assume.",
    ),
    _row(
        "spec", "none", "onConflict", choice("fail", "leave"), "", "fail",
        "What to do when no node can run all images of a pod: fail, or leave the pod as it is.",
    ),
    _row(
        "spec", "none", "immutable", choice("needed", "full"), "", "needed",
        "What archfit writes into Jobs and bare Pods, which cannot be changed once applied: needed, only what they "
        "cannot run without; full, the same as for other workloads.",
    ),
    _row(
        "spec", "none", "hooks", choice("immutable", "recreated"), "", "immutable",
        "Whether hooks of Helm and Argo CD (Jobs, Pods) can be changed: immutable, as with kubectl apply; "
        "recreated, where each run deletes and creates them. The Helm 4 plugin and archfit argocd set recreated.",
    ),
    _row(
        "spec", "none", "customResources", choice("all", "read", "seen", "none"), "", "read",
        "What archfit writes into custom resources: all, what it writes into any workload; read, the same if a "
        "recording shows which pods the operator makes from it, else only what a pod cannot run without; "
        "seen, only what such a recording shows, and it leaves all others; none, it leaves them all.",
    ),
    _row(
        "spec", "none", "daemonSets", choice("warn", "fail"), "", "warn",
        "What to do about a DaemonSet that will not run on every architecture of the cluster.",
    ),
    _row(
        "spec", "python", "strict", SWITCH, "", False,
        "Makes it an error when an image cannot be looked up: a placeholder, an empty string, an image that is "
        "never pulled.",
    ),
    _row(
        "spec", "none", "onBlank", choice("pass", "comment", "fail"), "", "fail",
        "What to do with blank input, which most often means that the command before the pipe failed: write it back, "
        "write one comment, or fail. A blank file among others is passed over.",
    ),
    _row(
        "spec", "cel", "imagePlatforms", OVERRIDES, "GLOB=PLATFORM,..", {},
        "The platforms of images whose metadata is wrong or cannot be read. The glob is matched against "
        "host/repository, as docker.io/library/nginx, with :tag or @digest if it has one.",
        repeatable=True,
        filter=True,
    ),
    _row(
        "spec", "cel", "exclude", EXCLUDES, "KIND[/NAMESPACE[/NAME]]", [],
        "Workloads that archfit leaves as they are, such as Job, Deployment/shop/cart or deploy/cart; each part is a "
        "glob.",
        repeatable=True,
        brief="Workloads to leave as they are.",
        filter=True,
    ),
    _row(
        "spec", "python", "unlabelledNodes", KEYS, "KEY", [],
        "Pods that tolerate this key may also run on nodes without an architecture label, as pods that tolerate "
        "virtual-kubelet.io/provider may. archfit keeps those nodes reachable.",
        repeatable=True,
    ),
    _row(
        "spec", "cel", "lockFile", PATH, "FILE", None,
        "The lock file that archfit lock writes. Its answers are final. In a configuration file, the path is "
        "relative to that file's folder.",
        brief="Answers of archfit lock, instead of a registry's.",
    ),
    _row(
        "spec", "none", "locked", SWITCH, "", False,
        "Uses the lock file only, and asks neither the cache nor a registry. An image that it lacks is an error.",
    ),
    _row(
        "spec", "none", "stamp", SWITCH, "", False,
        "For files that are edited in place; the default of --in-place, and of what archfit setup kpt writes. Records "
        "each addition in the object's annotation archfit.dev/added. A later run removes these additions first and "
        "then decides again.",
    ),
    _row(
        "spec", "python", "rules", RULES, "", [],
        "Exceptions for some workloads: fewer architectures, no tolerations, other preferences, or no change at "
        "all.",
        file_only=True,
        filter=True,
    ),
    _row(
        "spec", "none", "workloads", WORKLOADS, "", [],
        "Custom resources that hold pods, and where in them, in addition to the kinds that archfit knows.",
        file_only=True,
    ),
)  # fmt: skip

OPERATOR = (
    _row(
        "operator", "none", "mirror", MIRRORS, "SOURCE=URL", {},
        "Asks URL instead of a registry. SOURCE is the registry's host, such as docker.io, or * for all registries."
        " A path in the URL goes in front of the repository.",
        repeatable=True,
        brief="Ask URL instead of a registry.",
        field="mirrors",
    ),
    _row(
        "operator", "none", "hostsDir", PATH, "DIR", None,
        "A directory with containerd's hosts.toml files, or with certificates as in certs.d: one folder for each "
        "registry. It gives mirrors in order, CAs, client certificates and headers.",
    ),
    _row(
        "operator", "none", "registriesConf", PATH, "FILE", None,
        "A registries.conf as Podman and CRI-O read it: rewritten, mirrored, insecure and blocked registries.",
    ),
    _row(
        "operator", "none", "caFile", PATH, "FILE", None,
        "CA certificates (PEM) for registries, in addition to the system's. SSL_CERT_FILE replaces the system's.",
    ),
    _row(
        "operator", "none", "allowHost", ALLOWED_HOSTS, "HOST[:PORT]", [],
        "A server that may have a private or loopback address, such as harbor.corp.example or *.corp.example; "
        "without a port, on port 443.",
        repeatable=True,
        field="allow_hosts",
    ),
    _row(
        "operator", "none", "denyHost", DENIED_HOSTS, "HOST[:PORT]", [],
        "A server that archfit never asks, such as *.example.com; without a port, on any port. * denies every "
        "server that no --allow-host, --mirror, --hosts-dir, --registries-conf or credentials file names.",
        repeatable=True,
        field="deny_hosts",
    ),
    _row(
        "operator", "none", "requestsPerSecond", RATES, "HOST=N", {},
        "At most N requests a second to a registry's host, such as docker.io=5; * stands for each other server. "
        "Processes with the same Redis or Valkey server in --cache share it; without one, it bounds each process.",
        repeatable=True,
    ),
    _row(
        "operator", "none", "cache", CACHE, "PATH", None,
        "The file that keeps the answers of registries, by default in the user's cache directory; or a server that "
        "several machines share, such as redis://cache.example:6379/0 or rediss://cache.example.",
    ),
    _row(
        "operator", "none", "cachePasswordFile", PATH, "FILE", None,
        "A file whose first line is the cache server's password. The variable ARCHFIT_CACHE_PASSWORD can hold it "
        "instead.",
    ),
    _row(
        "operator", "none", "cacheCaFile", PATH, "FILE", None,
        "The CA certificates (PEM) for a cache server at rediss://. By default, the system's.",
    ),
    _row(
        "operator", "none", "cacheTtl", WHOLE_SECONDS, "DURATION", "6h",
        "How long a cached answer for a tag is used without asking the registry.",
        field="cache_ttl_seconds",
    ),
    _row(
        "operator", "none", "maxStale", WHOLE_SECONDS, "DURATION", "7d",
        "How old a cached answer may be when the registry cannot be asked.",
        field="max_stale_seconds",
    ),
    _row(
        "operator", "none", "noCache", SWITCH, "", False,
        "Neither reads nor writes the cache.", positive=False,
    ),
    _row(
        "operator", "none", "offline", SWITCH, "", False,
        "Asks no registry. An image that is not in the cache is unknown.",
    ),
    _row(
        "operator", "none", "timeout", DEADLINE, "DURATION", "30s",
        "The time limit for all lookups of a run together.",
        field="timeout_seconds",
    ),
    _row(
        "operator", "none", "authfile", PATH, "FILE", None,
        "Registry credentials in the format of Docker's config.json. By default, the files that Docker and Podman "
        "use.",
    ),
    _row(
        "operator", "none", "pullSecrets", SWITCH, "", False,
        "Uses the pull secrets in the manifests for the pods that refer to them, as the kubelet does.",
    ),
    _row(
        "operator", "none", "report", PATH, "FILE", None,
        "The file to which every decision is written as JSON.",
    ),
    _row(
        "operator", "none", "quiet", SWITCH, "", False,
        "Writes only errors and warnings to standard error.", positive=False, short="-q",
        brief="Write only errors and warnings to standard error.",
    ),
    _row(
        "operator", "none", "verbose", SWITCH, "", False,
        "Says on standard error why each pod is placed as it is, with the answer for each image.",
        positive=False, short="-v",
        brief="Say why each pod is placed as it is.",
    ),
    _row(
        "operator", "none", "color", choice("auto", "always", "never"), "", "auto",
        "When to use colours: auto, on a terminal, but not in CI, nor where NO_COLOR is set; FORCE_COLOR makes it "
        "always.",
    ),
)  # fmt: skip

TABLE = (*SPEC, *OPERATOR)
BY_KEY = {option.key: option for option in TABLE}

# What `enforced` covers beside the options: annotations of manifests that say something else.
ANNOTATIONS = {"imagePlatforms": "archfit.dev/image-platforms", "skip": "archfit.dev/skip"}


def default_text(option: Option) -> str:
    """The default as a flag would write it, "" where the help describes it or there is none."""
    if option.default in (None, {}, []):
        return ""
    if isinstance(option.default, list):
        return ",".join(option.default)
    return str(option.default).lower() if isinstance(option.default, bool) else str(option.default)


def flag_layer(texts: Mapping[str, Sequence[str] | None], rows: Sequence[Option]) -> Layer:
    """The layer of the flags. texts: what each was given, by the option's key. Raises UsageError."""
    given = {
        option.key: Given(option.flag_value(occurrences), option.flags[0])
        for option in rows
        if (occurrences := texts.get(option.key))
    }
    names = ", ".join(value.where for value in given.values())
    return Layer(f"flags ({names})", given)
