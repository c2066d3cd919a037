"""The commands about a cluster: what enters it, and what runs in it."""

from __future__ import annotations

from archfit.base.documentation import page
from archfit.cli.usage.command_row import (
    AS_JSON,
    DONE,
    WRONG_USAGE,
    Command,
    Flag,
    operator_options_without,
    options_named,
)
from archfit.options.table import SPEC

# A pod at admission is new and is no file: nothing of it is immutable, and nothing can be taken back later.
_AT_ADMISSION = tuple(option for option in SPEC if option.admission != "none")

POLICY_FLAGS = (
    Flag(
        "--carrier literal|crd",
        "Where the platforms of the images stand: literal, in the policy itself; crd, in a custom resource, "
        "for more than about 5,000 images.",
        values="literal crd",
        default="literal",
        brief="Where the images' platforms stand: in the policy itself, or in a custom resource.",
    ),
    Flag(
        "--namespace-selector SELECTOR",
        "Which namespaces the policy is about, by their labels and in kubectl's syntax, such as team=web or "
        "'!legacy'. kube-system and archfit are always left out.",
        repeatable=True,
        brief="Which namespaces it is about, by label.",
    ),
    Flag(
        "--api-version v1|v1beta1",
        "Of admissionregistration.k8s.io: v1 for Kubernetes 1.36 and later; v1beta1 for 1.34 and 1.35 with "
        "the feature gate MutatingAdmissionPolicy.",
        values="v1 v1beta1",
        default="v1",
        brief="v1beta1 is for Kubernetes 1.34 and 1.35.",
    ),
    Flag("--name NAME", "The name of the policy's objects.", default="archfit.dev"),
    Flag(
        "--deny",
        "Refuse a pod that may go to a node that cannot run it, or that no node can run: archfit could not narrow it, "
        "or a webhook changed it later. Without it, the API server admits it and warns. Not with --carrier crd.",
        brief="Refuse a pod that may go to a node that cannot run it.",
    ),
    Flag(
        "--max-age DURATION",
        "The API server warns of each new pod once the policy is older, such as 7d; 0 never. The age is known "
        "for --live, and where SOURCE_DATE_EPOCH is set.",
        default="7d",
        brief="Warn once the policy is older than this; 0 never.",
    ),
)
"""What a policy is, beside the options of placement."""

