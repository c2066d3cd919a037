"""What `archfit setup argocd` writes. Pure.

    sidecar/          a Kustomize component: archfit as config management plugin, for Helm, Kustomize and plain files
      kustomization.yaml, repo-server.yaml    the sidecar beside Argo CD's repo-server
      plugin.yaml                             what Argo CD starts
      archfit.yaml                            the operator's configuration
      Dockerfile                              the sidecar's image
      application.yaml                        an application that uses it; to copy
    build-options/    a Kustomize component: archfit as a function of `kustomize build` in repo-server itself
      kustomization.yaml, argocd-cm.yaml, repo-server.yaml, archfit.yaml, Dockerfile
      archfit-function.yaml                   a `transformers:` entry; to copy

Sources: argo-cd v3.5.1, docs/operator-manual/config-management-plugins.md and manifests/base/repo-server. repo-server
runs as user 999 with a read-only root and without Python.
"""

from __future__ import annotations

from archfit import __version__

SIDECAR_IMAGE = f"registry.example.com/archfit-argocd:{__version__}"
BUNDLE_IMAGE = f"registry.example.com/archfit-bundle:{__version__}"
BUILD_OPTIONS = "--enable-alpha-plugins --enable-exec"
ARGOCD_IMAGE = "quay.io/argoproj/argocd:v3.5.1"

_DISCOVERY = """\
  # Every application without a source type of its own (`helm:`, `kustomize:`, `directory:`, `plugin:`) is asked for.
  discover:
    find:
      command: [archfit, argocd, discover]
"""
_NO_DISCOVERY = """\
  # Without `discover`, an application has to ask for it: `plugin: {name: archfit}`.
"""


def plugin(*, discover: bool) -> str:
    """plugin.yaml. discover: whether Argo CD is to find the applications itself."""
    return f"""\
# A file that argocd-cmp-server reads from /home/argocd/cmp-server/config; it is no resource of the cluster.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: archfit
spec:
  generate:
    # More words for archfit go here, as `--kustomize-option, --enable-helm` or `--helm-dependencies`.
    command: [archfit, argocd, generate]
  parameters:
    dynamic:
      command: [archfit, argocd, parameters]
{_DISCOVERY if discover else _NO_DISCOVERY}"""


_CONFIGURATION = """\
# The operator's configuration. What it enforces no application can change.
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec:
  clusterArchitectures: [amd64, arm64]
  # A registry that does not answer must not change what is deployed: `leave` would take away what an earlier run added.
  # With lock files in the repositories write `lockFile: archfit.lock` as ARCHFIT_LOCK_FILE, and `locked: true` here.
  onUnknown: assume
  assume: [linux/amd64]
operator:
  # One for each replica of repo-server. To share one: redis://argocd-redis:6379/5, see docs/cache.md.
  cache: {cache}
  # Argo CD gives the plugin 60 s for everything.
  timeout: 30s
  enforced: [clusterArchitectures, onUnknown, assume]
"""

_SIDECAR_KUSTOMIZATION = """\
# Add it to the kustomization that installs Argo CD: `components: [sidecar]`.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
  - name: archfit-plugin
    # A change of the files restarts repo-server, as the name ends with their hash.
    files: [plugin.yaml, archfit.yaml]
patches:
  - path: repo-server.yaml
"""

_SIDECAR = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: argocd-repo-server
spec:
  template:
    spec:
      containers:
        - name: archfit
          image: {image}
          command: [/var/run/argocd/argocd-cmp-server]
          env:
            - {{name: ARCHFIT_CONFIG, value: /etc/archfit/archfit.yaml}}
            # User 999 has no entry in the image's passwd, so no home.
            - {{name: HOME, value: /tmp}}
          securityContext:
            runAsNonRoot: true
            runAsUser: 999
            readOnlyRootFilesystem: true
            allowPrivilegeEscalation: false
            capabilities: {{drop: [ALL]}}
            seccompProfile: {{type: RuntimeDefault}}
          volumeMounts:
            - {{name: var-files, mountPath: /var/run/argocd}}
            - {{name: plugins, mountPath: /home/argocd/cmp-server/plugins}}
            - {{name: archfit-plugin, mountPath: /home/argocd/cmp-server/config}}
            - {{name: archfit-plugin, mountPath: /etc/archfit}}
            # Never the volume that repo-server has on /tmp.
            - {{name: archfit-tmp, mountPath: /tmp}}
            - {{name: archfit-cache, mountPath: /var/cache/archfit}}
      volumes:
        - name: archfit-plugin
          configMap: {{name: archfit-plugin}}
        - name: archfit-tmp
          emptyDir: {{}}
        - name: archfit-cache
          emptyDir: {{}}
