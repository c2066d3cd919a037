"""The commands about manifests and the images that they name."""

from __future__ import annotations

from archfit.cli.usage.command_row import (
    AS_JSON,
    DONE,
    DONE_OR_FAILED,
    MANIFESTS,
    NO_INPUT,
    WRONG_USAGE,
    Command,
    Flag,
    operator_options_without,
    options_named,
)
from archfit.options.table import TABLE

TRANSFORM = Command(
    "transform",
    "Adds to rendered manifests what each pod needs.",
    ("[transform] [OPTION].. [FILE|DIR|-]..",),
    "archfit.rewrite.command:transform",
    arguments=(MANIFESTS,),
    flags=(
        Flag("--diff", "Write what would change, as a unified diff. Exit with 0 in any case."),
        Flag(
            "--in-place",
            "Write each file that changes. If one has a problem, archfit writes none. A later run takes back what "
            "this one added, unless --no-stamp is given.",
        ),
        Flag(
            "-o, --output FILE|DIR",
            "Where to write; default: standard output. In a folder, which exists or ends with /, each input gets a "
            "file.",
        ),
    ),
    options=TABLE,
    group="manifests",
    about="""\
archfit finds out which CPU architectures every container image supports, and adds the tolerations or the \
kubernetes.io/arch node affinity that each pod needs. The rest of the manifests stays as it is.

  helm template . | archfit | kubectl apply -f -
  helm upgrade --install web ./chart --post-renderer archfit
  archfit --diff rendered/

Helm 4 needs a plugin: run archfit setup helm.""",
    exits=DONE_OR_FAILED,
)
CHECK = Command(
    "check",
    "Says what archfit would change, or which images lack a platform.",
    ("check [OPTION].. [FILE|DIR|-]..",),
    "archfit.check.command:check",
    arguments=(MANIFESTS,),
    flags=(
        Flag(
            "--require PLATFORM,..",
            "Check that every image runs on these platforms instead. PLATFORM is an architecture, as arm64, or "
            "os/architecture. The report lists each image that does not, with its workloads. It includes pods "
            "that archfit leaves alone (skip, excluded, ...). Pods for another operating system are listed apart "
            "and do not fail the check.",
            repeatable=True,
            brief="Check that every image runs on these, as arm64.",
        ),
        Flag(
            "--allow-unknown",
            "With --require: do not fail for an image that is not known, such as a placeholder, or one whose registry "
            "does not answer, nor for an object that may hold pods and that archfit does not read. The report still "
            "lists and counts it.",
            brief="Let images pass that are not known; count them.",
        ),
        Flag(
            "--newer-tags",
            "With --require: for each image that lacks a platform, read the tags of its repository, and name the "
            "nearest one that has it. It is a hint, and changes no exit code.",
            brief="Name the nearest tag that runs there.",
        ),
        Flag(
            "--programs",
            "With --require: read the layers of each image down to the program that the container starts. An image "
            "that starts a program of another machine does not run there. What is not read is listed, no more.",
            brief="Read which programs they start, and for which machine.",
        ),
        Flag(
            "--format FORM[=FILE]",
            "How to write the report: text; json; github, workflow commands of GitHub Actions; gitlab, a Code "
            "Quality report; sarif, SARIF 2.1.0; markdown; junit, JUnit XML; with --newer-tags also "
            "kustomize, an images: block, and renovate, packageRules. With =FILE into a file, beside the report on "
            "standard output. Default: text.",
            values="text json github gitlab sarif markdown junit kustomize renovate",
            repeatable=True,
        ),
        Flag(
            "--source-root [CHART=]FOLDER",
            "The folder of a chart, of charts, or of a kustomization. The report names the files there from which "
            "the manifests were rendered: the templates of Helm's # Source: comments, the paths of kustomize's "
            "origin annotations. CHART: the name in the comments, if it is not the one in Chart.yaml.",
            repeatable=True,
            brief="Where your repository has the templates that findings are about.",
        ),
    ),
    options=TABLE,
    group="manifests",
    about="""\
archfit check writes no manifests. A pipeline uses it to notice that a renderer ran without archfit:

  helm get manifest web | archfit check
  archfit check --format github rendered/*.yaml
  helm template . | archfit check --require arm64""",
    exits=(
        (0, "nothing found"),
        (1, "the check could not be made"),
        WRONG_USAGE,
        (3, "the check found something"),
    ),
)
EXPLAIN = Command(
    "explain",
    "Says why each pod is placed as it is, image by image.",
    ("explain [OPTION].. [FILE|DIR|-]..",),
    "archfit.explain.command:explain",
    arguments=(MANIFESTS,),
    flags=(
        Flag(
            "--only KIND[/NAMESPACE[/NAME]]",
            "Explain only these objects, and ask only for their images. The parts are globs, as in --exclude.",
            repeatable=True,
        ),
        Flag(
            "--format text|json",
            "How to write it: as trees, or as JSON, which archfit schema explain describes.",
            values="text json",
            default="text",
        ),
    ),
    options=TABLE,
    group="manifests",
    about="""\
archfit explain writes no manifests. For each pod it shows the images with their answers, where the pod may run, what \
archfit adds or leaves out and why, and what would change that.

  helm template . | archfit explain
  archfit explain --only Deployment/shop/web rendered/*.yaml
  archfit explain --format json < rendered.yaml""",
    exits=(
        (0, "everything is explained"),
        (1, "a pod has a conflict or an image without an answer, or an input cannot be read"),
        WRONG_USAGE,
    ),
)
PATCH = Command(
    "patch",
    "Writes the changes as patches, for Flux, Rancher Fleet and others.",
    ("patch [OPTION].. [FILE|DIR|-]..",),
    "archfit.patch.command:patch",
    arguments=(MANIFESTS,),
    flags=(
        Flag(
            "--format FORM",
            "kustomize: a component with its list of patches. flux-helmrelease: spec.postRenderers of a "
            "HelmRelease. flux-kustomization: spec.patches of a Kustomization of Flux. fleet: a kustomization "
            "for the folder that fleet.yaml names. sveltos: spec.patches of a ClusterProfile. kubevela: the trait "
            "kustomize-patch. json: objects, each with its JSON Patch (RFC 6902).",
            values="kustomize flux-helmrelease flux-kustomization fleet sveltos kubevela json",
            brief="kustomize, flux-helmrelease, flux-kustomization, fleet, sveltos, kubevela or json.",
            default="kustomize",
        ),
    ),
    options=TABLE,
    group="manifests",
    about="""\
Flux, Rancher Fleet, Sveltos and KubeVela run no programs, but apply patches. Each patch tests what it found before \
it adds something, and fails if that has changed. Run archfit patch again then.

  kustomize build overlay | archfit patch > archfit/kustomization.yaml
  helm template web ./chart -n shop | archfit patch --format flux-helmrelease""",
    exits=DONE_OR_FAILED,
)
LOCK = Command(
    "lock",
    "Writes a lock file, for runs that ask no registry.",
    ("lock [OPTION].. [FILE|DIR|-]..", "lock --from-audit REPORT [OPTION].. [FILE|DIR|-].."),
    "archfit.lock.command:lock",
    arguments=(MANIFESTS,),
    flags=(
        Flag(
            "--from-audit REPORT",
            "Lock the images that run: a report of archfit audit --format json. Then archfit reads no standard "
            "input unless you name -.",
            repeatable=True,
        ),
        Flag("--add-missing", "Ask only for images that the lock file lacks."),
        Flag(
            "--update [GLOB]",
            "Ask again only for images whose whole reference matches, as in 'docker.io/library/*'. Without GLOB, "
            "ask for all, as without any flag.",
            repeatable=True,
            bare="*",
        ),
        Flag("--prune", "Remove the entries of images that the input does not need."),
        Flag(
            "--check",
            "Write nothing. Exit with 3 if the lock file would change.",
            brief="Exit 3 if the lock file would change; write nothing.",
        ),
        AS_JSON.replace(help="json: write what changed to standard output, as JSON."),
    ),
    # Decisions have no report here, and what a lock file holds does not depend on the age of cached answers.
    options=(
        *options_named(
            "lockFile", "imagePlatforms", "customResources", "exclude", "unlabelledNodes", "onBlank"
        ),
        *operator_options_without("cacheTtl", "maxStale", "offline", "pullSecrets", "report", "verbose"),
    ),
    group="manifests",
    about="""\
The lock file holds the platforms of all images. It is archfit.lock, or the one that --lock-file names. \
Runs use it with \
archfit --lock-file archfit.lock --locked

  helm template . | archfit lock
  archfit lock --prune rendered/*.yaml""",
    exits=(
        DONE,
        (1, "failed: nothing was written"),
        WRONG_USAGE,
        (3, "--check found that the lock file is stale"),
    ),
)
INSPECT = Command(
    "inspect",
    "Shows what registries have for images, and where they run.",
    ("inspect [OPTION].. IMAGE..",),
    "archfit.inspect.command:inspect",
    NO_INPUT,
    arguments=(("IMAGE ..", "Images as a pod names them."),),
    flags=(
        AS_JSON,
        Flag(
            "--newer-tags",
            "For an image that lacks amd64 or arm64: read the tags of its repository, and name the nearest one "
            "that has both.",
            brief="Name the nearest tag that has amd64 and arm64.",
        ),
        Flag(
            "--programs",
            "Read the layers of each entry for Linux down to the program that it starts, and say whether that is built "
            "for the entry's architecture.",
            brief="Say whether each entry starts a program built for it.",
        ),
    ),
    # The registry is asked in any case, and there are no decisions to report.
    options=(
        *options_named("imagePlatforms"),
        *operator_options_without("cacheTtl", "maxStale", "pullSecrets", "report", "verbose"),
    ),
    group="images, registries",
    about="""\
It shows digest, media type, platforms with their digests and sizes, and the architectures on which archfit lets the \
image run.

  archfit inspect nginx:1.27 ghcr.io/team/app:2""",
    exits=(
        DONE,
        (1, "an image has no answer; the others are shown"),
        WRONG_USAGE,
        (3, "an entry starts a program that does not run there"),
    ),
)
LOGIN_CHECK = Command(
    "login-check",
    "Says which credential a registry gets, and whether it accepts it.",
    ("login-check [OPTION].. HOST|IMAGE",),
    "archfit.inspect.login_check:check_login",
    NO_INPUT,
    arguments=(("HOST|IMAGE", "A registry, as ghcr.io or localhost:5000, or an image."),),
    flags=(AS_JSON,),
    options=operator_options_without(
        "cache",
        "cachePasswordFile",
        "cacheCaFile",
        "cacheTtl",
        "maxStale",
        "noCache",
        "pullSecrets",
        "report",
        "verbose",
    ),
    group="images, registries",
    about="""\
It names the kind of the credential and the file or helper that it comes from. It never shows the credential itself. \
With --offline it does not ask the registry.

  archfit login-check ghcr.io
  archfit login-check ghcr.io/team/app:1""",
    exits=(
        (0, "accepted (with --offline: there is a credential)"),
        (1, "the registry could not be asked"),
        WRONG_USAGE,
        (3, "not accepted"),
    ),
)