POLICY = Command(
    "policy",
    "Writes a policy that places pods as they enter a cluster.",
    (
        "policy [OPTION].. [FILE|DIR|-]..",
        "policy --live [--apply] [OPTION]..",
        "policy --check [OPTION].. [FILE|DIR|-]..",
    ),
    "archfit.policy.command:write_policy",
    arguments=(
        (
            "FILE ..",
            "Rendered manifests, whose images archfit locks first. - is standard input. If you name no file, the "
            "policy is made from the lock file that --lock-file names.",
        ),
    ),
    flags=(
        *POLICY_FLAGS,
        Flag(
            "--check",
            "Send the pods of the manifests to the cluster as a dry run. Report where the installed policy's "
            "answer differs from archfit's own decision.",
            brief="Compare the installed policy with archfit.",
        ),
        Flag(
            "--live",
            "Make the policy from the images of the cluster's pods and workloads. archfit reads them through "
            "kubectl, or in a pod with its service account.",
            brief="Make it from the images of the cluster.",
        ),
        Flag(
            "--apply",
            "Apply the policy to the cluster instead of writing it.",
            brief="Apply the policy instead of writing it.",
        ),
        Flag("--context NAME", "The context of kubectl, for --live, --apply and --check."),
        Flag("--kubeconfig FILE", "The configuration of kubectl, for --live, --apply and --check."),
        AS_JSON.replace(help="With --check: write the same as JSON."),
    ),
    options=(
        *_AT_ADMISSION,
        *options_named("customResources", "onBlank", "locked"),
        *operator_options_without("pullSecrets", "report", "verbose"),
    ),
    group="a cluster",
    about="""\
The policy is a MutatingAdmissionPolicy: Kubernetes itself adds the tolerations or the kubernetes.io/arch node \
affinity to each new pod. It needs no server and asks no registry. A pod with an image that the policy does not \
know stays as it is, and a second policy warns of it.

  archfit policy --lock-file archfit.lock | kubectl apply --server-side -f -
  archfit policy --live --apply
  helm template . | archfit policy --check -""",
    exits=(
        DONE,
        (1, "failed, or --check could not compare every pod"),
        WRONG_USAGE,
        (3, "--check found a difference"),
    ),
)
AUDIT = Command(
    "audit",
    "Reports what runs: where its images could run, and what keeps it off.",
    (
        "audit [OPTION].. [FILE|DIR|-]..",
        "audit --live [--context NAME] [OPTION]..",
        "audit --merge REPORT.. [OPTION]..",
    ),
    "archfit.audit.command:audit",
    arguments=(
        (
            "FILE ..",
            "Lists of kubectl get -o json, or rendered manifests. The lists that an audit needs are those that "
            "its examples name. - is standard input, which archfit reads if you name no file.",
        ),
    ),
    flags=(
        Flag(
            "--live",
            "Read the cluster through kubectl, or in a pod with its service account.",
            brief="Read the cluster through kubectl.",
        ),
        Flag("--context NAME", "The context of kubectl, for --live.", rare=True),
        Flag("--kubeconfig FILE", "The configuration of kubectl, for --live.", rare=True),
        Flag("-n, --namespace NAME", "The only namespace that --live reads; default: all."),
        Flag(
            "--logs",
            "With --live: read the last lines of containers that end at once on one architecture alone, to see whether "
            "their program is built for it. archfit keeps and shows none of them.",
            brief="Read the last lines of containers that end at once.",
            rare=True,
        ),
        Flag(
            "--programs",
            "Read the layers of images down to the programs that their containers start. An image that starts one of "
            "another machine is not ready there.",
            brief="Read which programs images start, and for which machine.",
        ),
        Flag(
            "--cluster NAME",
            "The name of the cluster in the report; default: kubectl's context, or the uid of the namespace "
            "kube-system.",
            brief="The name of the cluster in the report.",
        ),
        Flag(
            "--require ARCH,..",
            "The architectures that count. Exit 3 if an image of a workload does not run there or is not known. "
            "DaemonSets count, too.",
            repeatable=True,
            brief="Exit 3 if a workload cannot run on one of these.",
        ),
        Flag(
            "--min-ready SHARE",
            "Exit 3 if less than this share of the CPU requests, such as 80%, is known to be ready for the first "
            "architecture.",
            brief="Exit 3 if less of the CPU requests is ready, as 80%.",
        ),
        Flag(
            "--allow-unknown",
            "With --require and --min-ready: what is not known fails nothing.",
            brief="What is not known fails nothing.",
        ),
        Flag(
            "--newer-tags[=N]",
            "For images that are known to lack the first architecture: read the tags of their repositories, N of "
            "them at most (50 by default), and name the nearest tag that has it. It is a hint, and changes no exit "
            "code.",
            bare="50",
            brief="Name the nearest tags that run there.",
        ),
        Flag(
            "--assume-cpu CPU",
            "What a pod that requests no CPU counts as, such as 100m.",
            brief="What a pod without CPU requests counts as.",
            rare=True,
        ),
        Flag(
            "--price ARCH=PRICE,..",
            "Your price of one CPU for an hour, for the cost of a move. The report shows the arithmetic.",
            repeatable=True,
            brief="Your price of one CPU for an hour.",
        ),
        Flag("--currency WORD", "The currency of your prices, such as EUR.", rare=True),
        Flag(
            "--prices FILE",
            "Your price of each instance type for an hour: lines instance-type,price.",
            brief="Your price of each instance type for an hour.",
            rare=True,
        ),
        Flag(
            "--format FORMAT",
            "text, json, csv, markdown, html, openmetrics or rules; default: as the name of --output ends (.html, "
            ".json, .csv, .md, .prom), else text. "
            "json is what --merge and --compare read; html is one page without any request; rules is a configuration "
            "file for the next wave; kustomize (an images: block) and renovate (packageRules) need --newer-tags.",
            values="text json csv markdown html openmetrics rules kustomize renovate",
            brief="text|json|csv|markdown|html|openmetrics|rules|..",
        ),
        Flag(
            "--by namespace|label=KEY",
            "The readiness of each namespace, or of each value of a label of pods (label=team) or of an annotation "
            "(annotation=KEY), too.",
            repeatable=True,
            brief="The readiness of each, too.",
        ),
        Flag(
            "--wave N",
            "The wave whose rules --format rules writes, 0 to 4; default: the next one.",
            brief="The wave of --format rules; default: the next one.",
        ),
        Flag(
            "--own GLOB",
            "Images that you build, such as ghcr.io/acme/*, beside those in registries of cloud accounts (ECR, ACR, "
            "Artifact Registry) and in a Harbor.",
            repeatable=True,
            brief="Images that you build, such as ghcr.io/acme/*.",
        ),
        Flag(
            "--not-own GLOB",
            "Images that you do not build, although they are in such a registry, as those of its pull-through cache: "
            "harbor.acme.example/hub/*.",
            repeatable=True,
            brief="Images of others in your registries.",
            rare=True,
        ),
        Flag(
            "--images",
            "One line an image in place of the report, as text, csv or json: on which architectures it runs, which it "
            "lacks, which are not known.",
            brief="One line an image: runs, lacks, not known.",
        ),
        Flag("--all", "After the first screen of the text, all tables."),
        Flag(
            "-o, --output FILE",
            "Where to write; default: standard output. A report that is there is replaced as a whole.",
        ),
        Flag(
            "--merge REPORT ..",
            "Make one report of several that --format json wrote: of shards, or of clusters.",
            several=True,
            brief="Make one report of several JSON reports.",
        ),
        Flag(
            "--compare REPORT",
            "Say what changed since a report that --format json wrote.",
            brief="Say what changed since a JSON report.",
        ),
        Flag(
            "--fail-on-regression",
            "With --compare: exit 3 if a workload no longer runs on an architecture.",
            brief="Exit 3 if something no longer runs somewhere.",
        ),
        Flag(
            "--shards N",
            "Ask only for a part of the images: this run is one of N.",
            brief="Ask only for a part of the images: one of N.",
        ),
        Flag(
            "--shard I",
            "Which part, from 0; default: JOB_COMPLETION_INDEX, or CI_NODE_INDEX less one.",
            brief="Which part, from 0.",
        ),
    ),
    options=(
        *options_named("imagePlatforms", "lockFile", "locked", "workloads"),
        *operator_options_without("pullSecrets", "report", "verbose"),
    ),
    group="a cluster",
    about="""\
An audit says which share of a cluster could run on arm64, which images keep the rest off, and which build of an \
image really runs. It only reads: pods, nodes, what makes pods, and the registries. --timeout is 10m by \
default.

  archfit audit --live
  kubectl get po,no,deploy,sts,ds,rs,jobs,cj -A -o json | archfit audit --format html -o report.html
  archfit audit --live --require arm64 --min-ready 80%""",
    exits=(
        DONE,
        (1, "failed, or not one image was answered"),
        WRONG_USAGE,
        (3, "--require, --min-ready or --fail-on-regression found something"),
    ),
)
SERVE = Command(
    "serve",
    "Runs the admission webhook, which places pods as they are created.",
    ("serve --tls-dir DIR [OPTION]..",),
    "archfit.webhook.command:serve",
    ("stderr", "environ"),
    flags=(
        Flag(
            "--listen [ADDRESS]:PORT",
            "Where the webhook listens; default: :8443, every address.",
            default=":8443",
        ),
        Flag(
            "--probe-listen [ADDRESS]:PORT",
            "Where probes and metrics are, in plain HTTP; default: :8080.",
            default=":8080",
        ),
        Flag(
            "--tls-dir DIR",
            "The folder with tls.crt and tls.key, as a Secret of type kubernetes.io/tls is mounted. archfit "
            "reads both again when they change.",
            default="",
        ),
        Flag(
            "--client-ca FILE",
            "The CA (PEM) of the clients that may connect to the webhook; default: every client. The API server "
            "has to be told to present a certificate. archfit reads it again when it changes.",
            default="",
        ),
        Flag(
            "--insecure-http",
            "Serves plain HTTP, for tests: only with a --listen address of this machine alone, such as "
            "127.0.0.1:8443.",
        ),
        Flag(
            "--pull-secret NAMESPACE/NAME",
            "A Secret whose credentials count for the pods of that namespace that refer to it. archfit reads it "
            "with its service account.",
            repeatable=True,
        ),
        Flag(
            "--memory-limit QUANTITY",
            "What the process may take, as a pod's resources write it, such as 512Mi; the server keeps to half of "
            "it. Default: the limit of its cgroup, else 512Mi.",
            default="",
        ),
        Flag(
            "--drain-delay DURATION",
            "How long the server takes requests after SIGTERM, until the Service has removed it; default: 5s.",
            default="5s",
        ),
        Flag(
            "--log-level debug|info|warning|error",
            "The lowest level of the log, which is JSON on standard error; default: info.",
            values="debug info warning error",
            default="info",
        ),
    ),
    options=(
        *_AT_ADMISSION,
        *options_named("onConflict", "locked"),
        *operator_options_without("pullSecrets", "report", "verbose"),
    ),
    group="a cluster",
    about=f"""\
The API server asks it about each pod that is created. It answers with the tolerations or the node affinity that the \
pod needs. A pod whose images cannot be looked up in time is admitted as it is, with a warning. The defaults of three \
options differ here: --on-absent, --on-unknown and --on-conflict are leave. It needs the extra \
serve, see {page("install")}.

  archfit serve --tls-dir /etc/archfit/tls --config /etc/archfit/archfit.yaml

See {page("serve")}.""",
    exits=(
        (0, "stopped by a signal"),
        (1, "the server cannot start: certificate, port, or an extra that is missing"),
        WRONG_USAGE,
    ),
)
