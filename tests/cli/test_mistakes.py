"""Mistakes that new users make, and the whole message of each: what is wrong, where, and what to do.

Each row is what somebody types, pipes or saves. Standard error is compared line by line, so that a change of a message
is read here first. HERE is the folder that they work in. `REGISTRIES` are the same with a registry that answers so.
"""

import json
import os
import re
import shlex
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import file_runs
import machine
from archfit.cli.usage.command_table import BY_NAME, first_words, words_below
from archfit.cli.usage.command_table import COMMANDS as COMMAND_ROWS
from archfit.options.table import CONFIG_FLAG, TABLE
from fake_registry import Answer, FakeRegistry
from program import PROGRAM

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: 'x.io/a:1'}\n"
)
DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart, namespace: shop}\nspec:\n  template:\n    spec:\n"
    "      containers:\n      - {name: a, image: 'x.io/app:1'}\n"
)
THING = "---\napiVersion: a.example/v1\nkind: Thing\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{image: a}]}}}\n"
STATED = "--image-platforms=x.io/*=linux/amd64,linux/arm64"
HEAD = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n"

LOCK = (
    '{"version": 1, "images": {\n"x.io/a:1": {"digest": "sha256:'
    + 64 * "a"
    + '", "kind": "index", "platforms": ["linux/amd64"]}\n}}\n'
)


NO_NAMESPACE = (
    "rules and exclude of the configuration that name a namespace do not count for objects without one, as Helm renders "
    "them: match them by kind, name or labels, or render them with metadata.namespace"
)


class Mistake(NamedTuple):
    """stdout: where the command writes what is wrong there. files: None is a folder."""

    id: str
    status: int
    words: list[str]
    stderr: list[str]
    stdin: str = ""
    files: Mapping[str, str | bytes | None] = {}
    environ: Mapping[str, str] = {}
    stdout: str = ""


def function_config(name: str, kind: str, part: str, said: str) -> Mistake:
    """A KRM function whose functionConfig has this part."""
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
    stream = f"{head}functionConfig: {{apiVersion: {kind}, {part}}}\n"
    said = f"functionConfig, {said}"
    results = f"results:\n- message: {json.dumps(said)}\n  severity: error\n"
    return Mistake(name, 2, [], [f"archfit: error: {said}"], stream, stdout=stream + results)


def annotated(annotation: str) -> str:
    """The pod with an annotation of archfit."""
    return POD.replace("{name: a}", f"{{name: a, annotations: {{archfit.dev/{annotation}}}}}", 1)


OF_OPTIONS = (CONFIG_FLAG, "--help", "--help-all", *(name for option in TABLE for name in option.flags))
ONE = "archfit: 1 problem; nothing was written"
UNKNOWN = (
    "archfit: error: v1/Pod/a spec.containers[0].image: x.io/a:1: its platforms are not known: the cache has no answer, and "
    "--offline forbids asking: run once without --offline. You can also state them with --image-platforms or "
    "archfit.dev/image-platforms, or choose --on-unknown assume or leave (document 1, line 6)"
)

COMMANDS = ", ".join(first_words())
TOOLS = " or ".join(", ".join(words_below(BY_NAME["setup"])).rsplit(", ", 1))

