"""examples/fastapi_admission.py, called by Starlette's own client as the API server calls it."""

import base64
import json

import jsonpatch
import pytest

from machine import ROOT

CLIENT = """
import json, sys
from fastapi.testclient import TestClient
from fastapi_admission import app
client = TestClient(app)
print(json.dumps([client.post("/place", json=review).json() for review in json.load(open(sys.argv[1]))]))
"""
# A container of a pull policy that asks no registry, and an image volume, are for archfit to judge.
SPECS = {
    "amd64 alone": {"containers": [{"name": "a", "image": "amd.example/app:1"}]},
    "every node": {"containers": [{"name": "a", "image": "nginx:1.27"}], "tolerations": []},
    "two": {
        "containers": [{"name": "a", "image": "nginx:1.27"}],
        "initContainers": [{"name": "b", "image": "amd.example/app:1"}],
    },
    "no reference": {"containers": [{"name": "a", "image": "NGINX:1"}]},
    "no image": {"containers": [{"name": "a"}]},
}


@pytest.mark.real
def test_pods_are_patched_and_never_refused(run_python, tmp_path):
    reviews = [
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": name,
                "operation": "CREATE",
                "object": {"apiVersion": "v1", "kind": "Pod", "spec": spec},
            },
        }
        for name, spec in SPECS.items()
    ]
    (tmp_path / "reviews.json").write_text(json.dumps(reviews))
    (tmp_path / "fastapi_admission.py").write_text((ROOT / "examples" / "fastapi_admission.py").read_text())
    (tmp_path / "client.py").write_text(CLIENT)
    answers = json.loads(run_python("fastapi", "client.py", "reviews.json"))
    responses = [answer["response"] for answer in answers]
    assert [(one["uid"], one["allowed"]) for one in responses] == [(name, True) for name in SPECS]
    placed = {}
    for review, response in zip(reviews, responses, strict=True):
        patch = json.loads(base64.b64decode(response.get("patch", "W10=")))
        placed[response["uid"]] = jsonpatch.apply_patch(review["request"]["object"], patch)["spec"]
    assert {name: sorted(set(placed[name]) - {"containers", "initContainers"}) for name in SPECS} == {
        "amd64 alone": ["affinity"],
        "every node": ["tolerations"],
        "two": ["affinity"],
        "no reference": [],
        "no image": [],
    }
    assert len(placed["every node"]["tolerations"]) == 1
    assert "NGINX:1" in responses[3]["warnings"][0]
