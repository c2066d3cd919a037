"""CEL: the platforms that the annotation archfit.dev/image-platforms states for every image of a pod.

platformsStated      whether it is there
platformSpellings    what a platform offers, for all that are not linux and a bare architecture
wordOffers           what each word of the annotation offers; ['?'] for one that the policy does not know
statedPlatforms      as a class of the table
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.policy.cel_text import Variable, literal, rows, text, variable
from archfit.admission.policy.platform_table import SYSTEMS, offer_class
from archfit.images.platforms import ARCHITECTURES, WINDOWS, Found, parse_platform
from archfit.options.settings import Options
from archfit.placement.annotations import PREFIX

SPELLINGS = ("x86_64", "x86-64", "aarch64", "armhf", "armel", "i386")
WORDS = text(r"[^,\s]+")
_PLATFORMS = text(f"{PREFIX}image-platforms")
_VARIANTS = (
    ("amd64", ("v1", "v2", "v3", "v4")),
    ("arm64", ("8", "v8", "v8.0", "v9")),
    ("arm", ("5", "6", "7", "8", "v5", "v6", "v7", "v8")),
)


def stated_platform_variables() -> Iterator[Variable]:
    """See the module."""
    yield variable(
        "platformsStated",
        "an annotation states the platforms of every image",
        "%name in variables.annotations",
        name=_PLATFORMS,
    )
    yield variable(
        "platformSpellings",
        "what platforms mean that are not linux and a bare architecture",
        "%spellings",
        spellings=rows((f"{text(word)}: {literal(meant)}" for word, meant in _spellings()), "{", "}"),
    )
    yield variable(
        "wordOffers",
        "what each word of that annotation offers, ['?'] for one that the policy does not know",
        """
        (variables.platformsStated ? variables.annotations[%name].lowerAscii().findAll(%words) : [])
          .map(word, word.contains('/') ? word : 'linux/' + word)
          .map(word,
            word in variables.platformSpellings ? variables.platformSpellings[word]
            : variables.nodeArchitectures.exists(a, word == 'linux/' + a) ? [word]
            : ['?'])
        """,
        name=_PLATFORMS,
        words=WORDS,
    )
    yield variable(
        "statedPlatforms",
        "what that annotation offers, by operating system",
        """
        {
          'linux': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'linux/' + a in offer)),
          'windows': variables.architectures.filter(a, variables.wordOffers.exists(offer, 'windows/' + a in offer))
        }
        """,
    )


def _spellings() -> Iterator[tuple[str, list[str]]]:
    """Each platform that is not linux/ and an architecture alone, with what it offers for a container."""
    linux = [
        *ARCHITECTURES,
        *SPELLINGS,
        *(f"{name}/{one}" for name, variants in _VARIANTS for one in variants),
    ]
    for word in [*(f"linux/{name}" for name in linux), *(f"windows/{name}" for name in WINDOWS)]:
        offers, _ = offer_class("", Found((parse_platform(word),), origin="override"), Options())
        meant = [f"{os}/{name}" for os in SYSTEMS for name in offers.get(os, ())]
        if meant != [word] or not word.startswith("linux/"):
            yield word, meant
