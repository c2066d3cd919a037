"""Every row of archfit's own, on an object that has every placement field already: what archfit adds goes beside it.

The object follows from the row: an image in each place that the row names, and at the row's paths an affinity with a
term and a preference, a toleration and a nodeSelector.
"""

import json
from typing import Any

import pytest

from archfit.base.patch import Path
from archfit.options.settings import Options, Workload
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.patterns import matches
from operators.recordings import lost
from stream_edits import edited

ROWS: dict[str, list[Workload]] = {}
for (group, _), found in all_custom_rows().items():
    placed = [row for row in found if row.pod_spec and not (row.reason or row.objects)]
    ROWS.setdefault(group, []).extend(placed)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TERM = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
OWN = {
    "nodeSelector": {"pool": "a"},
    "tolerations": [{"key": "pool", "operator": "Exists"}],
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [TERM]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": TERM}],
        }
    },
}


def put(value: Any, path: Path, leaf: Any) -> None:
    """Sets a value at a pattern of a row, and makes what is missing above it."""
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        named = {"name": str(step)[1:]} if str(step).startswith("=") else {}
        found = next((one for one in value if not named or one.get("name") == named["name"]), None)
        if found is None:
            value.append(found := named if rest else leaf)
        if rest:
            put(found, rest, leaf)
        return
    key = "a" if step == "*" else step
    if rest:
        in_list = rest[0] == "*" or str(rest[0]).startswith("=")
        put(value.setdefault(key, [] if in_list else {}), rest, leaf)
    elif isinstance(value.get(key), dict) and isinstance(leaf, dict):
        value[key].update(leaf)
    else:
        value.setdefault(key, leaf)


def fields(row: Workload) -> dict[str, Path]:
    """Where the row has each placement field."""
    paths = {"affinity": row.affinity, "tolerations": row.tolerations, "nodeSelector": row.node_selector}
    return {name: path or (*row.pod_spec, name) for name, path in paths.items() if path is not None}


def full(row: Workload, platforms: str, *without: str) -> dict[str, Any]:
    """See the module. platforms: what all images offer, also those that an operator chooses. without: fields."""
    version = row.versions[0].partition("*")[0].rstrip("-") if row.versions else "v1"
    metadata = {"name": "a", "annotations": {"archfit.dev/image-platforms": platforms}}
    value = {"apiVersion": f"{row.group}/{version}", "kind": row.kind, "metadata": metadata}
    for choices in row.images:
        put(value, choices[0], "app")
    if not row.images:
        put(value, (*row.pod_spec, "containers"), [{"name": row.main or "main", "image": "app:1"}])
    for name, path in fields(row).items():
        if name not in without:
            put(value, path, json.loads(json.dumps(OWN[name])))
    for path, text in row.when:
        put(value, path, text or [])
    put(value, row.there or row.pod_spec, {})
    return value


def stream(objects: list[dict[str, Any]]) -> bytes:
    return b"".join(b"---\n" + json.dumps(one, indent=1).encode() + b"\n" for one in objects)


@pytest.mark.parametrize("platforms", ["linux/amd64", "linux/amd64,linux/arm64"])
@pytest.mark.parametrize("group", [group for group, rows in ROWS.items() if rows])
def test_what_is_added_stands_beside_what_is_there(group, platforms):
    objects = [full(row, platforms, *without) for row in ROWS[group] for without in ((), ("affinity",))]
    made = edited(stream(objects), Options(on_conflict="leave"))
    after = [json.loads(one) for one in made.data.split(b"---\n")[1:]]
    assert [list(lost(*pair)) for pair in zip(objects, after, strict=True)] == [[]] * len(objects)
    assert edited(made.data, Options(on_conflict="leave")).data == made.data
    said = {pod.location.document for pod, _ in made.edits.decisions}
    said |= {one.location.document for one in made.edits.messages if one.location}
    assert said == set(range(1, len(objects) + 1))


@pytest.mark.parametrize(
    "row", [row for rows in ROWS.values() for row in rows if row.pins], ids=lambda row: row.kind
)
def test_a_kind_that_pins_keeps_its_default_affinity(row):
    made = json.loads(edited(stream([full(row, "linux/amd64", "affinity")])).data.split(b"---\n")[1])
    own = fields(row)
    assert next(matches(made, own["nodeSelector"]))[1] == {"pool": "a", "kubernetes.io/arch": "amd64"}
    assert not list(matches(made, own["affinity"]))
