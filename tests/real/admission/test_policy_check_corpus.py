"""`archfit policy --check` finds no difference in any pod of the corpus, in a real API server."""

import json
import os
import re
from pathlib import Path

from archfit.images.platforms import Found, parse_platform
from archfit.images.reference import parse
from archfit.lookup.lockfile import render
from control_plane import ControlPlane, pod_in

FOLDERS = ("helm3", "helm4", "manifests", "kubectl")
_NAMESPACE = re.compile(r"^ *namespace: ([a-z0-9-]+)$", re.MULTILINE)


def test_every_pod_of_the_corpus_agrees(corpus, real, archfit, tmp_path):
    images = {}
    for text, names in corpus.platforms.items():
        platforms = tuple(sorted(map(parse_platform, names), key=str))
        reference = parse(text)
        digest = reference.digest or "sha256:" + "a" * 64
        images[reference.normalised] = Found(platforms, digest, index=len(platforms) > 1)
    (tmp_path / "archfit.lock").write_bytes(render(images))
    files = [path for folder in FOLDERS for path in sorted(real.shared("corpus", folder).glob("*.yaml"))]
    folder = tmp_path / "plane"
    folder.mkdir()
    with ControlPlane(folder) as plane:
        for namespace in {name for path in files for name in _NAMESPACE.findall(path.read_text("utf-8"))}:
            plane.namespace(namespace)
        environ = {
            "KUBECONFIG": str(plane.kubeconfig),
            "PATH": f"{Path(real.tool('kubectl')).parent}:{os.environ['PATH']}",
        }
        words = ("policy", "--lock-file", "archfit.lock")
        archfit(b"", *words, "--carrier", "crd", "--apply", cwd=tmp_path, **environ).ok()
        probe = pod_in("default", next(iter(images)))
        plane.until("the policy acts", lambda: len(plane.dry(probe)["spec"]["tolerations"]) > 2)
        words += ("--check", "--format", "json", *map(str, files))
        ran = archfit(b"", *words, cwd=tmp_path, **environ)
    found = json.loads(ran.stdout)["pods"]
    assert [one for one in found if one["outcome"] in {"different", "left-alone"}] == []
    others = {one["reason"] for one in found if one["outcome"] == "not-compared"}
    assert others <= {"its operator makes the pods, so archfit does not know them"}
    assert len([one for one in found if one["outcome"] == "same"]) > 200
    assert ran.status == 0
