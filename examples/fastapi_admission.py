"""FastAPI: a mutating webhook for Pods in your own service. It fails open: a Pod that cannot be decided is admitted.

pip install fastapi uvicorn archfit
uvicorn fastapi_admission:app --ssl-certfile tls.crt --ssl-keyfile tls.key
"""

import base64
import json
from typing import Any

from fastapi import FastAPI

import archfit

app = FastAPI()


@app.post("/place")
def place(review: dict[str, Any]) -> dict[str, Any]:
    pod_spec = review["request"]["object"]["spec"]
    response: dict[str, Any] = {"uid": review["request"]["uid"], "allowed": True}
    every = pod_spec["containers"] + pod_spec.get("initContainers", [])
    try:
        answers = archfit.platforms([one["image"] for one in every if one.get("image")], timeout="5s")
        patch = archfit.decide(pod_spec, answers).patch_at("/spec")
        if patch:
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode())}
    except archfit.ArchfitError as error:
        response["warnings"] = [f"archfit: {error}"[:256]]
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