# fmt: off
MISTAKES = [
    # On the command line: commands and flags.
    Mistake("a-misspelt-command", 2, ["chekc"], ["archfit: error: 'chekc' is not a command: did you mean 'check'? See archfit --help"]),
    Mistake("a-command-that-there-is-not", 2, ["frobnicate"], [f"archfit: error: 'frobnicate' is not a command: the commands are {COMMANDS}. See archfit --help"]),
    Mistake("a-misspelt-tool", 2, ["setup", "kustomiz"], ["archfit: error: archfit setup kustomiz: there is no such tool: did you mean archfit setup kustomize?"]),
    Mistake("a-tool-that-there-is-not", 2, ["setup", "jenkins"], [f"archfit: error: archfit setup jenkins: there is no such tool: name what to set up: archfit setup {TOOLS}"]),
    Mistake("no-tool", 2, ["setup"], [f"archfit: error: name what to set up: archfit setup {TOOLS}"]),
    Mistake("a-file-for-a-command", 2, ["web.yaml"], ["archfit: error: cannot read 'web.yaml' (No such file or directory): name a file or a folder of manifests"]),
    Mistake("no-shell", 2, ["completion"], ["archfit: error: name one shell: archfit completion bash, zsh or fish"]),
    Mistake("two-shells", 2, ["completion", "bash", "zsh"], ["archfit: error: name one shell: archfit completion bash, zsh or fish"]),
    Mistake("a-word-for-last", 2, ["last", "week"], ["archfit: error: 'archfit last' takes no argument but --format"]),
    Mistake("a-word-for-version", 2, ["version", "short"], ["archfit: error: 'archfit version' takes no argument but --format"]),
    Mistake("a-colour-that-there-is-not", 2, ["--color", "sometimes"], ["archfit: error: --color: 'sometimes' is not one of auto, always, never: write one of them"], stdin=CONFIG_MAP),
    Mistake("a-colour-of-a-tool-that-there-is-not", 2, ["setup", "kpt", "--color=sometimes"], ["archfit: error: --color: 'sometimes' is not one of auto, always, never: write one of them"]),
    Mistake("help-of-a-misspelt-command", 2, ["help", "insepct"], ["archfit: error: 'insepct' is not a command: did you mean 'inspect'? See archfit --help"]),
    Mistake("a-misspelt-action", 2, ["cache", "prun"], ["archfit: error: archfit cache: 'prun' is not one of path, info, prune, clear: write 'prune'"]),
    Mistake("a-misspelt-shell", 2, ["completion", "bahs"], ["archfit: error: archfit completion: 'bahs' is not one of bash, zsh, fish: write 'bash'"]),
    Mistake("a-misspelt-flag", 2, ["--on-conflikt=leave"], ["archfit: error: there is no flag '--on-conflikt': write --on-conflict"], stdin=CONFIG_MAP),
    Mistake("a-flag-of-other-commands", 2, ["lock", "--require", "arm64"], ["archfit: error: archfit lock has no flag --require: it is a flag of archfit check and archfit audit; see archfit lock --help-all"], stdin=CONFIG_MAP),
    Mistake("a-misspelt-flag-of-other-commands", 2, ["--requier=arm64"], ["archfit: error: archfit transform has no flag --requier: --require is a flag of archfit check and archfit audit; see archfit --help-all"], stdin=CONFIG_MAP),
    Mistake("a-short-flag-of-another-tool", 2, ["check", "-f", "web.yaml"], ["archfit: error: archfit check has no flag -f: name files without a flag, as in archfit check web.yaml; - is standard input"], stdin=CONFIG_MAP),
    Mistake("a-dry-run", 2, ["--dry-run"], ["archfit: error: archfit transform has no flag --dry-run: archfit check says what would change, and changes nothing"], stdin=CONFIG_MAP),
    Mistake("in-place-as-sed-writes-it", 2, ["-i", "web.yaml"], ["archfit: error: archfit transform has no flag -i: write --in-place"], files={"web.yaml": CONFIG_MAP}),
    Mistake("in-place-as-yq-writes-it", 2, ["-w", "web.yaml"], ["archfit: error: archfit transform has no flag -w: write --in-place"], files={"web.yaml": CONFIG_MAP}),
    Mistake("all-namespaces-of-an-audit", 2, ["audit", "--live", "-A"], ["archfit: error: archfit audit has no flag -A: all namespaces are read unless -n names one"]),
    Mistake("a-command-behind-flags", 2, ["--mirror", "docker.io=https://hub.example", "inspect", "nginx"], ["archfit: error: 'inspect' is a command: write it first, as in archfit inspect nginx --mirror docker.io=https://hub.example"]),
    Mistake("a-command-behind-a-password", 2, ["--cache=redis://u:secret@cache.example", "check", "--require=arm64"], ["archfit: error: 'check' is a command: write it first, as in archfit check --require=arm64 '--cache=redis://***@cache.example'"]),
    Mistake("a-price-without-an-architecture", 2, ["audit", "--price", "0.04"], ["archfit: error: --price '0.04': write ARCHITECTURE=PRICE, as in amd64=0.0425"], stdin=CONFIG_MAP),
    Mistake("a-web-page-for-an-image", 1, ["inspect", "https://hub.docker.com/_/nginx"], ["archfit: error: https://hub.docker.com/_/nginx: 'https://hub.docker.com/_/nginx' is a web page: write 'docker.io/library/nginx'", "archfit: 0 registry requests"]),
    Mistake("a-flag-without-its-value", 2, ["--mirror"], ["archfit: error: --mirror: has no value: write --mirror=SOURCE=URL"], stdin=CONFIG_MAP),
    Mistake("a-switch-with-a-value", 2, ["--strict=true"], ["archfit: error: --strict: takes no value: write --strict or --no-strict"], stdin=CONFIG_MAP),
    Mistake("an-empty-value", 2, ["--tolerate="], ["archfit: error: --tolerate: is empty: write a value, or leave the flag out"], stdin=CONFIG_MAP),
    Mistake("an-output-without-a-name", 2, ["--output", ""], ["archfit: error: --output: is empty: write a path, or leave the flag out"], stdin=POD),
    Mistake("a-report-without-a-name", 2, ["audit", "-o", ""], ["archfit: error: --output: is empty: write a path, or leave the flag out"], stdin=POD),
    Mistake("a-chart-without-a-place", 2, ["setup", "chart", "--into="], ["archfit: error: --into: is empty: write a path, or leave the flag out"]),
    Mistake("an-inspection-of-nothing", 2, ["inspect"], ["archfit: error: name an image, as in archfit inspect nginx:1.27; see archfit inspect --help"]),
    Mistake("quiet-and-verbose", 2, ["-q", "-v"], ["archfit: error: --quiet asks for fewer messages and --verbose for more: leave one of them out"], stdin=CONFIG_MAP),
    # On the command line: values.
    Mistake("a-misspelt-format", 2, ["check", "--format=jsn"], ["archfit: error: --format: 'jsn' is not one of text, json, github, gitlab, sarif, markdown, junit, kustomize, renovate: write 'json'"], stdin=CONFIG_MAP),
    Mistake("a-retired-installer-webhook", 2, ["setup", "webhook", "--check", "--live"], ["archfit: error: archfit setup webhook: the Helm chart installs it: run archfit setup chart --into archfit-chart, and then helm upgrade --install archfit archfit-chart --namespace archfit --create-namespace --set image.repository=registry.example.com/archfit"]),
    Mistake("a-retired-installer-policy", 2, ["setup", "policy"], ["archfit: error: archfit setup policy: the Helm chart installs it: run archfit setup chart --into archfit-chart, and then helm upgrade --install archfit archfit-chart --namespace archfit --create-namespace --set image.repository=registry.example.com/archfit,mode=policy"]),
    Mistake("a-retired-installer-fleet", 2, ["setup", "fleet", "--engine", "cron"], ["archfit: error: archfit setup fleet: the Helm chart installs it: run archfit setup chart --into archfit-chart, and then helm upgrade --install archfit-nightly archfit-chart --namespace archfit --create-namespace --set image.repository=registry.example.com/archfit,mode=audit,audit.cron.enabled=true, or helm upgrade --install archfit-audit archfit-chart --namespace archfit --create-namespace --set image.repository=registry.example.com/archfit,mode=audit,audit.job.enabled=true --timeout 8h"]),
    Mistake("a-misspelt-choice", 2, ["--on-conflict", "live"], ["archfit: error: --on-conflict: 'live' is not one of fail, leave: write 'leave'"], stdin=CONFIG_MAP),
    Mistake("an-architecture-of-another-tool", 2, ["check", "--require", "armv8"], ["archfit: error: --require: 'armv8' is not an architecture as Kubernetes labels its nodes: write 'arm64'"], stdin=CONFIG_MAP),
    Mistake("a-misspelt-architecture", 2, ["--cluster-architectures", "amd46"], ["archfit: error: --cluster-architectures: 'amd46' is not an architecture as Kubernetes labels its nodes: write 'amd64'"], stdin=CONFIG_MAP),
    Mistake("a-list-with-blanks", 2, ["--cluster-architectures", "amd64 arm64"], ["archfit: error: --cluster-architectures: 'amd64 arm64' is not a list: write architectures separated by commas, as 'amd64,arm64'"], stdin=CONFIG_MAP),
    Mistake("a-platform-without-its-system", 2, ["check", "--require", "arm64/v8"], ["archfit: error: --require: 'arm64/v8' begins with an architecture: write 'linux/arm64/v8'"], stdin=CONFIG_MAP),
    Mistake("a-misspelt-system", 2, ["--assume", "linx/amd64"], ["archfit: error: --assume: 'linx/amd64' has an operating system that no image has: write 'linux'"], stdin=CONFIG_MAP),
    Mistake("a-duration-without-a-unit", 2, ["--timeout", "30"], ["archfit: error: --timeout: '30' is not a duration: write '30s', or another with d, h, m, s or ms"], stdin=CONFIG_MAP),
    Mistake("a-taint-without-an-effect", 2, ["--tolerate", "arch=arm64"], ["archfit: error: --tolerate: 'arch=arm64' names no effect: write 'arch=arm64:NoSchedule'"], stdin=CONFIG_MAP),
    Mistake("a-mirror-without-a-registry", 2, ["--mirror", "https://hub.example"], ["archfit: error: --mirror: a mirror needs a registry and a URL: write it as 'docker.io=https://hub.example/proxy'"], stdin=CONFIG_MAP),
    Mistake("a-preference-without-a-weight", 2, ["--prefer", "arm64"], ["archfit: error: --prefer: 'arm64' has no weight: write 'arm64=1'"], stdin=CONFIG_MAP),
    Mistake("locked-without-a-lock-file", 2, ["--locked"], ["archfit: error: --locked: needs a lock file: add --lock-file, as in --lock-file archfit.lock"], stdin=CONFIG_MAP),
    Mistake("assume-without-platforms", 2, ["--on-unknown=assume"], ["archfit: error: --on-unknown: 'assume' needs the platforms to assume: add --assume, as in --assume linux/amd64"], stdin=CONFIG_MAP),
    Mistake("a-CA-that-is-not-there", 2, ["--ca-file", "nowhere.pem"], ["archfit: error: --ca-file: cannot read 'nowhere.pem' (No such file or directory): correct the path, or leave --ca-file out"], stdin=CONFIG_MAP),
    *(
        Mistake(f"a-file-that-is-missing-before-{id}", 2, [*words, "--authfile", "nowhere.json"], ["archfit: error: --authfile: cannot read 'nowhere.json' (No such file or directory): correct the path, or leave --authfile out"], stdin="not read")
        for id, words in (("a-cluster-is-read", ["audit", "--live"]), ("a-policy-is-made", ["policy", "--live"]), ("manifests-are-read", ["check"]), ("a-lock-is-written", ["lock"]), ("an-image-is-asked-for", ["inspect", "nginx"]), ("a-patch-is-made", ["patch"]), ("a-login-is-checked", ["login-check", "x.io/a:1"]))
    ),
    # In files.
    Mistake("a-file-that-is-not-there", 2, ["web.yml"], ["archfit: error: cannot read 'web.yml' (No such file or directory): did you mean 'web.yaml'?"], files={"web.yaml": CONFIG_MAP}),
    Mistake("a-chart", 2, ["chart"], ["archfit: error: 'chart' is a Helm chart (Chart.yaml). Render it first: helm template chart chart | archfit"], files={"chart/Chart.yaml": "name: web\nversion: 1.0.0\n"}),
    Mistake("a-kustomization", 2, ["overlay"], ["archfit: error: 'overlay' is a kustomization (kustomization.yaml). Build it first: kustomize build overlay | archfit"], files={"overlay/kustomization.yaml": "resources: [web.yaml]\n"}),
    Mistake("a-template-of-a-chart", 1, ["deployment.yaml"], ["archfit: error: this is the source of a Helm chart. Render it first: helm template CHART | archfit (deployment.yaml:3)", ONE], files={"deployment.yaml": "kind: Deployment\nmetadata:\n  name: {{ .Values.name }}\n"}),
    Mistake("the-values-of-a-chart", 0, ["values.yaml"], ["archfit: warning: passed through: it has neither apiVersion nor kind. Is it the values of a chart, or a file of another tool? Name rendered manifests (values.yaml:1)"], files={"values.yaml": "image: {repository: nginx, tag: '1'}\n"}),
    Mistake("an-empty-folder", 2, ["rendered"], ["archfit: error: 'rendered' holds no file with a Kubernetes object (archfit reads *.yaml, *.yml and *.json): name the folder of the rendered manifests"], files={"rendered/README.md": "# nothing\n"}),
    Mistake("an-empty-file", 2, ["check", "web.yaml"], ["archfit: error: web.yaml: the input holds no manifests. Name files that hold rendered manifests, or allow this with --on-blank=pass"], files={"web.yaml": ""}),
    Mistake("tabs", 1, ["web.yaml"], ["archfit: error: this is not YAML: while scanning for the next token found character that cannot start any token. A tab or a mark such as @ or ` begins here: indent with blanks, and put such a text in quotes (web.yaml:3)", ONE], files={"web.yaml": "kind: Pod\nmetadata:\n\tname: web\n"}),
    Mistake("a-colon-too-many", 1, ["web.yaml"], ["archfit: error: this is not YAML: mapping values are not allowed in this context. Put a text that holds ': ' in quotes, or correct the indentation (web.yaml:3)", ONE], files={"web.yaml": "kind: Pod\nmetadata:\n  name: web: 1\n"}),
    Mistake("wrong-indentation", 1, ["web.yaml"], ["archfit: error: this is not YAML: while parsing a block mapping did not find expected key. The indentation does not fit the lines above: indent members of one object alike, with blanks (web.yaml:4)", ONE], files={"web.yaml": "kind: Pod\nmetadata:\n  name: web\n spec: {}\n"}),
    Mistake("an-open-quote", 1, ["web.yaml"], ["archfit: error: this is not YAML: while scanning a quoted scalar found unexpected end of stream. Close the quote, and double a ' inside of '..' (web.yaml:2)", ONE], files={"web.yaml": "kind: Pod\nmetadata: {name: 'web}\n"}),
    Mistake("JSON-without-a-comma", 1, ["web.json"], ["archfit: error: this is not YAML: while parsing a flow mapping did not find expected ',' or '}'. Add the comma or the bracket that is missing (web.json:3)", ONE], files={"web.json": '{\n "kind": "Pod"\n "metadata": {}\n}\n'}),
    Mistake("a-merge-conflict", 1, ["web.yaml"], ["archfit: error: this is not YAML: mapping values are not allowed in this context. The file has git's conflict markers: resolve the conflict first (web.yaml:2)", ONE], files={"web.yaml": "<<<<<<< HEAD\nkind: Pod\n=======\nkind: Job\n>>>>>>> main\n"}),
    Mistake("another-encoding", 1, ["web.yaml"], ["archfit: error: the byte 0xe9 is not UTF-8, which Kubernetes requires. Save the file as UTF-8 (web.yaml:2)", ONE], files={"web.yaml": b"kind: Pod\nname: caf\xe9\n"}),
    Mistake("UTF-16", 1, ["web.yaml"], ["archfit: error: the byte 0xff is not UTF-8, which Kubernetes requires. It looks like UTF-16: convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW (web.yaml:1)", ONE], files={"web.yaml": CONFIG_MAP.encode("utf-16")}),
    Mistake("a-binary-file", 1, ["web.yaml"], ["archfit: error: the byte 0xff is not UTF-8, which Kubernetes requires. It looks like a binary file: name rendered manifests (web.yaml:1)", ONE], files={"web.yaml": b"\x7fELF\x02\x01\x01\x00\xff\x00"}),
    Mistake("an-archive", 2, ["web-1.0.0.tgz"], ["archfit: error: 'web-1.0.0.tgz' is an archive. If it is a chart, render it first: helm template web-1.0.0 web-1.0.0.tgz | archfit"], files={"web-1.0.0.tgz": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"}),
    Mistake("another-kind-of-file", 1, ["Dockerfile"], ["archfit: error: this is text, not a Kubernetes object. Name files that hold rendered manifests (Dockerfile:1)", ONE], files={"Dockerfile": "FROM scratch\nCOPY web /\n"}),
    Mistake("a-command-before-the-pipe-that-failed", 1, ["check"], ["archfit: error: this is not YAML: mapping values are not allowed in this context. Is it an error message of the command before the pipe? Run that command alone (document 1, line 1)"], stdin="Error: INSTALLATION FAILED: cannot re-use a name that is still in use\n"),
    Mistake("nothing-in-the-pipe", 2, ["check"], ["archfit: error: the input holds no manifests. Did the command before the pipe fail? Run it alone, or allow this with --on-blank=pass"]),
    Mistake("a-table-of-kubectl", 1, ["check"], ["archfit: error: this is text, not a Kubernetes object. Is it an error message of the command before the pipe? Run that command alone (document 1, line 1)"], stdin="NAME   READY   STATUS\nweb-1  1/1     Running\n"),
    Mistake("no-pods-to-audit", 2, ["audit"], ["archfit: error: there are no pods in the input: pass kubectl get po,no,deploy,sts,ds,rs,jobs,cj -A -o json"], stdin=CONFIG_MAP),
    # In filters.
    *(
        Mistake(f"a-filter-that-matches-nothing-{id}", 0, ["--offline", "-q", STATED, *words, "web.yaml"], [f"archfit: warning: {message}"], files={"web.yaml": DEPLOYMENT})
        for id, words, message in (
            ("a-word", ["--exclude", "cart"], "--exclude: nothing in the input matches 'cart', which is read as a kind: did you mean Deployment/shop/cart?"),
            ("a-namespace", ["--exclude=shop"], "--exclude: nothing in the input matches 'shop', which is read as a kind: did you mean */shop?"),
            ("a-misspelt-name", ["--exclude=deployment/crat"], "--exclude: nothing in the input matches 'deployment/crat': did you mean Deployment/shop/cart?"),
            ("another-kind", ["--exclude=StatefulSet/*/api"], "--exclude: nothing in the input matches 'StatefulSet/*/api': it holds Deployment/shop/cart"),
            ("an-image", ["--image-platforms=x.io/pa=linux/amd64"], "--image-platforms: no image of the input matches 'x.io/pa': did you mean 'x.io/app'?"),
            ("an-image-of-another-registry", ["--image-platforms=harbor.example/*=linux/amd64"], "--image-platforms: no image of the input matches 'harbor.example/*': it holds x.io/app"),
            ("a-tag", ["--image-platforms=x.io/app:2=linux/amd64"], "--image-platforms: no image of the input matches 'x.io/app:2': did you mean 'x.io/app:1'?"),
            ("a-toleration-for-no-node", ["--tolerate=a=riscv64:NoSchedule"], "--tolerate: riscv64: the cluster has only amd64, arm64: if it has other nodes, name them in --cluster-architectures"),
            ("a-preference-for-no-node", ["--prefer=s390x=1"], "--prefer: s390x: the cluster has only amd64, arm64: if it has other nodes, name them in --cluster-architectures"),
        )
    ),
    *(
        Mistake(f"noop-a-filter-{id}", 0, ["--offline", "-q", *words, "web.yaml"], [], files={"web.yaml": DEPLOYMENT, **files}, environ=environ)
        for id, words, files, environ in (
            ("as-kubectl-writes-it", [STATED, "--exclude=deployment/cart", "--exclude=deploy", "--exclude=Deployments"], {}, {}),
            ("of-an-excluded-image", ["--exclude=deploy/*/cart", "--image-platforms=x.io/app=linux/arm64"], {}, {}),
            ("of-a-variable", [STATED], {}, {"ARCHFIT_EXCLUDE": "cart"}),
            ("of-a-file-for-many", [STATED, "--config=a.yaml"], {"a.yaml": HEAD + "spec:\n  exclude: [cart]\n  rules: [{match: {kind: Job}, skip: true}]\n"}, {}),
            ("of-an-object-without-a-row", [STATED, "--exclude=thing"], {"web.yaml": DEPLOYMENT + THING}, {}),
        )
    ),
    *(
        Mistake(f"a-namespace-that-the-input-does-not-have-in-{id}", 0, ["--offline", "-q", "--on-unknown=leave", STATED, "--config=c.yaml"], [f"archfit: warning: v1/Pod/a metadata: {NO_NAMESPACE} (document 1, line 1)"] * said, stdin=POD.replace("a:1", "app:1"), files={"c.yaml": f"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {{{filters}}}\n"})
        for id, filters, said in (
            ("a-rule", "rules: [{match: {namespace: shop, name: a}, skip: true}]", 1),
            ("an-exclude", "exclude: [Pod/shop/a]", 1),
            ("both", "exclude: [Pod/shop/a], rules: [{match: {namespace: 's*'}, skip: true}]", 1),
            ("a-rule-for-another-name", "rules: [{match: {namespace: shop, name: b}, skip: true}]", 0),
            ("a-rule-for-every-namespace", "rules: [{match: {namespace: '*', name: a}, tolerate: false}]", 0),
        )
    ),
    Mistake("an-only-that-matches-nothing", 2, ["explain", "--offline", "--only=cart", "web.yaml"], ["archfit: error: --only: nothing in the input matches 'cart', which is read as a kind: did you mean Deployment/shop/cart?"], files={"web.yaml": DEPLOYMENT}),
    # In annotations and references.
    Mistake("a-misspelt-annotation", 1, ["--offline"], ['archfit: error: v1/Pod/a metadata.annotations["archfit.dev/skipp"]: there is no annotation archfit.dev/skipp; did you mean archfit.dev/skip? (document 1, line 3)', UNKNOWN, "archfit: 2 problems; nothing was written"], stdin=annotated("skipp: 'true'")),
    Mistake("many-misspelt-annotations", 1, ["--offline"], [*[f'archfit: error: v1/Pod/a metadata.annotations["archfit.dev/{name}kipp"]: there is no annotation archfit.dev/{name}kipp; did you mean archfit.dev/skip? (document 1, line 3)' for name in "abcde"], "archfit: error: v1/Pod/a metadata.annotations: 2 more names here are unknown to archfit (document 1, line 3)", UNKNOWN, "archfit: 7 problems; nothing was written"], stdin=annotated(", archfit.dev/".join(f"{name}kipp: 'true'" for name in "abcdefg"))),
    Mistake("an-annotation-that-is-no-boolean", 1, ["--offline", "--on-unknown=leave", "-q"], ["archfit: warning: v1/Pod/a spec.containers[0].image: x.io/a:1: its platforms are not known: the cache has no answer, and --offline forbids asking: run once without --offline; it restricts nothing, and no toleration and no preference is added (--on-unknown leave) (document 1, line 6)", "archfit: error: v1/Pod/a metadata.annotations[\"archfit.dev/skip\"]: archfit.dev/skip has to be \"true\" or \"false\", not 'yes' (document 1, line 3)"], stdin=annotated("skip: 'yes'")),
    Mistake("an-upper-case-image", 1, ["--offline"], ["archfit: error: v1/Pod/a spec.containers[0].image: x.io/Web:1: no node can pull it: 'x.io/Web:1' has upper-case letters in its repository, 'Web'; they must be lower case; correct it, or where something fills it in later, state its platforms with the annotation archfit.dev/image-platforms on the pod template (document 1, line 6)", ONE], stdin=POD.replace("x.io/a:1", "x.io/Web:1")),
    Mistake("a-short-digest", 1, ["--offline"], ["archfit: error: v1/Pod/a spec.containers[0].image: x.io/a@sha256:abc: no node can pull it: 'x.io/a@sha256:abc' has a sha256 digest of 3 digits; it must have 64; correct it, or where something fills it in later, state its platforms with the annotation archfit.dev/image-platforms on the pod template (document 1, line 6)", ONE], stdin=POD.replace("x.io/a:1", "x.io/a@sha256:abc")),
    Mistake("an-image-with-a-blank", 1, ["--offline"], ["archfit: error: v1/Pod/a spec.containers[0].image: x.io/a latest: no node can pull it: 'x.io/a latest' holds a blank or a line end; correct it, or where something fills it in later, state its platforms with the annotation archfit.dev/image-platforms on the pod template (document 1, line 6)", ONE], stdin=POD.replace("x.io/a:1", "x.io/a latest")),
    # In the configuration file and in variables.
    Mistake("a-misspelt-option", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 3, spec.tolerat: there is no option 'tolerat': write 'tolerate'"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec: {tolerat: [gke]}\n"}),
    Mistake("a-flag-as-a-key", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4, spec.cluster-architectures: there is no option 'cluster-architectures': write 'clusterArchitectures'"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec:\n  cluster-architectures: [amd64]\n"}),
    Mistake("x86", 2, ["--cluster-architectures", "x86,arm64"], ["archfit: error: --cluster-architectures: 'x86' is not an architecture as Kubernetes labels its nodes: write 'amd64' (64 bit) or '386' (32 bit)"]),
    Mistake("arm-for-arm64", 0, ["--cluster-architectures", "amd64,arm", "-q", STATED], ["archfit: warning: --cluster-architectures: arm is the 32-bit arm; nodes such as Graviton, Ampere and Axion are arm64: 1 of the images has arm64 and no arm"], POD),
    Mistake("arm-required-for-arm64", 3, ["check", "--require", "arm", STATED, "--format", "json=r.json", "-q"], ["archfit: warning: --require: arm is the 32-bit arm; nodes such as Graviton, Ampere and Axion are arm64: 1 of the images has arm64 and no arm"], POD, stdout="x.io/a:1 does not run on linux/arm; it offers linux/amd64, linux/arm64\n    v1/Pod/a spec.containers[0].image (document 1, line 6)\n0 images run on linux/arm; 1 does not; 0 not known; 1 stated, not asked\n"),
    Mistake("a-CA-file-without-a-certificate", 2, ["--ca-file", "a.yaml"], ["archfit: error: --ca-file: 'a.yaml' holds no certificate in PEM: name a file with a line -----BEGIN CERTIFICATE-----"], POD, {"a.yaml": POD}),
    Mistake("--no-color", 2, ["--no-color"], ["archfit: error: archfit transform has no flag --no-color: write --color never, or set NO_COLOR=1"], POD),
    Mistake("-o-of-check", 2, ["check", "-o", "r.json"], ["archfit: error: archfit check has no flag -o: write --format FORM=FILE, as in --format json=report.json"], POD),
    Mistake("-o-of-lock", 2, ["lock", "-o", "my.lock"], ["archfit: error: archfit lock has no flag -o: the file is --lock-file FILE"], POD),
    Mistake("-o-of-explain", 2, ["explain", "-o", "a.txt"], ["archfit: error: archfit explain has no flag -o: it writes to standard output: add > FILE"], POD),
    Mistake("--json-of-transform", 2, ["--json"], ["archfit: error: archfit transform has no flag --json: --report FILE writes every decision as JSON"], POD),
    Mistake("a-cache-with-one-slash", 2, ["--cache", "redis:/127.0.0.1:6379"], ["archfit: error: --cache: begins as a URL without its two slashes: write it as 'redis://cache.example:6379/0', or a path behind ./"], POD),
    Mistake("four-mistakes-in-one-file", 2, ["--config", "a.yaml"], ["archfit: error: a.yaml line 4, spec.clusterArchitecture: there is no option 'clusterArchitecture': write 'clusterArchitectures'", "archfit: error: a.yaml line 5, spec.tolerate: has to be a list: write it as [gke]", "archfit: error: a.yaml line 6, spec.onUnknown: 'assum' is not one of fail, assume, leave: write 'assume'", "archfit: error: a.yaml line 7, operater: there is no key 'operater' here: write 'operator'"], POD, {"a.yaml": f"{HEAD}spec:\n  clusterArchitecture: [amd64]\n  tolerate: gke\n  onUnknown: assum\noperater: {{}}\n"}),
    Mistake("a-kustomization-behind-kustomize", 2, ["kustomize", "build", "overlay"], ["archfit: error: 'kustomize' is not a command: helm template CHART | archfit, kustomize build DIR | archfit, or kubectl kustomize DIR | archfit"], POD),
    Mistake("a-flag-before-its-command", 2, ["--require=arm64", "check", "web.yaml"], ["archfit: error: 'check' is a command: write it first, as in archfit check web.yaml --require=arm64"], POD),
    Mistake("a-file-that-is-not-there-behind-flags", 2, ["-q", "chekc.yaml"], ["archfit: error: cannot read 'chekc.yaml' (No such file or directory): name a file or a folder of manifests"], POD),
    Mistake("a-folder-that-is-called-nearly-as-a-command", 0, ["-q", "checks", "--diff"], [], POD, {"checks/a.yaml": CONFIG_MAP}),
    Mistake("standard-input-for-images", 2, ["inspect", "-"], ["archfit: error: '-' is no image: for those of manifests write archfit audit --images -; for names from standard input, xargs archfit inspect"], POD),
    Mistake("a-file-for-an-image", 2, ["inspect", "nginx", "web.yaml"], ["archfit: error: 'web.yaml' is no image: for those of manifests write archfit audit --images web.yaml; for names from standard input, xargs archfit inspect"], files={"web.yaml": POD}),
    Mistake("quiet-before-a-tool", 2, ["setup", "-q", "kpt"], ["archfit: error: 'kpt' is a tool: write it first, as in archfit setup kpt -q"], POD),
    Mistake("standard-input-of-check", 0, ["check", "-"], [], CONFIG_MAP),
    Mistake("a-file-where-a-folder-is-written", 2, ["setup", "argocd", "-o", "plugin"], ["archfit: error: archfit setup argocd has no flag -o: the folder is --into DIR"], POD),
    Mistake("a-folder-where-a-file-is-written", 2, ["setup", "cluster", "--into", "here"], ["archfit: error: archfit setup cluster has no flag --into: the file is -o FILE"], POD),
    Mistake("a-chart-for-the-post-renderer", 2, ["helm", "template", "web", "./chart", "--set", "password=s3cret"], ["archfit: error: 'template' is not expected: archfit helm is the post-renderer of Helm 4, and reads standard input: run helm template CHART | archfit, or archfit FILE"], POD),
    *(
        Mistake(f"a-kind-that-Kubernetes-does-not-have-{kind}", 0, ["--offline"], [f"archfit: info: apps/v1/{kind}/cart: not transformed: Kubernetes has no kind {kind} in apps: write Deployment (document 1, line 1)"], DEPLOYMENT.replace("Deployment", kind).replace(", namespace: shop", ""))
        for kind in ("Deploymnet", "deployment", "Deployments")
    ),
    Mistake("nearly-gke", 2, ["--tolerate", "gk"], ["archfit: error: --tolerate: 'gk' names no effect: write 'gke' for the taint of GKE's Arm nodes"], POD),
    Mistake("a-day-written-out", 2, ["--cache-ttl", "1day"], ["archfit: error: --cache-ttl: '1day' is not a duration: write '1d', or another with d, h, m, s or ms"], POD),
    Mistake("a-file-of-a-chart", 2, ["web/templates/a.yaml"], ["archfit: error: 'web/templates/a.yaml' is a template of the chart 'web'. Render it first: helm template web web | archfit"], "", {"web/Chart.yaml": "name: web\n", "web/templates/a.yaml": POD.replace("x.io/a:1", "x.io/a:{{ .Values.tag }}")}),
    Mistake("diff", 2, ["diff", "a.yaml"], ["archfit: error: 'diff' is not a command: write archfit --diff FILE, or pipe manifests into archfit --diff"]),
    Mistake("fix", 2, ["fix", "a.yaml"], ["archfit: error: 'fix' is not a command: write archfit --in-place FILE"]),
    Mistake("lint", 2, ["lint", "a.yaml"], ["archfit: error: 'lint' is not a command: archfit check says what would change, archfit explain why"]),
    Mistake("a-chart-behind-a-flag", 2, ["--helm", "./chart", "-f", "v.yaml"], ["archfit: error: archfit transform has no flag --helm: render first: helm template CHART | archfit transform"]),
    Mistake("template", 2, ["template", "web"], ["archfit: error: 'template' is not a command: helm template CHART | archfit, kustomize build DIR | archfit, or kubectl kustomize DIR | archfit"]),
    Mistake("a-name-for-cache-clear", 2, ["cache", "clear", "nginx"], ["archfit: error: archfit cache clear takes no name: it is about all answers; --no-cache asks again, and changes none"]),
    Mistake("a-format-that-there-is-not", 2, ["audit", "-o", "r.pdf", STATED], ["archfit: error: --output: '.pdf' says no format: end the name in .html, .htm, .json, .csv, .md, .markdown, .txt, .prom, or add --format"], POD),
    Mistake("a-certificate-that-is-not-there", 2, ["serve", "--tls-dir", "/none"], ["archfit: error: the server's certificate: cannot read '/none/tls.crt' (No such file or directory): name the folder of a mounted Secret of type kubernetes.io/tls with --tls-dir"]),
    Mistake("a-policy-of-nothing", 2, ["policy"], ["archfit: error: no manifests and no lock file are named: write --lock-file archfit.lock, as `archfit lock` makes it from your manifests, or pass the manifests to archfit policy (- is standard input)"], "", {"archfit.lock": LOCK}),
    Mistake("no-home-for-a-plugin", 2, ["setup", "helm"], ["archfit: error: there is no home directory to write to: set HOME, or name a directory with --into"], environ={"HOME": "home", "XDG_DATA_HOME": ""}),
    Mistake("nothing-to-remove", 1, ["setup", "argocd", "--remove"], ["archfit: error: there is nothing of `archfit setup argocd` in argocd-archfit: name its directory with --into, or leave it"]),
    Mistake("a-variable-of-Argo-CD", 2, ["argocd", "generate"], ["archfit: error: ARGOCD_ENV_VALUES_FILE: there is no such variable: write ARGOCD_ENV_VALUES_FILES, or leave it out"], environ={"ARGOCD_APP_NAME": "a", "ARGOCD_ENV_VALUES_FILE": "a.yaml"}),
    Mistake("a-text-for-a-list", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4, spec.clusterArchitectures: has to be a list: write it as [amd64]"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec:\n  clusterArchitectures: amd64\n"}),
    Mistake("a-text-for-a-boolean", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4, spec.strict: 'yes' is not a boolean: write true or false"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec:\n  strict: 'yes'\n"}),
    Mistake("trust-under-spec", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4, spec.mirror: belongs under operator: move it there"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec:\n  mirror: {docker.io: 'https://hub.example'}\n"}),
    Mistake("placement-under-operator", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4, operator.tolerate: belongs under spec: move it there"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "operator:\n  tolerate: [gke]\n"}),
    Mistake("a-file-without-its-head", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml: has no apiVersion: add apiVersion: archfit.dev/v1alpha1"], stdin=CONFIG_MAP, files={"archfit.yaml": "spec: {}\n"}),
    Mistake("a-tab-in-the-file", 2, ["--config", "archfit.yaml"], ["archfit: error: archfit.yaml line 4: is not YAML (found character that cannot start any token): indent with blanks instead of tabs"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "spec:\n\tstrict: true\n"}),
    Mistake("an-option-that-is-enforced", 2, ["--config", "archfit.yaml", "--tolerate=none"], ["archfit: error: --tolerate: tolerate is enforced by file archfit.yaml (--config): leave it out here"], stdin=CONFIG_MAP, files={"archfit.yaml": HEAD + "operator: {enforced: [tolerate]}\n"}),
    Mistake("a-file-that-is-missing", 2, ["--config", "archfit.yml"], ["archfit: error: --config: cannot read 'archfit.yml' (No such file or directory): name a file that archfit can read"], stdin=CONFIG_MAP),
    Mistake("a-misspelt-variable", 2, [], ["archfit: error: ARCHFIT_TOLERAT: there is no such variable: write ARCHFIT_TOLERATE, or unset it"], stdin=CONFIG_MAP, environ={"ARCHFIT_TOLERAT": "gke"}),
    Mistake("a-misspelt-value-of-a-variable", 2, [], ["archfit: error: ARCHFIT_ON_UNKNOWN: 'leav' is not one of fail, assume, leave: write 'leave'"], stdin=CONFIG_MAP, environ={"ARCHFIT_ON_UNKNOWN": "leav"}),
    Mistake("a-boolean-variable", 2, [], ["archfit: error: ARCHFIT_STRICT: 'yes' is not a boolean: write true or false"], stdin=CONFIG_MAP, environ={"ARCHFIT_STRICT": "yes"}),
    Mistake("a-variable-that-cannot-be-seen", 2, [], [r"archfit: error: ARCHFIT_SYSTEM_TAINTS: '' is no system of nodes beside Linux: write windows=\x1b"], stdin=CONFIG_MAP, environ={"ARCHFIT_SYSTEM_TAINTS": "=\x1b"}),
    function_config("a-function-config-that-forges-a-line", "archfit.dev/v1alpha1, kind: ArchFit", r'spec: {systemTaints: {linux: "x\nwarning: forged \e[2J"}}', r"spec.systemTaints.linux: 'linux' is no system of nodes beside Linux: write windows=x\nwarning: forged \x1b[2J"),
    function_config("a-ConfigMap-that-forges-a-line", "v1, kind: ConfigMap", r'data: {"clusterArchitectures\n": 1}', r"data.clusterArchitectures\n: there is no option 'clusterArchitectures\n': write 'clusterArchitectures'"),
    Mistake("an-application-of-Argo-CD-that-forges-a-line", 2, ["argocd", "generate"], [r"archfit: error: ARGOCD_ENV_ARCHFIT_X\nwarning: forged: there is no such variable: leave it out"], environ={"ARGOCD_APP_NAME": "a", "ARGOCD_ENV_ARCHFIT_X\nwarning: forged": "a"}),
    # In lock files and caches.
    Mistake("no-lock-file", 2, ["--lock-file", "archfit.lock"], ["archfit: error: --lock-file: there is no 'archfit.lock': write it with `archfit lock`, or name another"], stdin=POD),
    Mistake("an-image-that-the-lock-file-lacks", 1, ["--lock-file", "archfit.lock", "--locked"], ["archfit: error: v1/Pod/a spec.containers[0].image: x.io/b:1: archfit.lock does not hold x.io/b:1, and --locked forbids asking: run `archfit lock --add-missing` on these manifests (document 1, line 6)", ONE], stdin=POD.replace("x.io/a:1", "x.io/b:1"), files={"archfit.lock": LOCK}),
    Mistake("a-lock-file-that-is-no-JSON", 1, ["--lock-file", "archfit.lock"], ["archfit: error: archfit.lock line 1: is not JSON (expecting property name enclosed in double quotes, column 2); correct it"], stdin=POD, files={"archfit.lock": "{"}),
    Mistake("the-lock-file-of-another-tool", 1, ["--lock-file", "archfit.lock"], ["archfit: error: archfit.lock: is not a lock file of archfit, which has a version and images; name another, or write it with archfit lock"], stdin=POD, files={"archfit.lock": '{"lockfileVersion": 3}'}),
    Mistake("a-merge-conflict-in-the-lock-file", 1, ["lock"], ["archfit: error: archfit.lock line 1: has a git conflict marker; keep the lines that both sides added and one of those that differ, or take either side whole, then run archfit lock --add-missing"], stdin=POD, files={"archfit.lock": f"<<<<<<< HEAD\n{LOCK}=======\n{LOCK}>>>>>>> main\n"}),
    Mistake("a-cache-that-is-a-folder", 1, ["--offline", "--cache=folder"], ["archfit: warning: the cache folder is not a regular file: name another in --cache; this run goes on without it", UNKNOWN, ONE], stdin=POD, files={"folder": None}),
    Mistake("a-cache-that-is-another-file", 1, ["--offline", "--cache=notes.txt"], ["archfit: warning: the cache notes.txt is damaged or not an SQLite file (file is not a database): remove it, or name another file in --cache; this run goes on without it", UNKNOWN, ONE], stdin=POD, files={"notes.txt": "my notes\n"}),
    # At the commands of Helm and Argo CD.
    Mistake("no-kustomization", 2, ["setup", "kustomize"], ["archfit: error: the working directory holds no kustomization: name the folder of the outermost one with --into DIR"]),
    Mistake("no-package-of-kpt", 2, ["setup", "kpt"], ["archfit: error: the working directory holds no Kptfile: `kpt pkg init .` writes one, or name a package with --into"]),
    Mistake("no-Helm", 1, ["setup", "helm"], ["archfit: error: no Helm 4 was found on PATH: install it, name it with --helm PATH, or write the plugin into a directory that you choose with --into DIR"], environ={"PATH": "/nowhere"}),
    Mistake("no-Helm-to-check", 3, ["setup", "helm", "--check"], [], environ={"PATH": "/nowhere"}, stdout="wrong: no helm is on PATH: install Helm, or name it with --helm PATH\n"),
    Mistake("no-kubectl", 1, ["audit", "--live"], ["archfit: error: there is no kubectl on PATH: install it (https://kubernetes.io/docs/tasks/tools/)"], environ={"PATH": "/nowhere"}),
    Mistake("no-certificate-for-the-webhook", 2, ["serve"], ["archfit: error: archfit serve needs a certificate: add --tls-dir DIR"]),
    Mistake("nothing-to-render-for-Argo-CD", 1, ["argocd", "generate"], ["archfit: error: there is nothing to render here: no Chart.yaml, no kustomization.yaml, and no .yaml, .yml or .json file. Correct the application's path, or set the parameter directory-recurse to true to read folders below it"]),
    Mistake("parameters-of-Argo-CD-that-are-no-JSON", 2, ["argocd", "generate"], ['archfit: error: ARGOCD_APP_PARAMETERS: is not JSON: write a list, as [{"name": "values-files", "array": ["values.yaml"]}]'], files={"web.yaml": POD}, environ={"ARGOCD_APP_PARAMETERS": "{"}),
    Mistake("pods-where-nodes-are-expected", 1, ["setup", "cluster"], ["archfit: error: the list holds no node, but 1 Pod: pass the output of `kubectl get nodes -o json`"], stdin=POD),
    # On the way out.
    Mistake("a-report-in-a-folder-that-is-not-there", 1, ["--report", "reports/archfit.json"], ["archfit: error: --report: cannot write 'reports/archfit.json': there is no folder 'reports': make it, or name another file"], stdin=CONFIG_MAP),
    Mistake("an-output-that-is-an-input", 2, ["-o", "web.yaml", "web.yaml"], ["archfit: error: --output: 'web.yaml' is an input: to change the files themselves, run archfit --in-place web.yaml"], files={"web.yaml": CONFIG_MAP}),
    Mistake("in-place-without-a-file", 2, ["--in-place"], ["archfit: error: --in-place: standard input is no file: name files or folders, or leave out --in-place"], stdin=CONFIG_MAP),
    Mistake("no-run-to-show", 1, ["last"], ["archfit: error: no run has left a report yet in 'HERE/s/archfit/last.json': run archfit on manifests first"]),
]
# fmt: on


def lines(said: str) -> list[str]:
    """The messages, without the line that names the page about the outcome: `report.outcome_page` chooses it."""
    return [line for line in said.splitlines() if not line.startswith("archfit: see ")]


def run(words: Sequence[str], stdin: str, environ: Mapping[str, str]) -> tuple[int, str, str]:
    """Archfit in this process: its exit code, standard output and standard error."""
    ended = file_runs.run(tuple(words), stdin.encode(), **environ)
    return ended.status, ended.stdout.decode(), ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["check", "web.yaml", "--config=evil.yaml"], id="a flag with a value"),
        pytest.param(["--offline", "--config=evil.yaml"], id="no command"),
        pytest.param(["transform", "--in-place", "--config=evil.yaml", "web.yaml"], id="in place"),
        pytest.param(["lock", "--add-missing", "-o"], id="a short flag"),
        pytest.param(["--help"], id="help"),
    ],
)
def test_a_flag_that_is_also_a_files_name_is_refused(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(POD)
    named = next(word for word in reversed(words) if word.startswith("-"))
    (tmp_path / named).parent.mkdir(exist_ok=True)
    (tmp_path / named).touch()
    status, out, said = run(words, "", {"HOME": str(tmp_path)})
    assert (status, out) == (2, "")
    assert f"{named!r} is a flag and the name of a file here" in said


def test_behind_two_dashes_a_files_name_is_no_flag(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--config=evil.yaml").write_text(POD)
    status, _, said = run(["check", "--offline", "--", "--config=evil.yaml"], "", {"HOME": str(tmp_path)})
    assert status == 1
    assert "v1/Pod/a spec.containers[0].image" in said


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.id)
def test_a_mistake_has_its_message(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in mistake.files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            file.mkdir()
        else:
            file.write_bytes(content.encode() if isinstance(content, str) else content)
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": f"{tmp_path}/s", "XDG_CACHE_HOME": f"{tmp_path}/c"}
    status, out, said = run(mistake.words, mistake.stdin, {**environ, **mistake.environ})
    assert lines(said.replace(str(tmp_path), "HERE")) == mistake.stderr
    assert status == mistake.status
    if status:
        assert out == mistake.stdout
    assert "Traceback" not in said
    assert "report this" not in said


OF_OTHERS = {"--set", "--namespace", "--dir", "--install", "--create-namespace"}


def test_what_a_message_tells_to_type_exists():
    """Flags and commands of archfit in the messages of the tables; REMEDIES runs what can be run here."""
    flags = {
        name
        for command in COMMAND_ROWS
        for name in (*(flag for one in command.flags for flag in one.names), *OF_OPTIONS)
    }
    said = [line for one in MISTAKES for line in one.stderr] + [
        row[3] for row in (*REGISTRIES, *PLACES, *STREAMS)
    ]
    for line in said:
        told = re.sub(r"no flag '?-\S+", "", line)
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", told)) - OF_OTHERS
        assert named <= flags, line
        for words in re.findall(r"(?<!install )archfit ([a-z][a-z-]+)(?= |$|:|`)", told):
            assert (
                words in BY_NAME or words in first_words() or words in {"can", "could", "made", "on", "reads"}
            ), line


REMEDIES = [
    # the mistake, what its message tells to type, files
    ("a-name-of-kubectl", ["--exclude", "cart", "web.yaml"], ["--exclude", "Deployment/shop/cart", "web.yaml"], {}),
    ("a-namespace", ["--exclude", "shop", "web.yaml"], ["--exclude", "*/shop", "web.yaml"], {}),
    ("an-image", ["--image-platforms", "x.io/ap=linux/amd64", "web.yaml"], ["--image-platforms", "x.io/app=linux/amd64", "web.yaml"], {}),
    ("an-output", ["-o", "web.yaml", "web.yaml"], ["--in-place", "web.yaml"], {}),
    ("in-place", ["-i", "web.yaml"], ["--in-place", "web.yaml"], {}),
    ("a-file", ["wep.yaml"], ["web.yaml"], {}),
    ("a-preference", ["--prefer", "arm64", "web.yaml"], ["--prefer", "arm64=1", "web.yaml"], {}),
    ("a-weight-behind-a-colon", ["--prefer", "arm64:10", "web.yaml"], ["--prefer", "arm64=10", "web.yaml"], {}),
    ("an-architecture-for-a-taint", ["--tolerate", "aarch64", "web.yaml"], ["--tolerate", "kubernetes.io/arch=arm64:NoSchedule", "web.yaml"], {}),
    ("a-key-for-a-taint", ["--tolerate", "dedicated", "web.yaml"], ["--tolerate", "dedicated:NoSchedule@arm64", "web.yaml"], {}),
    ("a-command-behind-flags", ["--no-cache", "check", "--require", "arm64", "web.yaml"], ["check", "--require", "arm64", "web.yaml"], {}),
    ("a-folder-over-itself", ["-o", "./", "."], ["--in-place", "."], {}),
    ("a-share", ["audit", "--min-ready", "0.8", "web.yaml"], ["audit", "--min-ready", "80%", "web.yaml"], {}),
    ("a-taint", ["--tolerate", "arch=arm64", "web.yaml"], ["--tolerate", "arch=arm64:NoSchedule", "web.yaml"], {}),
    ("a-duration", ["--timeout", "30", "web.yaml"], ["--timeout", "30s", "web.yaml"], {}),
    (
        "an-image-in-short",
        ["--image-platforms", "nginx=linux/amd64", "web.yaml"],
        ["--image-platforms", "docker.io/library/nginx=linux/amd64", "web.yaml"],
        {"web.yaml": "nginx"},
    ),
    ("no-lock-file", ["--lock-file", "archfit.lock", "web.yaml"], ["lock", "web.yaml"], {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "right", "images"), [pytest.param(*row[1:], id=row[0]) for row in REMEDIES]
)
def test_what_a_message_tells_to_type_ends_the_message(wrong, right, images, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image = images.get("web.yaml", "x.io/app:1")
    (tmp_path / "web.yaml").write_text(DEPLOYMENT.replace("x.io/app:1", image))
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": f"{tmp_path}/s", "XDG_CACHE_HOME": f"{tmp_path}/c"}
    with FakeRegistry() as registry:
        registry.index("app", "1", ["linux/amd64", "linux/arm64"])
        registry.index("library/nginx", "latest", ["linux/amd64", "linux/arm64"])
        own = ["-q", f"--mirror=*=http://{registry.host}"]
        _, _, said = run([*wrong, *own], "", environ)
        assert lines(said)
        told = next((word for word in right if word not in wrong), shlex.join(right))
        assert told in said or told.partition("=")[0] in said
        right = [*right[:1], *own, *right[1:]] if right[0] in BY_NAME else [*own, *right]
        assert run(right, "", environ)[0] == 0
        assert not [
            line for line in lines(run(right, "", environ)[2]) if line.startswith(("error", "warning"))
        ]


@pytest.mark.parametrize("kind", ["Deploymnet", "deployment", "Deployments"])
def test_a_kind_that_a_message_tells_to_write_is_transformed(kind):
    wrong = DEPLOYMENT.replace("Deployment", kind)
    told = re.search(r": write (\w+) ", run([STATED], wrong, {})[2])
    assert told
    assert run([STATED], wrong.replace(kind, told[1]), {}) == run([STATED], DEPLOYMENT, {})
    assert run([STATED], DEPLOYMENT, {})[1] != DEPLOYMENT


SCHEMA_1 = b'{"schemaVersion": 1, "name": "a", "tag": "1", "architecture": "amd64", "fsLayers": []}'
# fmt: off
REGISTRIES: list[tuple[str, Answer | None, list[str], str]] = [
    ("an-image-that-is-not-there", None, [], "there is no such image: http://HOST has no a:1 (it is asked for x.io because of --mirror *=http://HOST); correct the image, or leave such pods as they are with --on-absent leave"),
    ("a-private-repository", Answer(401), [], "its platforms are not known: http://HOST found nothing, or gives no anonymous access (log in with `docker login HOST`; where the nodes alone have the image, write imagePullPolicy: Never), for a:1 (401) (it is asked for x.io because of --mirror *=http://HOST). Correct this, or state the platforms with --image-platforms or archfit.dev/image-platforms"),
    ("credentials-without-access", Answer(403), [], "its platforms are not known: http://HOST found nothing, or gives no anonymous access (log in with `docker login HOST`; where the nodes alone have the image, write imagePullPolicy: Never), for a:1 (403) (it is asked for x.io because of --mirror *=http://HOST). Correct this, or state the platforms with --image-platforms or archfit.dev/image-platforms"),
    ("too-many-requests", Answer(429, headers={"Retry-After": "3600"}), [], "its platforms are not known: http://HOST answered 429 for a:1: it is asked too often: try later, or ask a mirror (--mirror) (it is asked for x.io because of --mirror *=http://HOST). You can also state them with --image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave"),
    ("a-registry-with-a-defect", Answer(500, headers={"Retry-After": "3600"}), [], "its platforms are not known: http://HOST answered 500 for a:1: try again later (it is asked for x.io because of --mirror *=http://HOST). You can also state them with --image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave"),
    ("a-login-page", Answer(200, b"<html></html>", {"Content-Type": "text/html"}), [], "its platforms are not known: http://HOST (it is asked for x.io because of --mirror *=http://HOST) answered for x.io/a:1, but the answer is not understood: it is a web page, not a manifest: check for a proxy or a login page. You can also state them with --image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave"),
    ("a-legacy-manifest", Answer(200, SCHEMA_1, {"Content-Type": "application/vnd.docker.distribution.manifest.v1+json"}), [], "its platforms are not known: http://HOST (it is asked for x.io because of --mirror *=http://HOST) answered for x.io/a:1, but the answer is not understood: it is a Docker schema 1 manifest, a legacy format that current container runtimes refuse: push the image again with a current tool. You can also state them with --image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave"),
]
PLACES = [
    ("a-registry-that-is-not-running", ["--mirror", "*=http://127.0.0.1:1"], POD, "x.io/a:1: its platforms are not known: 127.0.0.1:1 cannot be connected to (Connection refused): check the name, the port and the network (it is asked for x.io because of --mirror *=http://127.0.0.1:1). You can also state them with --image-platforms or archfit.dev/image-platforms, or choose --on-unknown assume or leave"),
]
# fmt: on


@pytest.mark.parametrize(
    ("answer", "words", "message"), [pytest.param(*row[1:], id=row[0]) for row in REGISTRIES]
)
def test_an_answer_of_a_registry_has_its_message(answer, words, message):
    with FakeRegistry() as registry:
        if answer:
            registry.always(answer)
        words = [*words, "--no-cache", f"--mirror=*=http://{registry.host}"]
        status, out, said = run(words, POD, {})
    line = f"archfit: error: v1/Pod/a spec.containers[0].image: x.io/a:1: {message} (document 1, line 6)"
    assert lines(said.replace(registry.host, "HOST")) == [line, ONE]
    assert (status, out) == (1, "")


@pytest.mark.parametrize(("words", "text", "message"), [pytest.param(*row[1:], id=row[0]) for row in PLACES])
def test_a_registry_that_is_not_there_has_its_message(words, text, message):
    status, out, said = run(["--no-cache", *words], text, {})
    assert lines(said) == [
        f"archfit: error: v1/Pod/a spec.containers[0].image: {message} (document 1, line 6)",
        ONE,
    ]
    assert (status, out) == (1, "")


def test_a_choice_that_the_operator_enforces_is_not_offered(tmp_path):
    """As the file that `archfit setup argocd` writes does it: another value would be wrong usage."""
    (tmp_path / "archfit.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator: {enforced: [onUnknown]}\n"
    )
    words = ["--no-cache", "--mirror", "*=http://127.0.0.1:1", "--config", str(tmp_path / "archfit.yaml")]
    _status, _out, said = run(words, POD, {})
    assert lines(said)[0].endswith(
        ". You can also state them with --image-platforms or archfit.dev/image-platforms (document 1, line 6)"
    )


def test_a_name_that_nobody_resolves_has_its_message(monkeypatch):
    def nowhere(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("archfit.registry.http.connections._resolve", nowhere)
    status, out, said = run(["--no-cache"], POD, {})
    assert (status, out) == (1, "")
    assert lines(said) == [
        "archfit: error: v1/Pod/a spec.containers[0].image: x.io/a:1: its platforms are not known: the name 'x.io' cannot be "
        "resolved: correct the registry's name, or where only a proxy knows it, set HTTPS_PROXY. You can also state them with --image-platforms "
        "or archfit.dev/image-platforms, or choose --on-unknown assume or leave (document 1, line 6)",
        ONE,
    ]


def test_a_registry_in_plain_http_shows_the_mirror_to_write():
    with FakeRegistry() as registry:
        registry.index("a", "1", ["linux/amd64"])
        pod = POD.replace("x.io", registry.host)
        status, _out, said = run(["--no-cache", "--allow-host", registry.host], pod, {})
        assert status == 1
        assert f"--mirror {registry.host}=http://{registry.host}" in said
        assert run(["--no-cache", "--mirror", f"{registry.host}=http://{registry.host}"], pod, {})[0] == 0


def test_a_registry_that_says_nothing_names_the_deadline():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        status, _out, said = run(["--no-cache", "--timeout=300ms", f"--mirror=*=http://{host}"], POD, {})
    assert status == 1
    assert f"{host} gave no answer before the deadline: try again, or allow more with --timeout" in said


# What only a process can be made to do: its streams are closed, or lead to a full disk.
STREAMS = [
    ("a-full-disk", ">/dev/full <in.yaml", 1, "archfit: error: standard output cannot be written: No space left on device"),
    ("no-standard-output", ">&- <in.yaml", 1, "archfit: error: standard output is closed: there is nowhere to write to"),
    ("no-standard-input", "<&-", 1, "archfit: error: standard input is closed: pipe manifests into archfit, or redirect a file to it"),
    ("standard-input-by-its-name", "- in.yaml <&-", 1, "archfit: error: standard input is closed: pipe manifests into archfit, or redirect a file to it"),
    ("noop-a-file-without-standard-input", "in.yaml <&-", 0, ""),
    ("noop-a-checked-file-without-standard-input", "check --quiet in.yaml <&-", 0, ""),
    (
        "a-file-that-is-its-own-output",
        "in.yaml >in.yaml",
        2,
        "archfit: error: 'in.yaml' is the file of standard output, too, and the shell has emptied it before archfit could read "
        "it: restore it, then run archfit --in-place in.yaml",
    ),
    ("a-file-that-grows-by-itself", "in.yaml >>in.yaml", 2, "archfit: error: 'in.yaml' is the file of standard output, too: run archfit --in-place in.yaml"),
    (
        "standard-input-that-is-the-output",
        "<in.yaml >in.yaml",
        2,
        "archfit: error: standard input is the file of standard output, too, and the shell has emptied it before archfit could "
        "read it: restore it, then write to another file",
    ),
    (
        "a-checked-file-that-is-the-report",
        "check in.yaml >in.yaml",
        2,
        "archfit: error: 'in.yaml' is the file of standard output, too, and the shell has emptied it before archfit could read "
        "it: restore it, then write to another file",
    ),
    ("an-audited-file-that-is-the-report", "audit in.yaml >>in.yaml", 2, "archfit: error: 'in.yaml' is the file of standard output, too: write to another file"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("streams", "status", "message"), [pytest.param(*row[1:], id=row[0]) for row in STREAMS]
)
def test_a_stream_that_cannot_be_used(streams, status, message, tmp_path):
    (tmp_path / "in.yaml").write_text(CONFIG_MAP)
    done = machine.run(f"{shlex.quote(str(PROGRAM))} {streams}", shell=True, cwd=tmp_path)
    assert done.stderr.splitlines() == message.splitlines()
    assert done.returncode == status


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param("--diff in.yaml", 0, id="a-diff"),
        pytest.param("explain in.yaml", 0, id="an-explanation"),
        pytest.param("check in.yaml", 3, id="a-check-keeps-its-finding"),
        pytest.param("inspect a.example/a:1 --json", 1, id="an-inspection-keeps-its-failure"),
    ],
)
def test_a_report_may_have_a_reader_that_stops_early(words, status, tmp_path):
    done = _into_a_closed_pipe(words, tmp_path)
    assert (done.returncode, "closed it" in done.stderr) == (status, False)


@pytest.mark.parametrize("words", ["in.yaml", "- <in.yaml", "patch in.yaml"])
def test_noop_manifests_are_written_whole_or_the_run_fails(words, tmp_path):
    done = _into_a_closed_pipe(words, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "archfit: error: the reader of the output closed it before the end"


def _into_a_closed_pipe(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program, whose reader is gone before it starts."""
    (folder / "in.yaml").write_text(POD)
    reader, writer = os.pipe()
    os.close(reader)
    options = "" if words.startswith("inspect") else "--image-platforms=x.io/a=linux/amd64"
    try:
        return subprocess.run(
            f"{shlex.quote(str(PROGRAM))} {words} --offline {options}",
            shell=True,
            cwd=folder,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
