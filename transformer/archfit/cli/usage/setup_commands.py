"""`archfit setup TOOL`: the commands that write files for other programs."""

from __future__ import annotations

from archfit.cli.usage.cluster_commands import POLICY_FLAGS
from archfit.cli.usage.command_row import (
    ALL_STREAMS,
    CHECK_FLAG,
    CONFIG,
    NO_INPUT,
    OUTPUT,
    REMOVE_FLAG,
    SET_UP,
    Command,
    Flag,
)

SETUP = (
    Command("setup", "Connects archfit to another tool.", ("setup TOOL [OPTION]..",), group="other tools"),
    Command(
        "setup cluster",
        "Writes a configuration file from nodes and node pools.",
        ("setup cluster [OPTION].. [FILE|-]..", "setup cluster --live [--context NAME] [OPTION].."),
        "archfit.cluster.setup:run",
        ALL_STREAMS,
        arguments=(
            (
                "FILE ..",
                "The output of `kubectl get nodes -o json` (or yaml); default: standard input. Beside it, that of "
                "`kubectl get nodepools,ec2nodeclasses`, `machinedeployments -A` or `computeclasses`: an architecture "
                "that a pool may bring counts.",
            ),
        ),
        flags=(
            Flag(
                "--live",
                "Read nodes and node pools of the cluster through kubectl, or in a pod with its service account. What "
                "the user may not list is named.",
                brief="Read nodes and node pools of the cluster through kubectl.",
            ),
            Flag("--context NAME", "The context of kubectl, for --live."),
            Flag("--kubeconfig FILE", "The configuration of kubectl, for --live."),
            Flag(
                "--arch-taint KEY",
                "Another taint that marks nodes by architecture, beside kubernetes.io/arch, "
                "beta.kubernetes.io/arch and those whose value is an architecture, as arch=arm64.",
                repeatable=True,
            ),
            OUTPUT,
        ),
        about="""\
  archfit setup cluster --live -o archfit.yaml
  kubectl get nodes -o json | archfit setup cluster -o archfit.yaml
  kubectl get nodepools,ec2nodeclasses -o json > pools.json
  kubectl get nodes -o json | archfit setup cluster - pools.json""",
    ),
    Command(
        "setup autoscaler",
        "Shows what makes an autoscaler try Arm nodes first.",
        ("setup autoscaler [OPTION].. [FILE|-]..",),
        "archfit.cluster.pools.autoscaler_setup:run",
        ("stdin", "stdout", "stderr"),
        arguments=(
            (
                "FILE ..",
                "NodePools of Karpenter, MachineDeployments, nodes of EKS or AKS, and the ConfigMap "
                "cluster-autoscaler-priority-expander where there is one, as kubectl prints them; default: standard "
                "input.",
            ),
        ),
        flags=(
            Flag(
                "--architecture ARCH",
                "The architecture whose nodes come first; default: arm64.",
                default="arm64",
            ),
            Flag(
                "--namespace NAME",
                "The namespace of cluster-autoscaler, for a new ConfigMap; default: kube-system.",
                default="kube-system",
            ),
            Flag(
                "-o, --output FILE",
                "Write the changed fields as manifests, in place of a diff. An existing file is never overwritten.",
                brief="Write manifests in place of a diff.",
            ),
        ),
        about="""\
archfit prints a diff of the weights of NodePools and of the ConfigMap of cluster-autoscaler's priority expander. It \
changes nothing in the cluster.

  kubectl get nodepools -o json | archfit setup autoscaler
  kubectl get nodepools -o json | archfit setup autoscaler -o first.yaml
  kubectl apply --server-side -f first.yaml""",
    ),
    Command(
        "setup workloads",
        "Writes rows for custom resources from their definitions (CRDs).",
        ("setup workloads --crds FILE|DIR|- .. [OPTION]..",),
        "archfit.cluster.workload_setup:run",
        ("stdin", "stdout", "stderr"),
        flags=(
            Flag(
                "--crds FILE",
                "The definitions, as YAML or JSON: files, folders, or - for standard input. In a folder, archfit "
                "reads every *.yaml, *.yml and *.json.",
                repeatable=True,
                several=True,
            ),
            Flag(
                "--include-known", "Write rows for the kinds that archfit knows, too. They replace its own."
            ),
            OUTPUT,
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
        NO_INPUT,
        flags=(
            Flag(
                "--into DIR",
                "Write into this plugins directory instead. It must not be one that Helm 3 reads.",
            ),
            CONFIG,
            Flag(
                "--check",
                "Write nothing. Render a chart with one Pod through Helm and archfit, and report what is wrong.",
                brief="Render one Pod through Helm, and say what is wrong; write nothing.",
            ),
            Flag("--helm PATH", "The Helm to set up or check; default: helm, helm4 and helm3 on PATH."),
            REMOVE_FLAG,
        ),
        about="""\
Helm 3 needs no setup:

  helm upgrade --install web ./chart --post-renderer archfit

Helm 4 starts plugins only. archfit writes one into a plugins directory of its own, and prints the line for your \
shell's profile that makes Helm 4 see it. It changes no file of yours.""",
        exits=SET_UP,
    ),
    Command(
        "setup argocd",
        "Writes the plugin and the sidecar for Argo CD, or checks them.",
        ("setup argocd [OPTION]..", "setup argocd --check [--into DIR]"),
        "archfit.integrations.argocd.setup:run",
        NO_INPUT,
        flags=(
            Flag("--into DIR", "Write there; default: argocd-archfit."),
            Flag(
                "--discover",
                "Let the plugin find applications itself. Without it they name the plugin: `plugin: {name: archfit}`.",
                brief="Let the plugin find applications; without it, they name the plugin.",
            ),
            Flag(
                "--image NAME", "The sidecar's image; default: registry.example.com/archfit-argocd:VERSION."
            ),
            Flag(
                "--bundle-image NAME",
                "The init container's image; default: registry.example.com/archfit-bundle:VERSION.",
            ),
            Flag("--force", "Overwrite files that differ."),
            CONFIG,
            CHECK_FLAG,
            REMOVE_FLAG,
        ),
        about="""\
It writes two folders: sidecar/ (a config management plugin for Helm, Kustomize and plain files) and \
build-options/ (a function that `kustomize build` in repo-server starts). Use one of them. For Argo CD's Helm chart \
and operator, the page about Argo CD shows what to add.

Run --check in the sidecar:

  kubectl exec -n argocd deploy/argocd-repo-server -c archfit -- archfit setup argocd --check""",
        exits=SET_UP,
    ),
    Command(
        "setup kustomize",
        "Makes archfit a function of a kustomization, or checks that.",
        ("setup kustomize [OPTION]..", "setup kustomize --check [--into DIR] [-- COMMAND..]"),
        "archfit.integrations.kustomize.setup:run",
        NO_INPUT,
        leading=("kustomize",),
        flags=(
            Flag("--into DIR", "The outermost kustomization; default: the working directory.", default="."),
            Flag("--container IMAGE", "Start archfit in a container instead of the one on PATH.", default=""),
            CONFIG,
            CHECK_FLAG,
            REMOVE_FLAG,
        ),
        arguments=(
            (
                "COMMAND ..",
                "How you build, for --check, as in -- kustomize build --enable-alpha-plugins --enable-exec .",
            ),
        ),
        about="It writes the function's configuration, archfit.yaml, and names it in the kustomization.",
        exits=SET_UP,
    ),
    Command(
        "setup kpt",
        "Makes archfit a function of a kpt package, or checks that.",
        ("setup kpt [OPTION]..",),
        "archfit.integrations.kustomize.setup:run",
        NO_INPUT,
        leading=("kpt",),
        flags=(
            Flag("--into DIR", "The package; default: the working directory.", default="."),
            CONFIG,
            CHECK_FLAG,
            REMOVE_FLAG,
        ),
        about="It writes the function's configuration, archfit.yaml, and names it in the Kptfile.",
        exits=SET_UP,
    ),
    Command(
        "setup flux",
        "Writes patches for Flux, or checks that they are up to date.",
        ("setup flux [OPTION].. < rendered.yaml",),
        "archfit.integrations.flux.command:run",
        ("stdin", "stderr", "environ"),
        flags=(
            Flag(
                "--into DIR", "Where to write archfit-flux.yaml; default: the working directory.", default="."
            ),
            Flag("--helmrelease", "Write patches for a HelmRelease instead of a Kustomization."),
            CONFIG,
            Flag(
                "--check",
                "Write nothing. Exit with 1 if the file is missing or out of date.",
                brief="Exit 1 if the file is missing or out of date; write nothing.",
            ),
            REMOVE_FLAG,
        ),
        about="""\
Flux runs no functions. archfit reads manifests on standard input and writes the changes as patches, for you to paste \
into a Kustomization or a HelmRelease of Flux.

  kustomize build . | archfit setup flux""",
        exits=SET_UP,
    ),
    Command(
        "setup policy",
        "Writes a CronJob that keeps an admission policy up to date.",
        ("setup policy [OPTION]..", "setup policy --check [OPTION].."),
        "archfit.policy.installed.setup:run",
        NO_INPUT,
        flags=(
            Flag("--into DIR", "Write there; default: archfit-policy."),
            Flag("--schedule CRON", "When the job runs, as in '17 * * * *', which is the default."),
            Flag("--image NAME", "The job's image; default: registry.example.com/archfit:VERSION."),
            Flag("--configuration FILE", "The archfit.yaml for the job, as archfit setup cluster writes it."),
            Flag(
                "--registry-secret NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in the namespace archfit, with the credentials for "
                "registries.",
            ),
            *POLICY_FLAGS,
            Flag("--force", "Overwrite files that differ."),
            Flag(
                "--check",
                "Write nothing. Say whether the cluster has the policy, and whether the job keeps it up to date.",
                brief="Say whether the job keeps the cluster's policy up to date; write nothing.",
            ),
            Flag("--context NAME", "The context of kubectl, for --check."),
            Flag("--kubeconfig FILE", "The configuration of kubectl, for --check."),
            REMOVE_FLAG,
        ),
        about="""\
The job runs archfit policy --live --apply: it reads which images the cluster uses, asks their registries, and \
applies the policy. Its service account may list pods and workloads, and write the objects of the policy alone.

  archfit setup policy --image registry.example.com/archfit:1
  kubectl apply --server-side -f archfit-policy
  archfit setup policy --check""",
        exits=SET_UP,
    ),
    Command(
        "setup webhook",
        "Writes the manifests of the admission webhook, or checks them.",
        (
            "setup webhook [OPTION]..",
            "setup webhook --renew [--into DIR] [--days N]",
            "setup webhook --check [--live] [--into DIR]",
        ),
        "archfit.webhook.setup.setup:run",
        NO_INPUT,
        flags=(
            Flag("--into DIR", "Write there; default: archfit-webhook."),
            Flag("--namespace NAME", "The namespace of the webhook; default: archfit."),
            Flag(
                "--image NAME",
                "The webhook's image; default: registry.example.com/archfit:VERSION.",
                brief="The webhook's image, built from the Dockerfile.",
            ),
            Flag(
                "--configuration FILE",
                "The archfit.yaml for the webhook, as archfit setup cluster writes it.",
                brief="The archfit.yaml for the webhook.",
            ),
            Flag("--lock-file FILE", "An archfit.lock for the webhook. It asks no registry for its images."),
            Flag(
                "--registry-secret NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in the webhook's namespace, with the credentials "
                "for registries.",
                brief="A Secret with the credentials for registries.",
            ),
            Flag(
                "--pull-secret NAMESPACE/NAME",
                "A pull secret that the webhook may read, for the pods of that namespace that refer to it.",
                brief="A pull secret that the webhook may read.",
                repeatable=True,
            ),
            Flag(
                "--egress-port PORT",
                "A port that the webhook may call beside DNS; default: 443. The first use replaces the default.",
                brief="A port that it may call beside DNS; default: 443.",
                repeatable=True,
            ),
            Flag(
                "--api-server CIDR",
                "From where the API server calls, such as 10.0.0.0/28: the NetworkPolicy admits no other address. "
                "Without it, every address is admitted.",
                brief="From where the API server calls; default: anywhere.",
                repeatable=True,
            ),
            Flag("--no-network-policy", "Write no NetworkPolicy."),
            Flag(
                "--client-ca FILE",
                "The CA of the API server's client certificate, in PEM. The webhook then answers no other client, so "
                "tell the API server first to present the certificate.",
                brief="The CA of the only clients that are answered.",
            ),
            Flag(
                "--memory-limit QUANTITY",
                "The memory limit of the webhook's container, 320Mi or more; default: 512Mi.",
                brief="Its memory limit, 320Mi or more; default: 512Mi.",
            ),
            Flag("--priority-class NAME", "The pods' PriorityClass, as system-cluster-critical."),
            Flag(
                "--cert-manager",
                "Let cert-manager make and renew the certificate. Without it, archfit makes one with openssl.",
            ),
            Flag("--days N", "How long a new certificate is valid; default: 365."),
            Flag(
                "--renew",
                "Write a new certificate into DIR, and leave everything else there as it is.",
                brief="Write a new certificate into DIR, and nothing else.",
            ),
            Flag("--force", "Overwrite files that differ."),
            Flag(
                "--check",
                "Write nothing. Say whether key, certificate and caBundle in DIR belong together, and when the "
                "certificate expires.",
                brief="Say whether the files in DIR belong together, and when the certificate expires; write nothing.",
            ),
            Flag(
                "--live",
                "With --check: look at the cluster, and create a pod as a dry run to see whether the webhook answers.",
            ),
            Flag("--context NAME", "The context of kubectl, for --live."),
            Flag("--kubeconfig FILE", "The configuration of kubectl, for --live."),
            REMOVE_FLAG,
        ),
        about="""\
It writes whole manifests: two replicas of archfit serve, and the MutatingWebhookConfiguration that calls them for new \
pods.

  archfit setup webhook --image registry.example.com/archfit:1
  kubectl apply --server-side -f archfit-webhook""",
        exits=SET_UP,
    ),
    Command(
        "setup fleet",
        "Writes an audit in parts or each night, or checks it.",
        ("setup fleet --engine job|cron [OPTION]..", "setup fleet --engine job|cron --check [OPTION].."),
        "archfit.audit.fleet.setup:run",
        NO_INPUT,
        flags=(
            Flag(
                "--engine job|cron",
                "What runs the parts: job, the Indexed Job of Kubernetes itself; cron, a CronJob with one pod and no "
                "parts.",
                values="job cron",
                brief="Jobs, or a nightly CronJob without parts.",
            ),
            Flag("--shards N", "Into how many parts the images are divided, 1 to 500; default: 8."),
            Flag("--parallelism N", "How many parts run at once; default: 8."),
            Flag(
                "--schedule CRON",
                "When the CronJob runs, in the time zone of the control plane; default: '23 2 * * *'.",
                brief="When the CronJob runs; default: '23 2 * * *'.",
            ),
            Flag("--into DIR", "Write there; default: archfit-fleet."),
            Flag("--namespace NAME", "The namespace of the audit; default: archfit."),
            Flag(
                "--image NAME",
                "The pods' image; default: registry.example.com/archfit:VERSION.",
                brief="The pods' image, which is yours.",
            ),
            Flag(
                "--cluster NAME",
                "The name of the cluster in the report; default: the uid of the namespace kube-system.",
            ),
            Flag(
                "--configuration FILE",
                "The archfit.yaml for the audit: registries, mirrors, requests per second.",
            ),
            Flag(
                "--registry-secret NAME",
                "A Secret of type kubernetes.io/dockerconfigjson in that namespace, with the credentials for "
                "registries.",
            ),
            Flag(
                "--cache URL", "The cache server that all parts share, such as redis://cache.example:6379/0."
            ),
            Flag(
                "--cache-secret NAME",
                "A Secret in that namespace whose key `password` holds the cache server's password.",
            ),
            Flag(
                "--claim NAME",
                "A PersistentVolumeClaim that is there, for all pods to write to. Without it, archfit writes one.",
                brief="A claim that is there, for all pods to write to.",
            ),
            Flag("--storage-class NAME", "The storage class of the claim that archfit writes."),
            Flag(
                "--node-pools",
                "Let the audit also list node pools: of Karpenter, Cluster API, OpenShift, and ComputeClasses of GKE.",
                brief="Let the audit also list node pools.",
            ),
            Flag("--force", "Overwrite files that differ."),
            Flag(
                "--check",
                "Write nothing. Say whether the cluster can run the audit, and how the last run ended.",
                brief="Say whether the cluster can run the audit, and how the last run ended; write nothing.",
            ),
            Flag("--context NAME", "The context of kubectl, for --check."),
            Flag("--kubeconfig FILE", "The configuration of kubectl, for --check."),
            REMOVE_FLAG,
        ),
        about="""\
One step reads the cluster. Then each shard asks registries for its part of the images, and a last step makes one \
report. The service account may get and list pods, nodes and the core kinds that make pods, \
and get the namespace kube-system, and nothing else.

  archfit setup fleet --engine job --shards 16 --image registry.example.com/archfit:1
  kubectl apply --server-side -f archfit-fleet
  archfit setup fleet --engine job --check""",
        exits=SET_UP,
    ),
)
