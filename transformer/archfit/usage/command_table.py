"""The commands, one row each: from it come dispatch, parsers, help, completion, the man page and the README's list.

name         the words after `archfit`; "setup" is a group: its commands are the rows "setup ..."
summary      one sentence, for lists of commands
usage        what follows `archfit`, one line for each form
run          module:function, which takes `leading`, the words after the name, and what `streams` names
streams      some of stdin, stdout, stderr, environ, in the order in which `run` takes them
arguments    (what stands there, what it means)
flags        the command's own; its other flags are those of `options`, rows of `options.table`
words        what its first argument may be, for completion
about        paragraphs; a line that begins with two blanks is an example and stays as it is
exits        (exit code, meaning)

A test compares each row with what the command's parser takes. A run without arguments loads none of this.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.options.arguments import Parser
from archfit.options.table import BY_KEY, OPERATOR, SPEC, TABLE, Option
from archfit.record import Record

ALL_STREAMS = ("stdin", "stdout", "stderr", "environ")
_NO_INPUT = ("stdout", "stderr", "environ")
_DONE = (0, "done")
_WRONG_USAGE = (2, "wrong usage")
_DONE_OR_FAILED = (_DONE, (1, "failed: standard output is empty"), _WRONG_USAGE)
_SET_UP = (_DONE, (1, "failed, or --check found something wrong"), _WRONG_USAGE)
# A pod at admission is new and is no file: nothing of it is immutable, and nothing can be taken back later. A policy
# leaves a pod that no node can run as it is, or refuses it (--deny).
_NOT_AT_ADMISSION = ("daemonSets", "hooks", "immutable", "onConflict", "stamp")
_MANIFESTS = (
    "FILE ..",
    "Rendered manifests. - is standard input, which archfit reads if you name no file.",
)


class Flag(Record):
    """A flag of one command. names: the short one first. metavar: "" for a switch.

    words: its values, where they are known. bare: its value where none follows, "" if one has to. default: None where
    there is none.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    words: tuple[str, ...] = ()
    repeatable: bool = False
    bare: str = ""
    several: bool = False
    default: str | None = None


class Command(Record):
    """One row; see the module."""

    name: str
    summary: str
    usage: tuple[str, ...]
    run: str = ""
    streams: tuple[str, ...] = ALL_STREAMS
    leading: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = ()
    options: tuple[Option, ...] = ()
    words: tuple[str, ...] = ()
    about: str = ""
    exits: tuple[tuple[int, str], ...] = (_DONE, (1, "failed"), _WRONG_USAGE)

    @property
    def program(self) -> str:
        """What the user types, as in `archfit setup cluster`."""
        return f"archfit {self.name}"

    def parser(self) -> Parser:
        """A parser with the command's own flags; the options are added when it reads."""
        parser = Parser(self.program)
        for flag in self.flags:
            if not flag.metavar:
                parser.add_argument(*flag.names, action="store_true")
            elif flag.bare:
                parser.add_argument(
                    *flag.names, metavar=flag.metavar, action="append", nargs="?", const=flag.bare, default=[]
                )
            elif flag.several:
                parser.add_argument(*flag.names, metavar=flag.metavar, action="extend", nargs="+", default=[])
            elif flag.repeatable:
                parser.add_argument(*flag.names, metavar=flag.metavar, action="append", default=[])
            else:
                parser.add_argument(*flag.names, metavar=flag.metavar, default=flag.default)
        return parser


def _without(*keys: str) -> tuple[Option, ...]:
    return tuple(option for option in OPERATOR if option.key not in keys)


def _these(*keys: str) -> tuple[Option, ...]:
    return tuple(BY_KEY[key] for key in keys)


_AS_JSON = Flag(("--json",), "", "Write the same as JSON.")
_CHECK = Flag(("--check",), "", "Write nothing. Say what is wrong with an installation.")
_OUTPUT = Flag(
    ("-o", "--output"),
    "FILE",
    "Where to write; default: standard output. An existing file is never overwritten.",
)

POLICY_FLAGS = (
    Flag(
        ("--carrier",),
        "literal|crd",
        "Where the platforms of the images stand: literal, in the policy itself; crd, in a custom resource, "
        "for more than about 5,000 images.",
        words=("literal", "crd"),
        default="literal",
    ),
    Flag(
        ("--namespace-selector",),
        "SELECTOR",
        "Which namespaces the policy is about, by their labels and in kubectl's syntax, such as team=web or "
        "'!legacy'. kube-system and archfit are always left out.",
        repeatable=True,
    ),
    Flag(
        ("--api-version",),
        "v1|v1beta1",
        "Of admissionregistration.k8s.io: v1 for Kubernetes 1.36 and later; v1beta1 for 1.34 and 1.35 with "
        "the feature gate MutatingAdmissionPolicy.",
        words=("v1", "v1beta1"),
        default="v1",
    ),
    Flag(("--name",), "NAME", "The name of the policy's objects.", default="archfit.dev"),
    Flag(
        ("--deny",),
        "",
        "Refuse a pod that no node can run. Without it, the API server admits the pod and warns.",
    ),
)
"""What a policy is, beside the options of placement."""