"""

_SIDECAR_DOCKERFILE = f"""\
# The sidecar's image: archfit, with Argo CD's own helm and kustomize. From the top of archfit's repository:
#
#     docker build -t {SIDECAR_IMAGE} -f argocd-plugin/sidecar/Dockerfile .
FROM {ARGOCD_IMAGE} AS argocd
FROM python:3.13-slim
COPY --from=argocd /usr/local/bin/helm /usr/local/bin/kustomize /usr/local/bin/
COPY pyproject.toml README.md LICENSE /src/
COPY transformer /src/transformer
COPY helm-plugin /src/helm-plugin
RUN python -m pip install --no-cache-dir --compile "/src[redis]"
USER 999
"""

_APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  namespace: argocd
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: https://git.example.com/shop.git
    path: deploy
    targetRevision: main
    plugin:
      name: archfit
      env:
        # Argo CD renders again only when the application changes: give it another value after a change of the sidecar.
        - {name: ARCHFIT_RECIPE, value: "1"}
      parameters:
        - name: values-files
          array: [values-production.yaml]
        - name: helm-parameters
          map: {image.tag: v1.2.3}
        - name: prefer
          map: {arm64: "10"}
"""

_OPTIONS_KUSTOMIZATION = """\
# Add it to the kustomization that installs Argo CD: `components: [build-options]`.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
  - name: archfit-function
    files: [archfit.yaml]
patches:
  - path: argocd-cm.yaml
  - path: repo-server.yaml
"""

_OPTIONS_CM = f"""\
# With it every kustomization of every repository may start the programs that repo-server has.
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
data:
  kustomize.buildOptions: {BUILD_OPTIONS}
"""

_OPTIONS_SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: argocd-repo-server
spec:
  template:
    spec:
      initContainers:
        - name: archfit
          image: {image}
          command: [cp, -R, /opt/archfit, /custom-tools/]
          securityContext:
            runAsNonRoot: true
            runAsUser: 999
            readOnlyRootFilesystem: true
            allowPrivilegeEscalation: false
            capabilities: {{drop: [ALL]}}
            seccompProfile: {{type: RuntimeDefault}}
          volumeMounts:
            - {{name: archfit, mountPath: /custom-tools}}
      containers:
        - name: argocd-repo-server
          env:
            - {{name: PATH, value: "/custom-tools/archfit:/usr/local/bin:/usr/bin:/bin"}}
            - {{name: ARCHFIT_CONFIG, value: /etc/archfit/archfit.yaml}}
          volumeMounts:
            - {{name: archfit, mountPath: /custom-tools, readOnly: true}}
            - {{name: archfit-function, mountPath: /etc/archfit}}
            - {{name: archfit-cache, mountPath: /var/cache/archfit}}
      volumes:
        - name: archfit
          emptyDir: {{}}
        - name: archfit-function
          configMap: {{name: archfit-function}}
        - name: archfit-cache
          emptyDir: {{}}
"""

_OPTIONS_DOCKERFILE = f"""\
# A folder that holds archfit and its own Python, which an init container copies. From the top of archfit's repository:
#
#     docker build -t {BUNDLE_IMAGE} -f argocd-plugin/build-options/Dockerfile .
#
# The bundle needs zlib, and a C library no older than that of the image it was built in.
FROM python:3.13-slim-bookworm AS built
RUN apt-get update && apt-get install -y --no-install-recommends make binutils
WORKDIR /src
COPY Makefile pyproject.toml requirements-dev.lock README.md LICENSE ./
COPY transformer transformer
COPY helm-plugin helm-plugin
COPY argocd-plugin argocd-plugin
RUN make bundle DIST=/opt PYTHON=python3
FROM busybox:1.37
COPY --from=built /opt/archfit /opt/archfit
USER 999
"""

_FUNCTION = """\
# In the application's kustomization: `transformers: [archfit-function.yaml]`.
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
metadata:
  name: archfit
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: archfit
spec:
  prefer: {arm64: 10}
"""


def files(*, discover: bool, sidecar_image: str, bundle_image: str) -> dict[str, str]:
    """Path -> text of everything."""
    configuration = _CONFIGURATION.replace("{cache}", "/var/cache/archfit/lookups.sqlite")
    return {
        "sidecar/kustomization.yaml": _SIDECAR_KUSTOMIZATION,
        "sidecar/repo-server.yaml": _SIDECAR.format(image=sidecar_image),
        "sidecar/plugin.yaml": plugin(discover=discover),
        "sidecar/archfit.yaml": configuration,
        "sidecar/Dockerfile": _SIDECAR_DOCKERFILE,
        "sidecar/application.yaml": _APPLICATION,
        "build-options/kustomization.yaml": _OPTIONS_KUSTOMIZATION,
        "build-options/argocd-cm.yaml": _OPTIONS_CM,
        "build-options/repo-server.yaml": _OPTIONS_SERVER.format(image=bundle_image),
        "build-options/archfit.yaml": configuration,
        "build-options/Dockerfile": _OPTIONS_DOCKERFILE,
        "build-options/archfit-function.yaml": _FUNCTION,
    }
