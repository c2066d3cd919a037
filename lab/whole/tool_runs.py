"""How each tool of docs/tools.md is run with the blocks of its section: what is written where, and which command runs.

RUNS      tool -> ToolRun, in the order of the page

A run follows the blocks twice: with an archfit that fails, which has to stop the tool before anything is deployed, and
with one that does its work, which has to be seen in the cluster. `make -C lab whole PART=tools` runs all of RUNS,
`make test-all` those whose programs it has anyway.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

import machine
from helm_runs import set_up
from whole.tool_page import IMAGE, SYSTEM_PATH, Block, Workplace

Blocks = Sequence[Block]
TOOL, STEPS, TYPES = "tool", "steps", "types"
_SAYS_ITS_VERSION = {
    "devspace": ("--version",), "nelm": ("version",), "tilt": ("version",), "timoni": ("version", "--client"),
}  # fmt: skip
_SKAFFOLD_FLAGS = """
apiVersion: skaffold/v4beta13
kind: Config
deploy:
  helm:
    flags: {install: [--post-renderer=archfit], upgrade: [--post-renderer=archfit]}
    releases: [{name: web, chartPath: chart}]
"""
_PULUMI = """
import json, sys, pulumi

class Recorder(pulumi.runtime.Mocks):
    def new_resource(self, args):
        seen.append([args.typ, args.inputs])
        return args.name, args.inputs

    def call(self, args):
        return {}

@pulumi.runtime.test
def follow():
    with open(sys.argv[1], encoding="utf-8") as file:
        exec(compile(file.read(), file.name, "exec"), {})

seen = []
pulumi.runtime.set_mocks(Recorder())
follow()
print(json.dumps(seen))
"""


class ToolRun(NamedTuple):
    """programs: name on PATH -> a tool of machine.TABLE, or another program's name. follow: raises AssertionError.

    says: what was done, with {program} for a version. read: what the block was written after, for where nobody runs it.
    ran: TOOL, the real program; STEPS, the shell commands of a CI system, which is not run itself; TYPES, what the tool
    takes the block for, and no more. The first two fail with archfit, and deploy what archfit placed.
    """

    says: str
    programs: Mapping[str, str]
    follow: Callable[[Workplace, Blocks], None]
    read: str = ""
    ran: str = TOOL

    def lacking(self) -> list[str]:
        return [name for name in self.programs.values() if not machine.find(name)]

    def said(self) -> str:
        """What was done, with versions. Raises AssertionError where a program does not say its own."""
        return re.sub(r"\{(.+?)\}", lambda found: _version(found[1]), self.says)


def _version(name: str) -> str:
    """Of a program: the pinned one, else what it says itself."""
    if name in machine.TABLE:
        return machine.TABLE[name].version.removeprefix("v")
    words = [str(machine.find(name)), *_SAYS_ITS_VERSION[name]]
    said = machine.run(words)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout + said.stderr)
    assert found, f"{' '.join(words)} names no version"
    return found[0]


def _twice(place: Workplace, step: Callable[[], object], *names: str) -> None:
    place.refused(step)
    step()
    place.deployed(*names)


def _shell(place: Workplace, blocks: Blocks) -> None:
    (block,) = blocks
    assert block.language == "sh"
    _twice(place, lambda: place.shell(block.text), "web")


def _helmfile(place: Workplace, blocks: Blocks) -> None:
    place.write("helmfile.yaml", blocks[0].text)
    for helm in ("helm3", "helm4"):
        place.link("helm", machine.find(helm) or machine.missing(helm, machine.TABLE[helm].line))
        if helm == "helm4":
            set_up(place.folder / "plugins")
            place.environ["HELM_PLUGINS"] = str(place.folder / "plugins")
        _twice(place, lambda: place.run("helmfile", "sync"), "web")
        place.empty()


def _opentofu(place: Workplace, blocks: Blocks) -> None:
    """Both forms, each with its provider, which a development override names."""
    for block, version in zip(blocks, ("3.1.2", "2.17.0"), strict=True):
        provider = f"terraform-provider-helm_v{version}"
        folder = f"provider-{version}"
        place.write(f"{folder}/main.tf", block.text)
        place.write(
            f"{folder}/tofurc",
            'provider_installation {\n  dev_overrides {\n    "hashicorp/helm" = "'
            f'{place.folder}/{folder}/bin"\n  }}\n  direct {{}}\n}}\n',
        )
        place.write(f"{folder}/bin/.keep", "")
        found = machine.find(provider) or machine.missing(provider, f"put {provider} on PATH")
        shutil.copy(found, place.folder / folder / "bin" / "terraform-provider-helm")
        shutil.copytree(place.folder / "chart", place.folder / folder / "chart")
        settings = {
            "TF_CLI_CONFIG_FILE": f"{place.folder}/{folder}/tofurc",
            "KUBE_CONFIG_PATH": place.environ["KUBECONFIG"],
        }

        def apply(folder: str = folder, settings: Mapping[str, str] = settings) -> None:
            place.run("tofu", "apply", "-auto-approve", "-no-color", cwd=folder, **settings)

        _twice(place, apply, "web")
        place.empty()


def _pulumi(place: Workplace, blocks: Blocks) -> None:
    """Pulumi's own types, with a stand-in for its engine, which is told what the provider would be asked for."""
    python = machine.TOOLS / "python" / "python-pulumi" / "bin" / "python"
    place.write("__main__.py", blocks[0].text)
    asked = dict(json.loads(place.run(python, "-c", _PULUMI, "__main__.py")))
    assert asked["kubernetes:helm.sh/v4:Chart"]["postRenderer"] == {"command": "archfit"}, asked
    assert asked["kubernetes:helm.sh/v3:Release"]["postrender"] == "archfit", asked


