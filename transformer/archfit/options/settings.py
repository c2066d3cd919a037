"""The options of a run as frozen values; `table` says where each may be set, `load` builds them.

`Options` is placement; anyone may supply it. `Operator` is trust: network, credentials, cache; only flags, environment,
or a file that one of them names. What stands between markers follows from the table: `make pages` writes it.
"""

from __future__ import annotations

from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # a run with the defaults and nothing to do loads none of them
    from collections.abc import Mapping
    from typing import Any, Literal

    from archfit.base.patch import Path
    from archfit.images.platforms import ImagePlatforms, Platform


class Toleration(Record):
    """A toleration as Kubernetes writes it (core/v1 Toleration); "" and None mean the field is not written."""

    key: str
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class TolerationRule(Record):
    """`toleration` is added where the images run on every one of `architectures` (sorted).

    needed: only where every architecture that the pod can reach needs one.
    """

    architectures: tuple[str, ...]
    toleration: Toleration
    needed: bool = False


class Match(Record):
    """Which pods a rule is about. Globs as in fnmatch; "" matches all; every label has to be there."""

    namespace: str = ""
    kind: str = ""
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class Rule(Record):
    """One entry of `rules:`: gradual roll-out. None leaves the option as it is for the whole run.

    offered: `only` narrows where all images of the pod run on one of its architectures, and changes nothing elsewhere.
    """

    match: Match
    only: tuple[str, ...] | None = None
    tolerate: bool | None = None
    prefer: tuple[tuple[str, int], ...] | None = None
    skip: bool | None = None
    offered: bool = False


class Exclude(Record):
    """Workloads that are left alone. Globs as in fnmatch; "" matches all."""

    kind: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


class Mirror(Record):
    """Lookups of `source`, a registry host of a normalised reference or "*", go to another server.

    scheme: http or https. host: `host[:port]`, lower case. prefix: in front of the repository, without slashes at
    its ends.
    """

    source: str
    scheme: str
    host: str
    prefix: str = ""


class CacheServer(Record):
    """A Redis or Valkey server. Its text has no user, so that it can be shown. host: without brackets."""

    tls: bool
    host: str
    port: int = 6379
    database: int = 0
    user: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis{'s' if self.tls else ''}://{host}:{self.port}/{self.database}"


class HostPattern(Record):
    """Servers that the operator allows or denies. name: a host, `*.DOMAIN` or `*`, lower case, without brackets."""

    name: str
    port: int | None = None


class RequestRate(Record):
    """How often a server may be asked. host: of a normalised reference, or "*" for each server without a row."""

    host: str
    per_second: float


# The fields of a pod spec that decide on which nodes a pod may run: the one list. To add one: a name here, an attribute
# of `Workload`, what it asks of a node (`placement`; `audit.running.object_fields` for a node of a cluster), and the
# same as CEL (`policy`), which fuzzers compare with the decision.
AFFINITY, TOLERATIONS, NODE_SELECTOR = "affinity", "tolerations", "nodeSelector"
ATTRIBUTES = {AFFINITY: "affinity", TOLERATIONS: "tolerations", NODE_SELECTOR: "node_selector"}
"""Of each field the attribute of `Workload`."""
FIELDS = tuple(ATTRIBUTES)
LISTS = (AFFINITY, TOLERATIONS)
"""Those to which archfit adds; a nodeSelector is only read, unless the row of a kind says that it pins."""
EMPTY: dict[str, object] = {AFFINITY: None, TOLERATIONS: [], NODE_SELECTOR: {}}
"""What counts as nothing beside null: an affinity of {} is one, to Argo."""

NODE_AFFINITY = "nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
"""Members of core/v1 NodeAffinity."""
TERM_LIST = "nodeSelectorTerms"
TERMS: Path = (AFFINITY, NODE_AFFINITY, REQUIRED, TERM_LIST)


class Embedding(Record):
    """What the operator makes of whole objects that stand in its own; paths are from the root of the latter.

    created: (path, texts): one of the texts stands there, in any case, or anything, for (); an object of which this
        does not hold is compared with others, and left as it is, with the message `compared`.
    appends: (path, text): with this text there, the operator adds the items of a list to those of an earlier version.
    hands_down: members that count in the embedded objects instead of theirs, where they are set.
    filled: (texts, mapping): each text names a place below the mapping, at which something else than the object says
        what stands there (`spec.containers.0.image`): such images are unknown.
    """

    created: tuple[tuple[Path, tuple[str, ...]], ...] = ()
    compared: str = ""
    hands_down: tuple[Path, ...] = ()
    appends: tuple[tuple[Path, str], ...] = ()
    filled: tuple[tuple[Path, Path], ...] = ()


