"""What a policy costs, for `archfit policy --stats`: its size beside the limits of the API server.

The estimated cost of one evaluation is fitted to what the API server's evaluator counts, in CEL's own units. The number
of images does not count: a table is looked up, not read. It is for images that are written in full, as the table has
them: a short name, as `nginx`, costs about 400 more. Terms and tolerations add less than a container.
tests/real/admission compares it with real costs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from archfit import __version__
from archfit.options.settings import Options

MAX_COST = 10_000_000  # of one evaluation (apiserver, pkg/apis/cel/config.go)
MAX_CODE_POINTS = 100_000  # of an expression (cel-go, parser)
MAX_OBJECT_BYTES = 1_572_864  # of an object in etcd
USUAL_CONTAINERS = 2
_BASE, _EACH, _OF_OVERRIDE = 1_700, 165, 64


def estimated_cost(options: Options, containers: int = USUAL_CONTAINERS) -> int:
    """For one pod with this number of containers."""
    return _BASE + containers * (_EACH + len(options.image_platforms) * _OF_OVERRIDE)


def policy_stats(
    objects: Sequence[Mapping[str, Any]], images: int, platform_lists: int, options: Options
) -> dict[str, Any]:
    """The figures. images, platform_lists: of the table."""
    expressions: list[dict[str, Any]] = [
        {"object": f"{value['kind']}/{value['metadata']['name']}", "name": name, "codePoints": len(text)}
        for value in objects
        for name, text in _expressions(value)
    ]
    return {
        "archfit": __version__,
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
        "estimatedCost": estimated_cost(options),
        "limits": {"bytes": MAX_OBJECT_BYTES, "codePoints": MAX_CODE_POINTS, "cost": MAX_COST},
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
        f"estimated cost        {stats['estimatedCost']:,} of {MAX_COST:,} units for a pod with two "
        "containers",
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
