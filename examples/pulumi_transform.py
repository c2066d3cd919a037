"""Pulumi: a transform that places the workloads of a stack, those of Helm charts and components included.

pip install pulumi pulumi-kubernetes archfit
In the program of the stack: pulumi.runtime.register_resource_transform(place)
"""

import json

import pulumi

import archfit


def place(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    if not args.type_.startswith("kubernetes:"):
        return None
    try:
        manifest = json.dumps(args.props)
    except TypeError:
        pulumi.log.warn(f"archfit: {args.name} has values that are known only later; it is left as it is")
        return None
    # Pulumi replaces what cannot be changed, and names what has no name yet.
    placed = archfit.transform(manifest, immutable="full")
    return pulumi.ResourceTransformResult(json.loads(placed.manifests), args.opts)
