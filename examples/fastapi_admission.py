"""FastAPI: a mutating webhook for Pods in your own service. It fails open: a Pod that cannot be decided is admitted.

pip install fastapi uvicorn archfit
uvicorn fastapi_admission:app --ssl-certfile tls.crt --ssl-keyfile tls.key
"""

import base64
import json
import logging
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
        # What a server answered is not for whoever creates Pods: it would tell open ports from closed ones.
        logging.getLogger("uvicorn.error").warning("archfit: %s", error)
        said = "its images are not known" if error.kind in ("unknown", "several") else str(error)
        response["warnings"] = [f"archfit: {said}"[:256]]
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
