"""How large a policy is, for `archfit policy --stats`, beside the limits of the API server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from archfit.yaml.json_output import document_head

MAX_CODE_POINTS = 100_000  # of an expression (cel-go, parser)
MAX_OBJECT_BYTES = 1_572_864  # of an object in etcd


def policy_stats(objects: Sequence[Mapping[str, Any]], images: int, platform_lists: int) -> dict[str, Any]:
    """The figures. images, platform_lists: of the table."""
    expressions: list[dict[str, Any]] = [
        {"object": f"{value['kind']}/{value['metadata']['name']}", "name": name, "codePoints": len(text)}
        for value in objects
        for name, text in _expressions(value)
    ]
    return {
        **document_head("policy-stats"),
        "images": images,
        "platformLists": platform_lists,
        "objects": [
            {
                "kind": value["kind"],
                "name": value["metadata"]["name"],
                "bytes": len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()),
            }
            for value in objects
        ],
        "longestExpression": max(expressions, key=lambda expression: expression["codePoints"]),
        "expressions": expressions,
        "limits": {"bytes": MAX_OBJECT_BYTES, "codePoints": MAX_CODE_POINTS},
    }


def stats_text(stats: Mapping[str, Any]) -> bytes:
    """The same for people: one line for each figure."""
    longest = stats["longestExpression"]
    lines = [
        f"images                {stats['images']:,}",
        f"lists of platforms    {stats['platformLists']:,}",
        *(
            f"size                  {value['bytes']:,} of {MAX_OBJECT_BYTES:,} bytes: {value['kind']} {value['name']}"
            for value in stats["objects"]
        ),
        f"longest expression    {longest['codePoints']:,} of {MAX_CODE_POINTS:,} code points: {longest['name']} of "
        f"{longest['object']}",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _expressions(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    spec = value.get("spec", {})
    for key in ("matchConditions", "variables"):
        for row in spec.get(key, ()):
            yield f"{key[:-1]} {row['name']}", row["expression"]
    for number, mutation in enumerate(spec.get("mutations", ()), 1):
        yield f"mutation {number}", mutation["jsonPatch"]["expression"]
    for number, validation in enumerate(spec.get("validations", ()), 1):
        yield f"validation {number}", validation["expression"]
        yield f"message {number}", validation["messageExpression"]
