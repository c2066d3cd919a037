"""`archfit setup TOOL`: the commands that write files for other programs."""

from __future__ import annotations

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
        "archfit.cluster.setup:set_up_cluster",
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
        "archfit.cluster.pools.autoscaler_setup:set_up_autoscaler",
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
        "archfit.cluster.workload_setup:set_up_workloads",
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
        "archfit.integrations.helm.setup:set_up_helm",
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
        "archfit.integrations.argocd.setup:set_up_argocd",
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
        "archfit.integrations.kustomize.setup:set_up_kustomize",
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
        "archfit.integrations.kustomize.setup:set_up_kustomize",
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
        "archfit.integrations.flux.command:set_up_flux",
        ("stdin", "stderr", "environ"),
        flags=(
            Flag(
                "--into DIR", "Where to write archfit-flux.yaml; default: the working directory.", default="."
            ),
            Flag("--helmrelease", "Write patches for a HelmRelease instead of a Kustomization."),
            CONFIG,
            Flag(
                "--check",
                "Write nothing. Exit with 3 if the file is missing or out of date.",
                brief="Exit 3 if the file is missing or out of date; write nothing.",
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
        "setup chart",
        "Writes the Helm chart of webhook, policy and nightly audit.",
        ("setup chart [--into DIR] [--force]",),
        "archfit.cli.setup.chart:write_chart",
        ("stderr",),
        flags=(
            Flag("--into DIR", "Write there; default: archfit-chart."),
            Flag("--force", "Overwrite files that differ."),
            REMOVE_FLAG,
        ),
        about="""\
What runs in a cluster is installed by this chart, with Helm 3 or 4: the webhook, the policy and the job that renews \
it, an audit each night or in parts. archfit prints the command for each.

  archfit setup chart --into archfit-chart
  helm install archfit archfit-chart -n archfit --create-namespace --set image.repository=YOUR/IMAGE""",
    ),
)