def _ansible(place: Workplace, blocks: Blocks) -> None:
    place.write("playbook.yml", blocks[0].text)
    program = machine.TOOLS / "python" / "python-ansible" / "bin" / "ansible-playbook"
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": str(machine.TOOLS / "parts"),
        "ANSIBLE_HOME": str(place.folder / "ansible"),
        "LC_ALL": "C.UTF-8",
    }
    _twice(place, lambda: place.run(program, "playbook.yml", **settings), "web")


def _devspace(place: Workplace, blocks: Blocks) -> None:
    place.write("devspace.yaml", blocks[0].text)
    words = ("--no-warn", "--namespace", "default")
    _twice(place, lambda: place.run("devspace", "deploy", *words), "web")
    assert "kubernetes.io/arch" in place.run("devspace", "deploy", "--render", "--skip-build", *words)


def _skaffold(place: Workplace, blocks: Blocks) -> None:
    """The hook; and the post-renderer, of which the page warns, as long as Skaffold does not see that it fails."""

    def step() -> None:
        place.run("skaffold", "run", "--interactive=false", SKAFFOLD_UPDATE_CHECK="false")

    place.write("skaffold.yaml", blocks[0].text)
    _twice(place, step, "web")
    assert "archfit" in place.read("archfit.log")
    place.empty()
    place.write("skaffold.yaml", _SKAFFOLD_FLAGS)
    step()
    place.deployed("web")
    with place.failing():
        step()
    assert not place.deployments(), "Skaffold saw that archfit failed: docs/tools.md warns of what is no more"


def _tilt(place: Workplace, blocks: Blocks) -> None:
    place.write("Tiltfile", f"allow_k8s_contexts('tests')\n{blocks[0].text}")
    _twice(place, lambda: place.run("tilt", "ci", "--port=0", "--timeout=60s"), "web")


def _carvel(place: Workplace, blocks: Blocks) -> None:
    """The image is at a host that answers, as kbld asks the registry itself."""
    here = f"{place.loopback}/{IMAGE}"
    place.write("config/web.yaml", place.read("config/web.yaml").replace(IMAGE, here))
    _shell(place, blocks)
    (container,) = place.deployments()["web"]["spec"]["template"]["spec"]["containers"]
    assert "@sha256:" in container["image"], "kbld behind archfit pins the image"


def _tanka(place: Workplace, blocks: Blocks) -> None:
    """The block has both ways; each has to place. What was exported is applied here."""
    *export, show = blocks[0].text.splitlines()

    def exported() -> None:
        shutil.rmtree(place.folder / "rendered", ignore_errors=True)
        place.shell("\n".join(export))
        place.shell("kubectl apply -f 'rendered/*.yaml'")

    for step in (exported, lambda: place.shell(show)):
        _twice(place, step, "web")
        place.empty()


def _cdk8s(place: Workplace, blocks: Blocks) -> None:
    place.environ["NODE_PATH"] = str(machine.TOOLS / "node" / "cdk8s" / "node_modules")
    place.environ["CHECK_UPGRADE"] = "false"
    _shell(place, blocks)


def _in_steps(place: Workplace, scripts: Sequence[str], *shell: str) -> None:
    """Scripts of a CI system, each in a shell as the system starts it, until one fails."""

    def step() -> None:
        for script in scripts:
            place.shell(script, *shell)

    _twice(place, step, "web")


def _valid(place: Workplace, kind: str, text: str) -> None:
    place.write(f"{kind}.yml", text)
    place.run(
        machine.tool("check-jsonschema"),
        "--builtin-schema",
        f"vendor.{kind}",
        f"{kind}.yml",
        PATH=SYSTEM_PATH,
    )


def _jenkins(place: Workplace, blocks: Blocks) -> None:
    """Each `sh` is a script of `sh -xe` (durable-task, BourneShellScript)."""
    place.write("Jenkinsfile", blocks[0].text)
    judge = machine.ROOT / "lab" / "whole" / "jenkinsfile_steps.groovy"
    steps = place.run("groovy", judge, "Jenkinsfile").splitlines()
    _in_steps(place, [json.loads(step) for step in steps], "/bin/sh", "-xe", "-c")


