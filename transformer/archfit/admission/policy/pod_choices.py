"""CEL: what rules of the configuration and annotations choose for a pod, and the pods that are none of the policy's.

    match conditions    the rows of `admission.admitted_pod` and `placement.selection` that leave a pod alone
    variables           the rows that give it options: only, tolerate, prefer, image-platforms

Every rule whose match holds applies, and a later one overrides an earlier one: the chain of choices begins with the
last rule. `kind` is always Pod here; a rule or an exclude glob for another kind leaves no trace in the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase

from archfit.admission.admitted_pod import MIRROR
from archfit.admission.policy.cel_text import all_of, cel, choice, literal, mixed, rows, text
from archfit.admission.policy.glob_pattern import is_literal, pattern
from archfit.admission.policy.image_answers import Variables
from archfit.admission.policy.platform_table import RUNTIME_CLASS, SYSTEMS, offer_class
from archfit.images.platforms import ARCHITECTURES, Found, normalised, parse_platform
from archfit.options.settings import Match, Options, Rule, TolerationRule
from archfit.options.text_form import WINDOWS
from archfit.placement.annotations import KNOWN, PREFIX
from archfit.placement.pod_patch import toleration_fields
from archfit.placement.selection import VIRTUAL_KUBELET

SKIP, ONLY, TOLERATE, PLATFORMS = (
    text(PREFIX + name) for name in ("skip", "only", "tolerate", "image-platforms")
)
_TRUE = r"^\s*true\s*$"
_TRUTH = r"^\s*(?:true|false)\s*$"
_WORDS = r"[^,\s]+"
_SPELLINGS = ("x86_64", "x86-64", "aarch64", "armhf", "armel", "i386")
_VARIANTS = (
    ("amd64", ("v1", "v2", "v3", "v4")),
    ("arm64", ("8", "v8", "v8.0", "v9")),
    ("arm", ("5", "6", "7", "8", "v5", "v6", "v7", "v8")),
)


def match_conditions(options: Options) -> Iterator[tuple[str, str]]:
    """(name, expression) of each condition; the policy sees the pods that meet all of them."""
    yield "not-bound-to-a-node", "!has(object.spec.nodeName) || object.spec.nodeName == ''"
    yield (
        "not-of-a-daemon-set",
        "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, "
        "has(o.controller) && o.controller && o.kind == 'DaemonSet')",
    )
    yield (
        "not-a-mirror-of-a-static-pod",
        f"!({_annotation(text(MIRROR))} && object.metadata.annotations[{text(MIRROR)}] != '')",
    )
    yield (
        "not-skipped",
        f"!({_annotation(SKIP)} && object.metadata.annotations[{SKIP}].matches({text(_TRUE)}))",
    )
    yield (
        "not-for-virtual-nodes-alone",
        "!has(object.spec.nodeSelector) || !('type' in object.spec.nodeSelector) "
        "|| object.spec.nodeSelector['type'] != 'virtual-kubelet'",
    )
    for number, glob in enumerate(options.exclude, 1):
        condition = _identified(glob.kind, glob.namespace, glob.name)
        if condition is not None:
            yield f"not-excluded-{number}", f"!({condition})"
    skipped = _chosen(options, lambda rule: None if rule.skip is None else literal(rule.skip), "false")
    if skipped != "false":
        yield "not-skipped-by-a-rule", f"!({skipped})"


def pod_variables() -> Variables:
    """What every later variable asks of the pod itself."""
    yield "annotations", "has(object.metadata.annotations) ? object.metadata.annotations : {}"
    yield "labels", "has(object.metadata.labels) ? object.metadata.labels : {}"
    yield "nodeSelector", "has(object.spec.nodeSelector) ? object.spec.nodeSelector : {}"
    yield "tolerations", "has(object.spec.tolerations) ? object.spec.tolerations : []"
    yield (
        "runtimeClass",
        f"has(object.spec.runtimeClassName) && object.spec.runtimeClassName != '' ? {text(RUNTIME_CLASS)} : ''",
    )


def choice_variables(options: Options) -> Variables:
    """platformsStated, .., only, tolerates, tolerationRules, weights, toleratesVirtualNodes, faultyAnnotations."""
    yield "platformsStated", f"{PLATFORMS} in variables.annotations"
    yield from _stated_platforms()
    yield from _only(options)
    tolerates = _chosen(
        options, lambda rule: None if rule.tolerate is None else literal(rule.tolerate), "true"
    )
    yield (
        "tolerates",
        f"{TOLERATE} in variables.annotations\n  ? variables.annotations[{TOLERATE}].contains('true') : {tolerates}",
    )
    yield "tolerationRules", rows(map(_rule, options.tolerate))
    yield (
        "weights",
        _chosen(
            options,
            lambda rule: None if rule.prefer is None else _weights(rule.prefer),
            _weights(options.prefer),
        ),
    )
    keys = literal(sorted({VIRTUAL_KUBELET, *options.unlabelled_nodes}))
    yield "toleratesVirtualNodes", f"variables.tolerations.exists(t, has(t.key) && t.key in {keys})"
    yield (
        "faultyAnnotations",
        cel(
            """
        variables.annotations.exists(name, name.startsWith(%prefix) && !(name in %known))
        || [%skip, %tolerate].exists(name,
          name in variables.annotations && !variables.annotations[name].matches(%truth))
        || %only in variables.annotations && (variables.onlyWords.size() == 0
          || variables.onlyWords.exists(word, !(word in variables.nodeArchitectures)))
        """,
            prefix=text(PREFIX),
            known=literal(KNOWN),
            skip=SKIP,
            tolerate=TOLERATE,
            truth=text(_TRUTH),
            only=ONLY,
        ),
    )


def _stated_platforms() -> Variables:
    """What archfit.dev/image-platforms states, as a class of the table."""
    yield (
        "platformWords",
        cel(
            """
        variables.platformsStated
          ? variables.annotations[%platforms].lowerAscii().findAll(%words)
            .map(word, word.contains('/') ? word : 'linux/' + word)
          : []
        """,
            platforms=PLATFORMS,
            words=text(_WORDS),
        ),
    )
    yield (
        "platformSpellings",
        rows((f"{text(word)}: {literal(meant)}" for word, meant in _spellings()), "{", "}"),
    )
    yield (
        "wordOffers",
        cel(
            """
        variables.platformWords.map(word,
          word in variables.platformSpellings ? variables.platformSpellings[word]
          : variables.nodeArchitectures.exists(a, word == 'linux/' + a) ? [word]
          : ['?'])
        """
        ),
    )
    yield (
        "statedPlatforms",
        cel(
            """
        {
          'linux': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'linux/' + a in offer)),
          'windows': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'windows/' + a in offer))
        }
        """
        ),
    )


def _spellings() -> Iterator[tuple[str, list[str]]]:
    """Each platform that is not linux/ and an architecture alone, with what it offers for a container."""
    linux = [
        *ARCHITECTURES,
        *_SPELLINGS,
        *(f"{name}/{one}" for name, variants in _VARIANTS for one in variants),
    ]
    for word in [*(f"linux/{name}" for name in linux), *(f"windows/{name}" for name in WINDOWS)]:
        offers, _ = offer_class("", Found((parse_platform(word),), origin="override"), Options())
        meant = [f"{os}/{name}" for os in SYSTEMS for name in offers.get(os, ())]
        if meant != [word] or not word.startswith("linux/"):
            yield word, meant


def _only(options: Options) -> Variables:
    """The lists of architectures that narrow the pod: of a rule, of the annotation."""
    aliases = {word: normalised("linux", word).architecture for word in _SPELLINGS if "-" not in word}
    yield (
        "onlyWords",
        cel(
            """
        %only in variables.annotations
          ? variables.annotations[%only].lowerAscii().findAll(%words)
            .map(word, word in %aliases ? %aliases[word] : word)
          : []
        """,
            only=ONLY,
            words=text(_WORDS),
            aliases=literal(aliases),
        ),
    )
    ruled = _chosen(options, lambda rule: None if rule.only is None else literal([rule.only]), "[]")
    annotated = f"({ONLY} in variables.annotations ? [variables.onlyWords] : [])"
    yield "only", annotated if ruled == "[]" else f"({ruled}) + {annotated}"


def _rule(rule: TolerationRule) -> str:
    return mixed({"architectures": rule.architectures, "toleration": toleration_fields(rule.toleration)})


def _weights(weights: Iterable[tuple[str, int]]) -> str:
    entries = (mixed({"architecture": name, "weight": weight}) for name, weight in sorted(weights))
    return f"[{', '.join(entries)}]"


def _chosen(options: Options, value: Callable[[Rule], str | None], otherwise: str) -> str:
    """The value of the last rule that matches the pod and has one."""
    cases = []
    for rule in reversed(options.rules):
        chosen, condition = value(rule), _matched(rule.match)
        if chosen is not None and condition is not None:
            cases.append((condition, chosen))
            if condition == "true":
                break
    if cases and cases[-1][0] == "true":
        otherwise = cases.pop()[1]
    return choice(cases, otherwise)


def _matched(match: Match) -> str | None:
    """When a rule is about a pod; None for never."""
    identified = _identified(match.kind, match.namespace, match.name)
    if identified is None:
        return None
    labels = (
        f"has(object.metadata.labels) && {text(key)} in object.metadata.labels "
        f"&& object.metadata.labels[{text(key)}] == {text(value)}"
        for key, value in match.labels
    )
    return all_of([*([identified] if identified != "true" else []), *labels])


def _identified(kind: str, namespace: str, name: str) -> str | None:
    if kind and not fnmatchcase("pod", kind.lower()):
        return None
    conditions = []
    if namespace:
        conditions.append(_globbed("request.namespace", namespace))
    if name:
        own, generated = (
            _globbed("object.metadata.name", name),
            _globbed("object.metadata.generateName", name),
        )
        conditions.append(
            f"(has(object.metadata.name) && object.metadata.name != '' ? {own} "
            f": has(object.metadata.generateName) && {generated})"
        )
    return all_of(conditions)


def _globbed(subject: str, glob: str) -> str:
    return f"{subject} == {text(glob)}" if is_literal(glob) else f"{subject}.matches({text(pattern(glob))})"


def _annotation(name: str) -> str:
    return f"has(object.metadata.annotations) && {name} in object.metadata.annotations"