NO_EMBEDDING = Embedding()


class Workload(Record):
    """A kind that holds pods, and where. Paths are from the object's root; "*" is every item or member.

    versions: of the API, as `v1` or `v1-*`, for which the row was read; () for all.
    pod_spec: the mapping that holds nodeSelector, affinity and tolerations, and containers as a pod spec does; created
        where only `there` exists.
    there: what has to be there for there to be a pod; () is pod_spec.
    unless: (path, text): there is no pod where the value at path is text, or exists, for "".
    when: the same: there is a pod only where the value at path is text, or exists, for "".
    images: images outside of containers; of each entry the first path that names one counts; "+" joins repository and
        tag.
    also: further images, which count where they are named; where they are not, the operator chooses.
    main: the container of pod_spec whose image counts instead of the first entry of `images`.
    default_image: what chooses the image where an entry names none, "" for nothing.
    unseen: (path, reason): where the path exists, there is one more image, which is unknown.
    added: (container or path, reason): the operator adds a container, whose image is unknown unless a container of that
        name in pod_spec or in a merged patch states it, or the path does.
    affinity: the mapping that holds nodeAffinity; tolerations, node_selector: those members. () is beside the
        containers, None that the kind has no such field.
    metadata: of the pod; () is beside pod_spec, None the object's own.
    inherits: mappings whose nodeSelector, affinity and tolerations hold where the pod has none; the first one counts.
    objects: whole objects stand there, as in a list; with `immutable`, none of them can be changed once applied.
    embedding: what is done to them, see there.
    reason: why nothing of what is `there` is changed, where `when` and `unless` allow it. rendered: as its controller
        makes manifests of the object, which hold the pods.
    replaced_by: mappings whose nodeSelector, affinity and tolerations, where set, are read and edited in place of the
        pod's; the first one first.
    default_affinity: what the operator writes only while the pod has no affinity: the mapping, written out with the
        first edit ("{metadata.name}" in a text is the object's own value at that path; "{spec.other?}" in a list is
        left out where the object has none), or a warning where it is not a constant.
    pins: a nodeSelector leaves that default as it is: where one architecture is left, it is written in place of an
        affinity; preferences are not written.
    outside: (field, warning): something else gives the pod this field as long as it has none of its own, as the
        operator's configuration does: such a pod gets only what it cannot run without, with the warning.
    unplaced: the pod has no placement fields; the warning where it needs one.
    never_run: (path, reason): image fields of the kind, and all below, that do not run in the pods of its rows.
    seen: with what the row was seen to hold, as "CloudNativePG 1.28.0 of 2025-12-09": its operator made pods from what
        archfit wrote; STATED for a row of the user; "" for one that rests on reading.
    copied: the operator copies the annotations of the object to its pods, so that it gets no stamp.
    operator: the module of `workloads.operators` that says what the operator does beyond this, "" for none.
    """

    group: str
    kind: str
    pod_spec: Path = ()
    immutable: bool = False
    versions: tuple[str, ...] = ()
    there: Path = ()
    unless: tuple[tuple[Path, str], ...] = ()
    when: tuple[tuple[Path, str], ...] = ()
    images: tuple[tuple[Path, ...], ...] = ()
    main: str = ""
    default_image: str = ""
    unseen: tuple[tuple[Path, str], ...] = ()
    affinity: Path | None = ()
    tolerations: Path | None = ()
    node_selector: Path | None = ()
    metadata: Path | None = ()
    inherits: tuple[Path, ...] = ()
    objects: Path = ()
    reason: str = ""
    rendered: bool = False
    replaced_by: tuple[Path, ...] = ()
    default_affinity: Mapping[str, Any] | str = ""
    pins: bool = False
    unplaced: str = ""
    never_run: tuple[tuple[Path, str], ...] = ()
    also: tuple[Path, ...] = ()
    added: tuple[tuple[Path, str], ...] = ()
    seen: str = ""
    embedding: Embedding = NO_EMBEDDING
    outside: tuple[tuple[str, str], ...] = ()
    copied: bool = False
    operator: str = ""


STATED = "workloads: of the configuration"
"""`Workload.seen` of the user's rows."""
ANNOTATE = "; if you know its platforms, state them with the annotation archfit.dev/image-platforms"
"""The end of a reason why the platforms of an image cannot be looked up."""