def _azure(place: Workplace, blocks: Blocks) -> None:
    """Bash@3 starts `bash --noprofile --norc FILE`."""
    _valid(place, "azure-pipelines", blocks[0].text)
    steps = yaml.safe_load(blocks[0].text)["steps"]
    _in_steps(place, [step["bash"] for step in steps], "/bin/bash", "--noprofile", "--norc", "-c")


def _circleci(place: Workplace, blocks: Blocks) -> None:
    """The default shell is `/bin/bash -eo pipefail`."""
    _valid(place, "circle-ci", blocks[0].text)
    steps = yaml.safe_load(blocks[0].text)["jobs"]["deploy"]["steps"]
    _in_steps(place, [step["run"] for step in steps if step != "checkout"])


def _buildkite(place: Workplace, blocks: Blocks) -> None:
    """The agent runs the commands of a step as lines of one script of `/bin/bash -e -c` (clicommand/agent_start.go)."""
    _valid(place, "buildkite", blocks[0].text)
    for step in yaml.safe_load(blocks[0].text)["steps"]:
        _in_steps(place, ["\n".join(step["commands"])], "/bin/bash", "-e", "-c")


def _tekton(place: Workplace, blocks: Blocks) -> None:
    """A script without a first line of its own follows `#!/bin/sh` and `set -e` (pkg/pod/script.go)."""
    task: dict[str, Any] = yaml.safe_load(blocks[0].text)
    scripts = [step["script"] for step in task["spec"]["steps"]]
    assert not any(script.startswith("#!") for script in scripts)
    _in_steps(place, [f"set -e\n{script}" for script in scripts], "/bin/sh", "-c")


RUNS: dict[str, ToolRun] = {
    "helmfile": ToolRun(
        "run with helmfile {helmfile}, Helm {helm3} and {helm4}",
        {"helmfile": "helmfile"},
        _helmfile,
        read="the documentation of helmfile",
    ),
    "Terraform and OpenTofu": ToolRun(
        "run with OpenTofu {tofu}, helm provider 3.1.2 and 2.17.0",
        {
            "tofu": "tofu",
            **{f"helm-provider-{one}": f"terraform-provider-helm_v{one}" for one in ("3.1.2", "2.17.0")},
        },
        _opentofu,
        read="the source of the helm provider, 3.1.2 and 2.17.0",
    ),
    "Pulumi": ToolRun(
        "read by the types of pulumi-kubernetes {python-pulumi}; engine and provider not run",
        {"python-pulumi": "python-pulumi"},
        _pulumi,
        ran=TYPES,
    ),
    "Ansible": ToolRun(
        "run with ansible-core {python-ansible}, kubernetes.core of ansible {kubernetes-core}, Helm {helm3}",
        {"python-ansible": "python-ansible", "kubernetes-core": "kubernetes-core"},
        _ansible,
    ),
    "DevSpace": ToolRun(
        "run with DevSpace {devspace}, Helm {helm3}",
        {"devspace": "devspace"},
        _devspace,
        read="the source of DevSpace 6.3.21",
    ),
    "Skaffold": ToolRun("run with Skaffold {skaffold}", {"skaffold": "skaffold"}, _skaffold),
    "Tilt": ToolRun("run with Tilt {tilt}", {"tilt": "tilt"}, _tilt, read="the source of Tilt 0.37.6"),
    "werf and Nelm": ToolRun("run with Nelm {nelm}", {"nelm": "nelm"}, _shell, read="the source of Nelm 1.30.0"),
    "Carvel": ToolRun(
        "run with ytt {ytt}, kbld {kbld}, kapp {kapp}",
        {name: name for name in ("ytt", "kbld", "kapp")},
        _carvel,
    ),
    "Timoni": ToolRun("run with Timoni {timoni}", {"timoni": "timoni"}, _shell, read="the source of Timoni 0.33.0"),
    "Jsonnet and Tanka": ToolRun("run with Tanka {tk}", {"tk": "tk"}, _tanka),
    "cdk8s": ToolRun("run with cdk8s-cli {cdk8s}", {"cdk8s": "cdk8s"}, _cdk8s),
    "Jenkins": ToolRun(
        "read by Groovy {groovy}, the one in Jenkins; the steps run in sh; Jenkins not run",
        {"groovy": "groovy"},
        _jenkins,
        ran=STEPS,
    ),
    "Azure DevOps": ToolRun("checked with its published schema; the steps run in bash", {}, _azure, ran=STEPS),
    "CircleCI": ToolRun("checked with its published schema; the steps run in bash", {}, _circleci, ran=STEPS),
    "Buildkite": ToolRun("checked with its published schema; the steps run in bash", {}, _buildkite, ran=STEPS),
    "Tekton": ToolRun("checked with Tekton's schema, in `make test-all`; the script run in sh", {}, _tekton, ran=STEPS),
}  # fmt: skip
