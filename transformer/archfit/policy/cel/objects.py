"""The Kubernetes objects of a policy, in the order to apply them.

Everything in the CEL is known to Kubernetes 1.34, whose API server checks it as 1.33 would: two-variable comprehensions
(1.32), `sets`, `strings` of version 2, `find` and `findAll`; not the `lists` of 1.34. Source: KEP-3962;
k8s.io/apiserver, pkg/cel/environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from archfit.base.errors import UsageError
from archfit.images.platforms import ARCHITECTURES, Found
from archfit.options.settings import Options
from archfit.policy.cel.cel_text import Variable, literal, variables
from archfit.policy.cel.image_answers import answer_variables, override_variables, reference_variables
from archfit.policy.cel.json_patch import addition_variables, mutation, written_variables
from archfit.policy.cel.left_alone import left_alone_variables
from archfit.policy.cel.match_conditions import match_conditions
from archfit.policy.cel.other_kinds import (
    about_daemon_sets,
    daemon_set_conditions,
    daemon_set_constraints,
    of_daemon_sets,
)
from archfit.policy.cel.platform_table import all_architectures, platform_table, stated_classes
from archfit.policy.cel.pod_choices import choice_variables
from archfit.policy.cel.policy_settings import ALWAYS_LEFT_OUT, OPT_OUT, PolicySettings
from archfit.policy.cel.recorded_entries import result_variables
from archfit.policy.cel.table_storage import MAX_CODE_POINTS, TableStorage, table_storage
from archfit.policy.cel.term_reach import reach_variables, supported_variables, term_variables


def policy_objects(
    images: Mapping[str, Found], options: Options, settings: PolicySettings
) -> list[dict[str, Any]]:
    """The objects to apply. images: the answers of a lock file, by normalised reference. options: of the run.

    Raises UsageError for overrides that disagree, and for more images, rules or overrides than a policy holds.
    """
    storage = _storage(images, options, settings)
    version = f"admissionregistration.k8s.io/{settings.api_version}"
    policy = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": settings.name},
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            **storage.spec,
            "matchConstraints": _match_constraints(settings),
            "matchConditions": _conditions(match_conditions(options)),
            "variables": _texts(_variables(storage, options)),
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": mutation()}}],
        },
    }
    binding = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": settings.dated(settings.name),
        "spec": {"policyName": settings.name, **storage.binding},
    }
    return [*storage.objects, policy, binding]


def _match_constraints(settings: PolicySettings) -> dict[str, Any]:
    """Pods that are created, but for those that opt out, in all namespaces but those that are left out."""
    left_out = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(ALWAYS_LEFT_OUT)}
    return {
        "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ],
        "namespaceSelector": {"matchExpressions": [left_out, OPT_OUT, *settings.namespace_selector]},
        "objectSelector": {"matchExpressions": [OPT_OUT]},
    }


def daemon_set_spec(
    images: Mapping[str, Found], options: Options, settings: PolicySettings
) -> dict[str, Any]:
    """The matchConstraints, matchConditions and variables for what the companion says about DaemonSets.

    Raises UsageError.
    """
    own = about_daemon_sets(options)
    return {
        "matchConstraints": daemon_set_constraints(settings),
        "matchConditions": _conditions(daemon_set_conditions(own)),
        "variables": _texts(of_daemon_sets(_variables(_storage(images, options, settings), own))),
    }


def _conditions(named: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "expression": _limited(name, expression)} for name, expression in named]


def _texts(named: Iterable[Variable]) -> list[dict[str, str]]:
    return _conditions((variable.name, f"// {variable.comment}\n{variable.expression}") for variable in named)


def _limited(name: str, expression: str) -> str:
    if len(expression) < MAX_CODE_POINTS:
        return expression
    raise UsageError(
        f"{name} of the policy has {len(expression)} code points, and CEL takes {MAX_CODE_POINTS}: write "
        "fewer entries of imagePlatforms, rules or exclude, with globs for several"
    )


def _variables(storage: TableStorage, options: Options) -> Iterator[Variable]:
    yield from variables(
        """
        nodeArchitectures: values of the label kubernetes.io/arch
          %usual

        architectures: all architectures that the policy knows, sorted
          %all
        """,
        usual=literal(ARCHITECTURES),
        all=storage.architectures,
    )
    yield from choice_variables(options)
    yield from storage.table
    yield from reference_variables(storage.images)
    yield from override_variables(stated_classes(options))
    yield from answer_variables(storage.images, storage.classes, overridden=bool(options.image_platforms))
    yield from supported_variables(options)
    yield from term_variables(options)
    yield from reach_variables(options)
    yield from written_variables(options)
    yield from left_alone_variables(options)
    yield from addition_variables(options)
    yield from result_variables()


def _storage(images: Mapping[str, Found], options: Options, settings: PolicySettings) -> TableStorage:
    table = platform_table(images, options)
    stated = [offers for _, offers in stated_classes(options)]
    return table_storage(table, all_architectures([*table.classes.values(), *stated], options), settings)
