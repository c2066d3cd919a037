"""examples/cdk8s_chart.py, as its reader runs it."""

import shutil

import pytest
import yaml

import machine
from machine import ROOT


@pytest.mark.real
def test_a_deployment_of_cdk8s_plus_is_written_placed(run_python, tmp_path):
    if shutil.which("node") is None:
        machine.missing("node", "install Node.js, in which jsii runs cdk8s")
    source = (ROOT / "examples" / "cdk8s_chart.py").read_text(encoding="utf-8")
    (tmp_path / "app.py").write_text(source.replace("nginx:1.27", "amd.example/app:1"))
    run_python("cdk8s", "app.py")
    (written,) = (tmp_path / "dist").iterdir()
    text = written.read_text(encoding="utf-8")
    (deployment,) = yaml.safe_load_all(text)
    spec = deployment["spec"]["template"]["spec"]
    term = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert (deployment["kind"], required["nodeSelectorTerms"]) == (
        "Deployment",
        [{"matchExpressions": [term]}],
    )
    assert spec["containers"][0]["image"] == "amd.example/app:1"


@pytest.mark.real
def test_the_example_as_it_stands_gets_a_toleration(run_python, tmp_path):
    run_python("cdk8s", ROOT / "examples" / "cdk8s_chart.py")
    (written,) = (tmp_path / "dist").iterdir()
    (deployment,) = yaml.safe_load_all(written.read_text(encoding="utf-8"))
    (toleration,) = deployment["spec"]["template"]["spec"]["tolerations"]
    assert (toleration["key"], toleration["value"]) == ("kubernetes.io/arch", "arm64")
