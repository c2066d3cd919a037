"""CEL: what annotations of the pod and rules of the configuration choose for it, as `placement.selection` has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archfit.images.platforms import ARCHITECTURES, WINDOWS, Found, normalised, parse_platform
from archfit.options.option_entries import Rule
from archfit.options.settings import Options, TolerationRule
from archfit.placement.annotations import KNOWN, PREFIX
from archfit.placement.pod_patch import toleration_fields
from archfit.placement.selection import VIRTUAL_KUBELET
from archfit.policy.cel.cel_text import Variable, literal, mixed, rows, text, variables
from archfit.policy.cel.match_conditions import chosen
from archfit.policy.cel.platform_table import SYSTEMS, offer_class
from archfit.policy.cel.recorded_entries import (
    record_variables,
    states,
    toleration_line,
    toleration_variables,
)
from archfit.webhook.request_fields import STATES_PREFERENCES, STATES_TOLERATIONS

SPELLINGS = ("x86_64", "x86-64", "aarch64", "armhf", "armel", "i386")
WORDS = text(r"[^,\s]+")
_VARIANTS = (
    ("amd64", ("v1", "v2", "v3", "v4")),
    ("arm64", ("8", "v8", "v8.0", "v9")),
    ("arm", ("5", "6", "7", "8", "v5", "v6", "v7", "v8")),
)


def stated_platform_variables() -> Iterator[Variable]:
    """The annotation archfit.dev/image-platforms, which states the platforms of every image of a pod."""
    return variables(
        """
        platformsStated: an annotation states the platforms of every image
          %name in variables.annotations

        platformSpellings: what platforms mean that are not linux and a bare architecture
          %spellings

        wordOffers: what each word of that annotation offers, ['?'] for one that the policy does not know
          (variables.platformsStated ? variables.annotations[%name].lowerAscii().findAll(%words) : [])
            .map(word, word.contains('/') ? word : 'linux/' + word)
            .map(word,
              word in variables.platformSpellings ? variables.platformSpellings[word]
              : variables.nodeArchitectures.exists(a, word == 'linux/' + a) ? [word]
              : ['?'])

        statedPlatforms: what that annotation offers, by operating system
          {
            'linux': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'linux/' + a in offer)),
            'windows': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'windows/' + a in offer))
          }
        """,
        name=text(f"{PREFIX}image-platforms"),
        words=WORDS,
        spellings=rows((f"{text(word)}: {literal(meant)}" for word, meant in _spellings()), "{", "}"),
    )


def _spellings() -> Iterator[tuple[str, list[str]]]:
    """Each platform that is not linux/ and an architecture alone, with what it offers for a container."""
    linux = [
        *ARCHITECTURES,
        *SPELLINGS,
        *(f"{name}/{variant}" for name, variants in _VARIANTS for variant in variants),
    ]
    for word in [*(f"linux/{name}" for name in linux), *(f"windows/{name}" for name in WINDOWS)]:
        offers, _ = offer_class("", Found((parse_platform(word),), origin="override"), Options())
        meant = [f"{os}/{name}" for os in SYSTEMS for name in offers.get(os, ())]
        if meant != [word] or not word.startswith("linux/"):
            yield word, meant


def choice_variables(options: Options) -> Iterator[Variable]:
    """What the pod has, which may be missing in it, and what is chosen for it.

    Its tolerations are without those of an earlier pass.
    """
    yield from variables(
        """
        annotations: the pod's own, if it has any
          has(object.metadata.annotations) ? object.metadata.annotations : {}

        labels: the pod's own, if it has any
          has(object.metadata.labels) ? object.metadata.labels : {}

        nodeSelector: the pod's own, if it has any
          has(object.spec.nodeSelector) ? object.spec.nodeSelector : {}
        """
    )
    yield from record_variables()
    says_when = any(rule.needed for rule in options.tolerate)
    yield from variables(
        """
        tolerationRules: a toleration is added where the images run on its architectures
          %rules
        """,
        rules=rows(_rule(rule, says_when=says_when) for rule in options.tolerate),
    )
    yield from toleration_variables()
    yield from stated_platform_variables()
    yield from _only(options)
    yield from variables(
        """
        tolerates: whether the toleration rules apply to the pod
          %tolerations_stated ? false :
          %tolerate in variables.annotations ? variables.annotations[%tolerate].contains('true') :
          %ruled

        weights: of preferred architectures
          %preferences_stated ? [] : %weights

        toleratesVirtualNodes: the pod tolerates nodes without an arch label: they stay reachable
          variables.tolerations.exists(t, has(t.key) && t.key in %keys)

        faultyAnnotations: an annotation is misspelt or cannot be obeyed
          variables.annotations.exists(name, name.startsWith(%prefix)
            && !(name in %known))
          || [%skip, %tolerate].exists(name,
            name in variables.annotations && !variables.annotations[name].matches(%truth))
          || %only in variables.annotations && (variables.onlyWords.size() == 0
            || variables.onlyWords.exists(word, !(word in variables.nodeArchitectures)))
          || variables.platformsStated && !variables.wordOffers.exists(offer, offer.size() > 0)
        """,
        tolerations_stated=states(STATES_TOLERATIONS),
        preferences_stated=states(STATES_PREFERENCES),
        ruled=chosen(options, lambda rule: None if rule.tolerate is None else literal(rule.tolerate), "true"),
        weights=chosen(
            options,
            lambda rule: None if rule.prefer is None else _weights(rule.prefer),
            _weights(options.prefer),
        ),
        keys=literal(sorted({VIRTUAL_KUBELET, *options.unlabelled_nodes})),
        prefix=text(PREFIX),
        known=literal(KNOWN),
        skip=text(f"{PREFIX}skip"),
        tolerate=text(f"{PREFIX}tolerate"),
        truth=text(r"^\s*(?:true|false)\s*$"),
        only=_ONLY,
    )


_ONLY = text(f"{PREFIX}only")


def _only(options: Options) -> Iterator[Variable]:
    yield from variables(
        """
        spellings: other names of architectures
          %spellings

        onlyWords: the architectures of the annotation that narrows the pod
          (%name in variables.annotations ? variables.annotations[%name].lowerAscii().findAll(%words) : [])
            .map(word, word in variables.spellings ? variables.spellings[word] : word)
        """,
        spellings=literal(
            {word: normalised("linux", word).architecture for word in SPELLINGS if "-" not in word}
        ),
        name=_ONLY,
        words=WORDS,
    )
    if narrows_where_offered(options):
        yield from variables(
            """
            onlyOffered: the list of a rule that narrows the pod to what its images offer, with that of the annotation
              (%ruled)
              .map(names, %name in variables.annotations ? names.filter(a, a in variables.onlyWords) : names)
            """,
            ruled=_chosen_only(options, offered=True),
            name=_ONLY,
        )
    ruled = _chosen_only(options, offered=False)
    yield from variables(
        """
        only: the lists of architectures that narrow the pod
          %ruled(%name in variables.annotations ? [variables.onlyWords] : [])
        """,
        ruled="" if ruled == "[]" else f"({ruled})\n+ ",
        name=_ONLY,
    )


def narrows_where_offered(options: Options) -> bool:
    """Whether a rule says `when: offered`."""
    return any(rule.offered for rule in options.rules)


def _chosen_only(options: Options, *, offered: bool) -> str:
    def value(rule: Rule) -> str | None:
        return None if rule.only is None else literal([rule.only] if rule.offered == offered else [])

    return chosen(options, value, "[]")


def _rule(rule: TolerationRule, *, says_when: bool) -> str:
    fields = toleration_fields(rule.toleration)
    when = {"needed": rule.needed} if says_when else {}
    return mixed(
        {"architectures": rule.architectures, "toleration": fields, "line": toleration_line(fields), **when}
    )


def _weights(weights: Iterable[tuple[str, int]]) -> str:
    entries = (mixed({"architecture": name, "weight": weight}) for name, weight in sorted(weights))
    return f"[{', '.join(entries)}]"
