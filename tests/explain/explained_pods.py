"""Explanations in few words, for the tests of `archfit explain`.

tree(stream, {"app:1": "amd64"}, Options(..))      the text, as the program writes it
explained_stream(..)                               the same before it becomes text
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.cli.inputs.manifests import read_manifests
from archfit.explain.explained import Explained, explained
from archfit.explain.text import text
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.pipeline import decide
from pod_decisions import DEFAULT, answers


def explained_stream(
    stream: str, images: Mapping[str, str | Answer], options: Options = DEFAULT, name: str = "web.yaml"
) -> Explained:
    """Everything that is explained about a stream."""
    read = read_manifests([(name, stream.encode())], options)
    made = decide(read.inventory, answers(dict(images)), options)
    return explained(read.data, read.inventory, made.decisions, made.answers, options)


def tree(
    stream: str,
    images: Mapping[str, str | Answer],
    options: Options = DEFAULT,
    *,
    name: str = "web.yaml",
) -> str:
    """The trees of a stream."""
    return text(explained_stream(stream, images, options, name))
