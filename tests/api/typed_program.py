"""What a program writes that checks its types strictly; `mypy` reads it in `test_api_types`.

A line that ends in `# E: CODE` has to be an error, and no other one.
"""

from __future__ import annotations

from typing import assert_type

import archfit

POD_SPEC: dict[str, object] = {}
shared: archfit.Options = {"clusterArchitectures": ["amd64", "arm64"], "timeout": "5s"}
misspelt: archfit.Options = {"clusterArchitecture": ["amd64"]}  # E: typeddict-unknown-key

of_text = archfit.transform("", **shared)
of_bytes = archfit.transform(b"", offline=True, onUnknown="leave")
assert_type(of_text, archfit.Result[str])
assert_type(of_bytes.manifests, bytes)
assert_type(of_bytes.changed, bool)

answers = archfit.platforms(["nginx:1.27"], **shared)
decision = archfit.decide(POD_SPEC, answers, **shared)
stated = archfit.decide(POD_SPEC, {"nginx:1.27": ["linux/amd64"]}, tolerate="none")
assert_type(decision, archfit.Decision)
assert_type(decision.reason, str)
for answer in answers.values():
    if answer["answer"] == "Found":
        assert_type(answer["platforms"], list[str])
    elif answer["answer"] == "Unknown":
        assert_type(answer["cause"], str)

archfit.transform(None)  # E: type-var
archfit.transform({})  # E: type-var
archfit.transform("", offline="yes")  # E: arg-type
archfit.transform("", onUnknown="ignore")  # E: arg-type
archfit.transform("", cluster_architectures=[])  # E: call-arg
archfit.transform("", color="auto")  # E: call-arg
archfit.decide(POD_SPEC)  # E: call-arg
archfit.decide(POD_SPEC, {"nginx:1.27": 1})  # E: dict-item
archfit.platforms(None)  # E: arg-type
archfit.transfrom()  # E: attr-defined

try:
    archfit.transform("")
except archfit.ArchfitError as error:
    assert_type(error.exit_code, int)
    for message in error.messages:
        assert_type(message.text, str)