COMMANDS = (
    Command(
        "transform",
        "Adds to rendered manifests what each pod needs; stdin to stdout.",
        ("[transform] [OPTION].. < rendered.yaml > placed.yaml",),
        "archfit.commands.transform:run",
        options=TABLE,
        about="""\
archfit finds out which CPU architectures every container image supports, and adds the tolerations or the \
kubernetes.io/arch node affinity that each pod needs. The rest of the manifests stays as it is.

  helm template . | archfit | kubectl apply -f -
  helm upgrade --install web ./chart --post-renderer archfit

Helm 4 needs a plugin: run archfit setup helm.""",
        exits=_DONE_OR_FAILED,
    ),
    Command(
        "check",
        "Says what archfit would change, or which images lack a platform.",
        ("check [OPTION].. [FILE|-]..",),
        "archfit.commands.check:run",
        arguments=(_MANIFESTS,),
        flags=(
            Flag(
                ("--require",),
                "PLATFORM,..",
                "Check that every image runs on these platforms instead. PLATFORM is an architecture, as arm64, or "
                "os/architecture. The report lists each image that does not, with its workloads. It includes pods "
                "that archfit leaves alone (skip, excluded, ...). Pods for another operating system are listed apart "
                "and do not fail the check.",
                repeatable=True,
            ),
            Flag(
                ("--format",),
                "text|json|github|sarif",
                "How to write the report: as text, as JSON, as workflow commands of GitHub Actions, or as SARIF "
                "2.1.0.",
                words=("text", "json", "github", "sarif"),
                default="text",
            ),
        ),
        options=TABLE,
        about="""\
archfit check writes no manifests. A pipeline uses it to notice that a renderer ran without archfit:

  helm get manifest web | archfit check
  archfit check --format github rendered/*.yaml
  helm template . | archfit check --require arm64""",
        exits=(
            (0, "nothing found"),
            (1, "the check could not be made"),
            _WRONG_USAGE,
            (3, "the check found something"),
        ),
    ),
    Command(
        "patch",
        "Writes the changes as JSON 6902 patches, for Flux and Fleet.",
        ("patch [OPTION].. [FILE|-]..",),
        "archfit.commands.patch:run",
        arguments=(_MANIFESTS,),
        flags=(
            Flag(
                ("--format",),
                "FORM",
                "kustomize: a component with its list of patches. flux-helmrelease: spec.postRenderers of a "
                "HelmRelease. flux-kustomization: spec.patches of a Kustomization of Flux. fleet: a kustomization "
                "for the folder that fleet.yaml names. json: a list of objects, each with its JSON Patch (RFC 6902).",
                words=("kustomize", "flux-helmrelease", "flux-kustomization", "fleet", "json"),
                default="kustomize",
            ),
        ),
        options=TABLE,
        about="""\
Flux and Fleet run no programs, but apply patches. Each patch tests what it found before it adds something, and \
fails if that has changed. Run archfit patch again then.

  kustomize build overlay | archfit patch > archfit/kustomization.yaml
  helm template web ./chart -n shop | archfit patch --format flux-helmrelease""",
        exits=_DONE_OR_FAILED,
    ),
    Command(
        "policy",
        "Writes a policy that places pods as they enter a cluster.",
        (
            "policy [OPTION].. [FILE|-]..",
            "policy --live [--apply] [OPTION]..",
            "policy --check [OPTION].. [FILE|-]..",
        ),
        "archfit.commands.policy:run",
        arguments=(
            (
                "FILE ..",
                "Rendered manifests, whose images archfit locks first. - is standard input. If you name no file, the "
                "policy is made from archfit.lock, or from the lock file that --lock-file names.",
            ),
        ),
        flags=(
            *POLICY_FLAGS,
            Flag(
                ("--stats",),
                "",
                "Write what the policy costs instead: bytes, images, lists of platforms, the length of its "
                "expressions, and their estimated cost for one pod.",
            ),
            Flag(
                ("--check",),
                "",
                "Send the pods of the manifests to the cluster as a dry run. Report where the installed policy's "
                "answer differs from archfit's own decision.",
            ),
            Flag(
                ("--live",),
                "",
                "Make the policy from the images of the cluster's pods and workloads. archfit reads them through "
                "kubectl, or in a pod with its service account.",
            ),
            Flag(("--apply",), "", "Apply the policy to the cluster instead of writing it."),
            Flag(("--context",), "NAME", "The context of kubectl, for --live, --apply and --check."),
            Flag(("--kubeconfig",), "FILE", "The configuration of kubectl, for --live, --apply and --check."),
            Flag(("--json",), "", "With --stats or --check: write the same as JSON."),
        ),
        options=(
            *(option for option in SPEC if option.key not in _NOT_AT_ADMISSION),
            *_without("pullSecrets", "report"),
        ),
        about="""\
The policy is a MutatingAdmissionPolicy: Kubernetes itself adds the tolerations or the kubernetes.io/arch node \
affinity to each new pod. It needs no server and asks no registry. A pod with an image that the policy does not \
know stays as it is, and a second policy warns of it.

  archfit policy | kubectl apply --server-side -f -
  archfit policy --live --apply
  helm template . | archfit policy --check -""",
        exits=(
            _DONE,
            (1, "failed, or --check could not compare every pod"),
            _WRONG_USAGE,
            (3, "--check found a difference"),
        ),
    ),
    Command(
        "audit",
        "Reports what runs: where its images could run, and what keeps it off.",
        (
            "audit [OPTION].. [FILE|-]..",
            "audit --live [--context NAME] [OPTION]..",
            "audit --merge REPORT.. [OPTION]..",
        ),
        "archfit.commands.audit:run",
        arguments=(
            (
                "FILE ..",
                "Lists of a cluster, as kubectl get pods,nodes,replicasets,jobs -A -o json writes them, or rendered "
                "manifests. - is standard input, which archfit reads if you name no file.",
            ),
        ),
        flags=(
            Flag(("--live",), "", "Read the cluster through kubectl, or in a pod with its service account."),
            Flag(("--context",), "NAME", "The context of kubectl, for --live."),
            Flag(("--kubeconfig",), "FILE", "The configuration of kubectl, for --live."),
            Flag(("-n", "--namespace"), "NAME", "The only namespace that --live reads; default: all."),
            Flag(
                ("--require",),
                "ARCH,..",
                "The architectures that count. Exit 3 if a pod cannot run there, 1 if one of its images is not known.",
                repeatable=True,
            ),
            Flag(
                ("--min-ready",),
                "SHARE",
                "Exit 3 if less than this share of the CPU requests, such as 80%, is ready for the first architecture.",
            ),
            Flag(("--assume-cpu",), "CPU", "What a pod that requests no CPU counts as, such as 100m."),
            Flag(
                ("--price",),
                "ARCH=PRICE,..",
                "Your price of one CPU for an hour, for the cost of a move. The report shows the arithmetic.",
                repeatable=True,
            ),
            Flag(
                ("--prices",),
                "FILE",
                "Your price of each instance type for an hour: lines instance-type,price.",
            ),
            Flag(
                ("--format",),
                "text|json|csv|markdown|html",
                "How to write the report. json is what --merge and --compare read; html is one page without any "
                "request.",
                words=("text", "json", "csv", "markdown", "html"),
                default="text",
            ),
            Flag(
                ("-o", "--output"),
                "FILE",
                "Where to write; default: standard output. A report that is there is replaced as a whole.",
            ),
            Flag(
                ("--merge",),
                "REPORT ..",
                "Make one report of several that --format json wrote: of shards, or of clusters.",
                several=True,
            ),
            Flag(("--compare",), "REPORT", "Say what changed since a report that --format json wrote."),
            Flag(
                ("--fail-on-regression",),
                "",
                "With --compare: exit 3 if a workload no longer runs on an architecture.",
            ),
            Flag(("--shards",), "N", "Ask only for a part of the images: this run is one of N."),
            Flag(
                ("--shard",),
                "I",
                "Which part, from 0; default: JOB_COMPLETION_INDEX, or CI_NODE_INDEX less one.",
            ),
        ),
        options=(
            *_these("imagePlatforms", "lockFile", "locked", "workloads"),
            *_without("pullSecrets", "report"),
        ),
        about="""\
An audit says which share of a cluster could run on arm64, which images keep the rest off, and which build of an \
image really runs. It only reads: pods, nodes, ReplicaSets and Jobs, and the registries.

  archfit audit --live
  kubectl get pods,nodes,replicasets,jobs -A -o json | archfit audit --format html -o report.html
  archfit audit --live --require arm64 --min-ready 80%""",
        exits=(
            _DONE,
            (1, "failed, or an image that --require needs is not known"),
            _WRONG_USAGE,
            (3, "--require, --min-ready or --fail-on-regression found something"),
        ),
    ),
    Command(
        "lock",
        "Writes a lock file, for runs that ask no registry.",
        ("lock [OPTION].. [FILE|-]..", "lock --from-audit REPORT [OPTION].. [FILE|-].."),
        "archfit.commands.lock:run",
        arguments=(_MANIFESTS,),
        flags=(
            Flag(
                ("--from-audit",),
                "REPORT",
                "Lock the images that run: a report of archfit audit --format json. Then archfit reads no standard "
                "input unless you name -.",
                repeatable=True,
            ),
            Flag(("--add-missing",), "", "Ask only for images that the lock file lacks."),
            Flag(
                ("--update",),
                "[GLOB]",
                "Ask again only for images whose whole reference matches, as in 'docker.io/library/*'. Without GLOB, "
                "ask for all, as without any flag.",
                repeatable=True,
                bare="*",
            ),
            Flag(("--prune",), "", "Remove the entries of images that the input does not need."),
            Flag(("--check",), "", "Write nothing. Exit with 3 if the lock file would change."),
            Flag(("--json",), "", "Write what changed to standard output, as JSON."),
        ),
        # Decisions have no report here, and what a lock file holds does not depend on the age of cached answers.
        options=(
            *_these("lockFile", "imagePlatforms", "exclude", "unlabelledNodes", "onBlank"),
            *_without("cacheTtl", "maxStale", "offline", "pullSecrets", "report"),
        ),
        about="""\
The lock file holds the platforms of all images. It is archfit.lock, or the one that --lock-file names. \
Runs use it with \
archfit --lock-file archfit.lock --locked

  helm template . | archfit lock
  archfit lock --prune rendered/*.yaml""",
        exits=(
            _DONE,
            (1, "failed: nothing was written"),
            _WRONG_USAGE,
            (3, "--check found that the lock file is stale"),
        ),
    ),
    Command(
        "inspect",
        "Shows what registries have for images, and where they run.",
        ("inspect [OPTION].. IMAGE..",),
        "archfit.commands.inspect:run",
        _NO_INPUT,
        arguments=(("IMAGE ..", "Images as a pod names them."),),
        flags=(
            _AS_JSON,
            Flag(("--raw",), "", "Write the exact bytes of the manifest. Name one image."),
        ),
        # The registry is asked in any case, and there are no decisions to report.
        options=(*_these("imagePlatforms"), *_without("cacheTtl", "maxStale", "pullSecrets", "report")),
        about="""\
It shows digest, media type, platforms with their digests and sizes, and the architectures on which archfit lets the \
image run.

  archfit inspect nginx:1.27 ghcr.io/team/app:2""",
        exits=(_DONE, (1, "an image has no answer; the others are shown"), _WRONG_USAGE),
    ),
    Command(
        "login-check",
        "Says which credential a registry gets, and whether it accepts it.",
        ("login-check [OPTION].. HOST|IMAGE",),
        "archfit.commands.login_check:run",
        _NO_INPUT,
        arguments=(("HOST|IMAGE", "A registry, as ghcr.io or localhost:5000, or an image."),),
        flags=(_AS_JSON,),
        options=_without(
            "cache",
            "cachePasswordFile",
            "cacheCaFile",
            "cacheTtl",
            "maxStale",
            "noCache",
            "pullSecrets",
            "report",
        ),
        about="""\
It names the kind of the credential and the file or helper that it comes from. It never shows the credential itself. \
With --offline it does not ask the registry.

  archfit login-check ghcr.io
  archfit login-check ghcr.io/team/app:1""",
        exits=(
            (0, "accepted (with --offline: there is a credential)"),
            (1, "not accepted"),
            _WRONG_USAGE,
        ),
    ),
    Command(
        "serve",
        "Runs the admission webhook, which places pods as they are created.",
        ("serve --tls-dir DIR [OPTION]..",),
        "archfit.commands.serve:run",
        ("stderr", "environ"),
        flags=(
            Flag(
                ("--listen",),
                "[ADDRESS]:PORT",
                "Where the webhook listens; default: :8443, every address.",
                default=":8443",
            ),
            Flag(
                ("--probe-listen",),
                "[ADDRESS]:PORT",
                "Where probes and metrics are, in plain HTTP; default: :8080.",
                default=":8080",
            ),
            Flag(
                ("--tls-dir",),
                "DIR",
                "The folder with tls.crt and tls.key, as a Secret of type kubernetes.io/tls is mounted. archfit "
                "reads both again when they change.",
                default="",
            ),
            Flag(("--tls-cert",), "FILE", "The certificate chain (PEM), instead of --tls-dir.", default=""),
            Flag(("--tls-key",), "FILE", "The key of --tls-cert (PEM).", default=""),
            Flag(
                ("--insecure-http",),
                "",
                "Serves plain HTTP, for tests: only with a --listen address of this machine alone, such as "
                "127.0.0.1:8443.",
            ),
            Flag(
                ("--pull-secret",),
                "NAMESPACE/NAME",
                "A Secret whose credentials count for the pods of that namespace that refer to it. archfit reads it "
                "with its service account.",
                repeatable=True,
            ),
            Flag(
                ("--drain-delay",),
                "DURATION",
                "How long the server takes requests after SIGTERM, until the Service has removed it; default: 5s.",
                default="5s",
            ),
            Flag(
                ("--log-level",),
                "debug|info|warning|error",
                "The lowest level of the log, which is JSON on standard error; default: info.",
                words=("debug", "info", "warning", "error"),
                default="info",
            ),
        ),
        # It has no report, keeps no stamp, and a pod that is created is neither immutable nor a hook.
        options=(
            *_these(
                "clusterArchitectures",
                "tolerate",
                "affinity",
                "prefer",
                "onAbsent",
                "onUnknown",
                "assume",
                "onConflict",
                "strict",
                "imagePlatforms",
                "exclude",
                "unlabelledNodes",
                "lockFile",
                "locked",
            ),
            *_without("pullSecrets", "report"),
        ),
        about="""\
The API server asks it about each pod that is created. It answers with the tolerations or the node affinity that the \
pod needs. A pod whose images cannot be looked up in time is admitted as it is, with a warning. The defaults of three \
options differ here: --on-absent, --on-unknown and --on-conflict are leave. It needs the extra: \
pip install 'archfit[serve]'

  archfit serve --tls-dir /etc/archfit/tls --config /etc/archfit/archfit.yaml

See docs/serve.md.""",
        exits=(
            (0, "stopped by a signal"),
            (1, "the server cannot start: certificate, port, or an extra that is missing"),
            _WRONG_USAGE,
        ),
    ),
    Command(
        "helm",
        "Does what transform does, with defaults for Helm; Helm 4 starts it.",
        ("helm [OPTION].. < rendered.yaml > placed.yaml",),
        "archfit.commands.helm:run",
        options=TABLE,
        about="The defaults of two options differ here: --on-blank is comment, --hooks is recreated.",
        exits=_DONE_OR_FAILED,
    ),
    Command(
        "argocd",
        "Renders an Argo CD application; Argo CD starts it.",
        ("argocd generate|parameters|discover [OPTION]..",),
        "archfit.integrations.argocd.command:run",
        _NO_INPUT,
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
            Flag(("--helm",), "PATH", "The program helm; default: the one on PATH."),
            Flag(("--helm-option",), "WORD", "A word to add to `helm template`.", repeatable=True),
            Flag(
                ("--helm-dependencies",),
                "",
                "Run `helm dependency build` first where charts/ lacks what Chart.yaml names.",
            ),
            Flag(("--kustomize",), "PATH", "The program kustomize; default: the one on PATH."),
            Flag(
                ("--kustomize-option",),
                "WORD",
                "A word to add to `kustomize build`, as --enable-helm.",
                repeatable=True,
            ),
        ),
        options=TABLE,
        words=("generate", "parameters", "discover"),
        about="The defaults of two options differ here: --on-blank is fail, --hooks is recreated.",
        exits=_DONE_OR_FAILED,
    ),
    Command(
        "setup",
        "Connects archfit to another tool.",
        ("setup TOOL [OPTION]..",),
    ),
    Command(
        "setup cluster",
        "Writes a configuration file from the nodes of a cluster.",
        ("setup cluster [OPTION].. [FILE|-]",),
        "archfit.integrations.cluster.setup:run",
        ("stdin", "stdout", "stderr"),
        arguments=(
            ("FILE", "The output of `kubectl get nodes -o json` (or yaml); default: standard input."),
        ),
        flags=(
            Flag(
                ("--arch-taint",),
                "KEY",
                "Another taint that marks nodes by architecture, beside kubernetes.io/arch and "
                "beta.kubernetes.io/arch.",
                repeatable=True,
            ),
            _OUTPUT,
        ),
        about="  kubectl get nodes -o json | archfit setup cluster -o archfit.yaml",
    ),
    Command(
        "setup workloads",
        "Writes rows for custom resources from their definitions (CRDs).",
        ("setup workloads --crds FILE|DIR|- .. [OPTION]..",),
        "archfit.integrations.cluster.workload_setup:run",
        ("stdin", "stdout", "stderr"),
        flags=(
            Flag(
                ("--crds",),
                "FILE",
                "The definitions, as YAML or JSON: files, folders, or - for standard input. In a folder, archfit "
                "reads every *.yaml, *.yml and *.json.",
                repeatable=True,
                several=True,
            ),
            Flag(
                ("--include-known",),
                "",
                "Write rows for the kinds that archfit knows, too. They replace its own.",
            ),
            _OUTPUT,
        ),
        about="""\
archfit reads the schemas of CustomResourceDefinitions. Check the rows before you use them. \
Comments beside the rows name what the schema leaves open.

  kubectl get crd -o yaml | archfit setup workloads --crds - -o archfit.yaml
  archfit setup workloads --crds charts/operator/crds -o archfit.yaml""",
    ),
    Command(
        "setup helm",
        "Installs the plugin that Helm 4 needs, or checks it.",
        ("setup helm [OPTION]..",),
        "archfit.integrations.helm.setup:run",
        _NO_INPUT,
        flags=(
            Flag(
                ("--into",),
                "DIR",
                "Write into this plugins directory instead. It must not be one that Helm 3 reads.",
            ),
            Flag(
                ("--check",),
                "",
                "Write nothing. Render a chart with one Pod through Helm and archfit, and report what is wrong.",
            ),
            Flag(("--helm",), "PATH", "The Helm to set up or check; default: helm, helm4 and helm3 on PATH."),
        ),
        about="""\
Helm 3 needs no setup:

  helm upgrade --install web ./chart --post-renderer archfit

Helm 4 starts plugins only. archfit writes one into a plugins directory of its own, and prints the line for your \
shell's profile that makes Helm 4 see it. It changes no file of yours.""",
        exits=_SET_UP,
    ),
    Command(
        "setup argocd",
        "Writes the plugin and the sidecar for Argo CD, or checks them.",
        ("setup argocd [OPTION]..", "setup argocd --check [--into DIR]"),
        "archfit.integrations.argocd.setup:run",
        _NO_INPUT,
        flags=(
            Flag(("--into",), "DIR", "Write there; default: argocd-archfit."),
            Flag(
                ("--discover",),
                "",
                "Let the plugin find applications itself. Without it they name the plugin: `plugin: {name: archfit}`.",
            ),
            Flag(
                ("--image",),
                "NAME",
                "The sidecar's image; default: registry.example.com/archfit-argocd:VERSION.",
            ),
            Flag(
                ("--bundle-image",),
                "NAME",
                "The init container's image; default: registry.example.com/archfit-bundle:VERSION.",
            ),
            Flag(("--force",), "", "Overwrite files that differ."),
            _CHECK,
        ),
        about="""\
It writes two Kustomize components: sidecar/ (a config management plugin for Helm, Kustomize and plain files) and \
build-options/ (a function that `kustomize build` in repo-server starts).

Run --check in the sidecar:

  kubectl exec -n argocd deploy/argocd-repo-server -c archfit -- archfit setup argocd --check""",
        exits=_SET_UP,
    ),
    Command(
        "setup kustomize",
        "Makes archfit a function of a kustomization, or checks that.",
        ("setup kustomize [OPTION]..", "setup kustomize --check [--into DIR] [-- COMMAND..]"),
        "archfit.integrations.kustomize.setup:run",
        _NO_INPUT,
        leading=("kustomize",),
        flags=(
            Flag(
                ("--into",),
                "DIR",
                "The outermost kustomization; default: the working directory.",
                default=".",
            ),
            Flag(
                ("--container",),
                "IMAGE",
                "Start archfit in a container instead of the one on PATH.",
                default="",
            ),
            _CHECK,
        ),
        arguments=(
            (
                "COMMAND ..",
                "How you build, for --check, as in -- kustomize build --enable-alpha-plugins --enable-exec .",
            ),
        ),
        about="It writes the function's configuration, archfit.yaml, and names it in the kustomization.",
        exits=_SET_UP,
    ),
    Command(
        "setup kpt",
        "Makes archfit a function of a kpt package, or checks that.",
        ("setup kpt [OPTION]..",),
        "archfit.integrations.kustomize.setup:run",
        _NO_INPUT,
        leading=("kpt",),
        flags=(
            Flag(("--into",), "DIR", "The package; default: the working directory.", default="."),
            _CHECK,
        ),
        about="It writes the function's configuration, archfit.yaml, and names it in the Kptfile.",
        exits=_SET_UP,
    ),
    Command(
        "setup flux",
        "Writes patches for Flux, or checks that they are up to date.",
        ("setup flux [OPTION].. < rendered.yaml",),
        "archfit.commands.setup_flux:run",
        ("stdin", "stderr", "environ"),
        flags=(
            Flag(
                ("--into",),
                "DIR",
                "Where to write archfit-flux.yaml; default: the working directory.",
                default=".",
            ),
            Flag(("--helmrelease",), "", "Write patches for a HelmRelease instead of a Kustomization."),
            Flag(("--check",), "", "Write nothing. Exit with 1 if the file is missing or out of date."),
        ),
        about="""\
Flux runs no functions. archfit reads manifests on standard input and writes the changes as patches, for you to paste \
into a Kustomization or a HelmRelease of Flux.

  kustomize build . | archfit setup flux""",
        exits=_SET_UP,
    ),
    Command(
        "setup policy",
        "Writes a CronJob that keeps an admission policy up to date.",
        ("setup policy [OPTION]..", "setup policy --check [OPTION].."),
        "archfit.integrations.policy.setup:run",
        _NO_INPUT,
        flags=(
            Flag(("--into",), "DIR", "Write there; default: archfit-policy."),
            Flag(("--schedule",), "CRON", "When the job runs, as in '17 * * * *', which is the default."),
            Flag(("--image",), "NAME", "The job's image; default: registry.example.com/archfit:VERSION."),
            Flag(
                ("--configuration",),
                "FILE",
                "The archfit.yaml for the job, as archfit setup cluster writes it.",
            ),
            Flag(
                ("--registry-secret",),
                "NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in the namespace archfit, with the credentials for "
                "registries.",
            ),
            *POLICY_FLAGS,
            Flag(("--force",), "", "Overwrite files that differ."),
            Flag(
                ("--check",),
                "",
                "Write nothing. Say whether the cluster has the policy, and whether the job keeps it up to date.",
            ),
            Flag(("--context",), "NAME", "The context of kubectl, for --check."),
            Flag(("--kubeconfig",), "FILE", "The configuration of kubectl, for --check."),
        ),
        about="""\
The job runs archfit policy --live --apply: it reads which images the cluster uses, asks their registries, and \
applies the policy. Its service account may list pods and workloads, and write the objects of the policy alone.

  archfit setup policy --image ghcr.io/team/archfit:1
  kubectl apply --server-side -f archfit-policy
  archfit setup policy --check""",
        exits=_SET_UP,
    ),
    Command(
        "setup webhook",
        "Writes the manifests of the admission webhook, or checks them.",
        (
            "setup webhook [OPTION]..",
            "setup webhook --renew [--into DIR] [--days N]",
            "setup webhook --check [--live] [--into DIR]",
        ),
        "archfit.integrations.webhook.setup:run",
        _NO_INPUT,
        flags=(
            Flag(("--into",), "DIR", "Write there; default: archfit-webhook."),
            Flag(("--namespace",), "NAME", "The namespace of the webhook; default: archfit."),
            Flag(
                ("--image",),
                "NAME",
                "The webhook's image; default: registry.example.com/archfit:VERSION.",
            ),
            Flag(
                ("--configuration",),
                "FILE",
                "The archfit.yaml for the webhook, as archfit setup cluster writes it.",
            ),
            Flag(
                ("--lock-file",),
                "FILE",
                "An archfit.lock for the webhook. It asks no registry for its images.",
            ),
            Flag(
                ("--registry-secret",),
                "NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in the webhook's namespace, with the credentials "
                "for registries.",
            ),
            Flag(
                ("--pull-secret",),
                "NAMESPACE/NAME",
                "A pull secret that the webhook may read, for the pods of that namespace that refer to it.",
                repeatable=True,
            ),
            Flag(
                ("--egress-port",),
                "PORT",
                "A port that the webhook may call beside DNS; default: 443. The first use replaces the default.",
                repeatable=True,
            ),
            Flag(("--priority-class",), "NAME", "The pods' PriorityClass, as system-cluster-critical."),
            Flag(
                ("--cert-manager",),
                "",
                "Let cert-manager make and renew the certificate. Without it, archfit makes one with openssl.",
            ),
            Flag(("--days",), "N", "How long a new certificate is valid; default: 365."),
            Flag(
                ("--renew",),
                "",
                "Write a new certificate into DIR, and leave everything else there as it is.",
            ),
            Flag(("--force",), "", "Overwrite files that differ."),
            Flag(
                ("--check",),
                "",
                "Write nothing. Say whether key, certificate and caBundle in DIR belong together, and when the "
                "certificate expires.",
            ),
            Flag(
                ("--live",),
                "",
                "With --check: look at the cluster, and create a pod as a dry run to see whether the webhook answers.",
            ),
            Flag(("--context",), "NAME", "The context of kubectl, for --live."),
            Flag(("--kubeconfig",), "FILE", "The configuration of kubectl, for --live."),
        ),
        about="""\
It writes whole manifests: two replicas of archfit serve, and the MutatingWebhookConfiguration that calls them for new \
pods.

  archfit setup webhook --image ghcr.io/team/archfit:1
  kubectl apply --server-side -f archfit-webhook""",
        exits=_SET_UP,
    ),
    Command(
        "setup fleet",
        "Writes an audit in parts, as Jobs or for Argo Workflows, or checks it.",
        (
            "setup fleet --engine job|argo [OPTION]..",
            "setup fleet --engine job|argo --check [OPTION]..",
        ),
        "archfit.integrations.fleet.setup:run",
        _NO_INPUT,
        flags=(
            Flag(
                ("--engine",),
                "job|argo",
                "What runs the parts: job, the Indexed Job of Kubernetes itself; argo, a WorkflowTemplate of Argo "
                "Workflows.",
                words=("job", "argo"),
            ),
            Flag(("--shards",), "N", "Into how many parts the images are divided, 1 to 500; default: 8."),
            Flag(("--parallelism",), "N", "How many parts run at once; default: 8."),
            Flag(("--into",), "DIR", "Write there; default: archfit-fleet."),
            Flag(("--namespace",), "NAME", "The namespace of the audit; default: archfit."),
            Flag(("--image",), "NAME", "The pods' image; default: registry.example.com/archfit:VERSION."),
            Flag(
                ("--configuration",),
                "FILE",
                "The archfit.yaml for the audit: registries, mirrors, requests per second.",
            ),
            Flag(
                ("--registry-secret",),
                "NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in that namespace, with the credentials for "
                "registries.",
            ),
            Flag(
                ("--cache",),
                "URL",
                "The cache server that all parts share, such as redis://cache.example:6379/0.",
            ),
            Flag(
                ("--cache-secret",),
                "NAME",
                "A Secret in that namespace whose key `password` holds the cache server's password.",
            ),
            Flag(
                ("--claim",),
                "NAME",
                "A PersistentVolumeClaim that is there, for all pods to write to. Without it, archfit writes one.",
            ),
            Flag(("--storage-class",), "NAME", "The storage class of the claim that archfit writes."),
            Flag(("--force",), "", "Overwrite files that differ."),
            Flag(
                ("--check",),
                "",
                "Write nothing. Say whether the cluster can run the audit, and how the last run ended.",
            ),
            Flag(("--context",), "NAME", "The context of kubectl, for --check."),
            Flag(("--kubeconfig",), "FILE", "The configuration of kubectl, for --check."),
        ),
        about="""\
One step reads the cluster. Then each shard asks registries for its part of the images, and a last step makes one \
report. The service account may get and list pods, nodes, ReplicaSets and Jobs, and nothing else.

  archfit setup fleet --engine job --shards 16 --image ghcr.io/team/archfit:1
  kubectl apply --server-side -f archfit-fleet
  archfit setup fleet --engine job --check""",
        exits=_SET_UP,
    ),
    Command(
        "cache",
        "Shows where the answers of registries are kept, and removes them.",
        ("cache path|info|prune|clear [OPTION]..",),
        "archfit.commands.cache:run",
        ("stdout", "environ"),
        arguments=(
            ("path", "Show where the cache is."),
            ("info", "Show what it holds."),
            ("prune", "Remove what no run would use any more."),
            ("clear", "Remove everything that archfit stored in it, without asking."),
        ),
        flags=(_AS_JSON,),
        options=_these("cache", "cachePasswordFile", "cacheCaFile", "cacheTtl", "maxStale"),
        words=("path", "info", "prune", "clear"),
    ),
    Command(
        "last",
        "Shows the report of the last run.",
        ("last [--json]",),
        "archfit.commands.last:run",
        ("stdout", "environ"),
        flags=(Flag(("--json",), "", "Write the whole report as JSON."),),
        about="""\
It shows what the last run on this machine decided, and why. The first line shows its time, command and version. \
A run that did not start left no report, so the report of the run before it is shown.""",
    ),
    Command(
        "completion",
        "Writes the completion script for a shell.",
        ("completion bash|zsh|fish",),
        "archfit.commands.completion:run",
        ("stdout",),
        arguments=(
            ("bash", 'In ~/.bashrc: eval "$(archfit completion bash)"'),
            ("zsh", "In a folder of $fpath: archfit completion zsh > _archfit"),
            ("fish", "archfit completion fish > ~/.config/fish/completions/archfit.fish"),
        ),
        words=("bash", "zsh", "fish"),
    ),
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


def first_words() -> list[str]:
    """What may stand right after `archfit`."""
    return [command.name for command in COMMANDS if " " not in command.name]


def words_below(group: Command) -> list[str]:
    """What the commands of a group are called behind its name."""
    return [command.name.removeprefix(f"{group.name} ") for command in members(group)]
