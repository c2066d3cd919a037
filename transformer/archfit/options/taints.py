"""Toleration rules in the syntax of `kubectl taint`, and the architectures of the nodes behind them.

    rule          = "gke" | taint [ "@" architecture *( "," architecture ) ]
    taint         = key [ "=" [ value ] ] ":" effect
    effect        = "NoSchedule" | "PreferNoSchedule" | "NoExecute"

    arch=arm64:NoSchedule          Equal "arm64", for nodes of arm64: the value is an architecture
    pool=arm:NoSchedule@arm64      Equal "arm",   for nodes of arm64
    arm-only=:NoSchedule@arm64     Equal "",      exactly the taint without a value
    arm-only:NoSchedule@arm64      Exists,        the taint with any value, as `kubectl describe` prints it

Source: kubectl, pkg/cmd/taint; Kubernetes, "Taints and Tolerations".
"""

from __future__ import annotations

from archfit.images.platforms import ARCHITECTURES, normalised
from archfit.options.problem import Problem
from archfit.options.settings import GKE, Toleration, TolerationRule
from archfit.options.text_form import architecture, label_key, label_value, words
from archfit.spelling import expected

ARCH_KEYS = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS = ("Equal", "Exists")


def effect(text: str) -> str:
    """A taint's effect. Raises Problem."""
    if text not in EFFECTS:
        raise Problem(f"{text!r} is not a taint effect: {expected(text, EFFECTS)}")
    return text


def architecture_of(key: str, value: str) -> str:
    """The architecture that a taint's value spells, in any usual spelling; "" where it spells none.

    Under other keys than those of Kubernetes, `arm` often means arm64 nodes, so it spells nothing there.
    """
    word = normalised("linux", value).architecture
    return word if word in ARCHITECTURES and (word != "arm" or key in ARCH_KEYS) else ""


def toleration_rule(text: str) -> TolerationRule:
    """One rule of the grammar above. Raises Problem."""
    if text == "gke":
        return GKE
    taint, at, names = text.partition("@")
    head, colon, last = taint.rpartition(":")
    if not colon:
        raise Problem(f"{text!r} names no effect: write {taint + ':NoSchedule' + at + names!r}")
    key, equals, value = head.partition("=")
    toleration = Toleration(label_key(key), "Equal" if equals else "Exists", label_value(value), effect(last))
    if at:
        if not names.strip():
            raise Problem(f"{text!r} names no architecture after '@': write {taint + '@arm64'!r}")
        found = {architecture(word) for word in words(names, "architectures")}
    else:
        found = {architecture_of(key, value)} - {""}
    if not found:
        raise Problem(f"{text!r} does not say which architectures its nodes have: write {text + '@arm64'!r}")
    return TolerationRule(tuple(sorted(found)), toleration)