GKE = TolerationRule(("arm64",), Toleration("kubernetes.io/arch", "Equal", "arm64", "NoSchedule"))


class Options(Record):
    """Placement. The rows of `options.table` say what each field means; the defaults are those of docs/decisions.md.

    cluster_architectures: `amd64` for Linux nodes, `windows/amd64` for those of another OS; sorted.
    lock_file: "" is none. It is data of the application, like its manifests, and so anyone may name it.
    enforced_annotations: (annotation, who enforces it) of those that no manifest may have.
    on_unknown_is_enforced: nobody but the operator may choose another `on_unknown`.
    stamps_present: stamps that are there are read, as with `stamp`, and none is asked for.
    """

    # <spec fields>
    cluster_architectures: tuple[str, ...] = ("amd64", "arm64")
    system_taints: tuple[tuple[str, Toleration], ...] = ()
    tolerate: tuple[TolerationRule, ...] = (GKE,)
    affinity: Literal["needed", "always", "never"] = "needed"
    prefer: tuple[tuple[str, int], ...] = ()
    on_absent: Literal["fail", "leave"] = "fail"
    on_unknown: Literal["fail", "assume", "leave"] = "fail"
    assume: tuple[Platform, ...] = ()
    on_conflict: Literal["fail", "leave"] = "fail"
    immutable: Literal["needed", "full"] = "needed"
    hooks: Literal["immutable", "recreated"] = "immutable"
    custom_resources: Literal["all", "read", "seen", "none"] = "read"
    daemon_sets: Literal["warn", "fail"] = "warn"
    strict: bool = False
    on_blank: Literal["pass", "comment", "fail"] = "fail"
    image_platforms: tuple[ImagePlatforms, ...] = ()
    exclude: tuple[Exclude, ...] = ()
    unlabelled_nodes: tuple[str, ...] = ()
    lock_file: str = ""
    locked: bool = False
    stamp: bool = False
    rules: tuple[Rule, ...] = ()
    workloads: tuple[Workload, ...] = ()
    # </spec fields>
    enforced_annotations: tuple[tuple[str, str], ...] = ()
    on_unknown_is_enforced: bool = False
    stamps_present: bool = False


class Operator(Record):
    """Trust: what only the operator may set. The rows of `options.table` say what each field means.

    cache: path of the SQLite file, or a server; "" is a file in the user's cache directory.
    cache_password_file, cache_ca_file: for a server; "" is the environment's password, the system's certificates.
    authfile: "" is the usual chain. hosts_dir, registries_conf, ca_file: "" is nowhere.
    allow_hosts, deny_hosts: a pattern without port means 443 in the first and every port in the second.
    report: "" writes only the last-run report.
    """

    # <operator fields>
    mirrors: tuple[Mirror, ...] = ()
    hosts_dir: str = ""
    registries_conf: str = ""
    ca_file: str = ""
    allow_hosts: tuple[HostPattern, ...] = ()
    deny_hosts: tuple[HostPattern, ...] = ()
    requests_per_second: tuple[RequestRate, ...] = ()
    cache: str | CacheServer = ""
    cache_password_file: str = ""
    cache_ca_file: str = ""
    cache_ttl_seconds: int = 21600
    max_stale_seconds: int = 604800
    no_cache: bool = False
    offline: bool = False
    timeout_seconds: float = 30
    authfile: str = ""
    pull_secrets: bool = False
    report: str = ""
    quiet: bool = False
    verbose: bool = False
    color: Literal["auto", "always", "never"] = "auto"
    # </operator fields>


class Settings(Record):
    """The whole configuration of a run, and its sources.

    sources: where configuration came from, in order of precedence, as the report's head names them.
    filters: (key, flag or place) of filters that were given for this run, not in a file for many.
    given: (key, flag, variable or place) of every option that somebody gave.
    """

    options: Options = Options()
    operator: Operator = Operator()
    sources: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    given: tuple[tuple[str, str], ...] = ()


class Given(Record):
    """A value and its source: `--strict`, `ARCHFIT_STRICT` or `archfit.yaml line 4, spec.strict`."""

    value: object
    where: str


class Layer(Record):
    """What one source gives, by key.

    source: its name for the report's head. enforced: keys that no other layer may change.
    """

    source: str
    given: Mapping[str, Given]
    enforced: tuple[str, ...] = ()
