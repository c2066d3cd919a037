"""What a policy costs, for `archfit policy --stats`: its size beside the limits of the API server.

bytes          of each object as JSON; etcd takes about 1.5 MB for one object
codePoints     of each expression; CEL refuses one with more than 100,000 (cel-go, parser)
estimatedCost  of one evaluation for a usual pod; one may cost 10,000,000 (apiserver, pkg/apis/cel/config.go)

The estimate is fitted to the cost, in CEL's own units, that the API server's evaluator counts:

    base + containers * (each + overrides * of_override)

The number of images does not count: a table is looked up, not read. It is for images that are written in full, as the
table has them: a short name, as `nginx`, costs about 400 more. Terms and tolerations add less than a container.
tests/real/admission compares it with real costs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from archfit import __version__
from archfit.options.settings import Options

MAX_COST = 10_000_000
USUAL_CONTAINERS = 2
_BASE, _EACH, _OF_OVERRIDE = 1_700, 165, 64


def estimated_cost(options: Options, containers: int = USUAL_CONTAINERS) -> int:
    """For one pod with this number of containers."""
    return _BASE + containers * (_EACH + len(options.image_platforms) * _OF_OVERRIDE)


MAX_CODE_POINTS = 100_000
MAX_OBJECT_BYTES = 1_572_864


def policy_stats(
    objects: Sequence[Mapping[str, Any]], images: int, platform_lists: int, cost: int, max_cost: int
) -> dict[str, Any]:
    """The figures. images, platform_lists: of the table. cost: estimated, for a usual pod, and what it may be."""
    expressions: list[dict[str, Any]] = [
        {"object": f"{one['kind']}/{one['metadata']['name']}", "name": name, "codePoints": len(text)}
        for one in objects
        for name, text in _expressions(one)
    ]
    return {
        "archfit": __version__,
        "images": images,
        "platformLists": platform_lists,
        "objects": [
            {
                "kind": one["kind"],
                "name": one["metadata"]["name"],
                "bytes": len(json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode()),
            }
            for one in objects
        ],
        "longestExpression": max(expressions, key=lambda one: one["codePoints"]),
        "expressions": expressions,
        "estimatedCost": cost,
        "limits": {"bytes": MAX_OBJECT_BYTES, "codePoints": MAX_CODE_POINTS, "cost": max_cost},
    }


def stats_text(stats: Mapping[str, Any]) -> bytes:
    """The same for people: one line for each figure."""
    longest = stats["longestExpression"]
    lines = [
        f"images                {stats['images']:,}",
        f"lists of platforms    {stats['platformLists']:,}",
        *(
            f"size                  {one['bytes']:,} of {MAX_OBJECT_BYTES:,} bytes: {one['kind']} {one['name']}"
            for one in stats["objects"]
        ),
        f"longest expression    {longest['codePoints']:,} of {MAX_CODE_POINTS:,} code points: {longest['name']} of "
        f"{longest['object']}",
        f"estimated cost        {stats['estimatedCost']:,} of {stats['limits']['cost']:,} units for a pod with two "
        "containers",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _expressions(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    spec = value.get("spec", {})
    for key in ("matchConditions", "variables"):
        for one in spec.get(key, ()):
            yield f"{key[:-1]} {one['name']}", one["expression"]
    for number, one in enumerate(spec.get("mutations", ()), 1):
        yield f"mutation {number}", one["jsonPatch"]["expression"]
    for number, one in enumerate(spec.get("validations", ()), 1):
        yield f"validation {number}", one["expression"]
        yield f"message {number}", one["messageExpression"]
