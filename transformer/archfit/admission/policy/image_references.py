"""CEL: the images of a pod, and their references as `images.reference` normalises them.

    imageUses     every place that names an image: its role (`platform_table`), text and pull policy
    references    docker.io/library/nginx:1.27, quay.io/team/app@sha256:..; '' where the text is no reference

The grammar is that of `images.reference`, whose patterns Python and RE2 read alike. Only the order differs: Docker's
defaults are filled in first, so that one pattern can check the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.admission.policy.cel_text import Variable, any_of, text, variable
from archfit.admission.policy.glob_pattern import quoted
from archfit.admission.policy.platform_table import CONTAINER, RUNTIME_CLASS, VOLUME
from archfit.images.reference import HUB, HUB_INDEX
from archfit.images.reference_grammar import DIGEST, HOST, IDENTIFIER, MAX_PATH, PATH, TAG

NAME = text("^[^/]+/[^:@]+")
"""What `find` takes out of a normalised reference: its host and repository."""


def reference_variables(images: Sequence[str]) -> Iterator[Variable]:
    """runtimeClass, imageUses, references. images: the mappings whose keys are normalised references."""
    yield variable(
        "runtimeClass",
        "how roles of images end in a pod that names a runtime class",
        "has(object.spec.runtimeClassName) && object.spec.runtimeClassName != '' ? %suffix : ''",
        suffix=text(RUNTIME_CLASS),
    )
    yield variable(
        "imageUses",
        "every place of the pod that names an image",
        """
        (object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])).map(c, {
          'role': %container + variables.runtimeClass,
          'image': has(c.image) ? string(c.image) : '',
          'pull': has(c.imagePullPolicy) ? string(c.imagePullPolicy) : ''})
        + (has(object.spec.volumes) ? object.spec.volumes : []).filter(v, has(v.image)).map(v, {
          'role': %volume + variables.runtimeClass,
          'image': has(v.image.reference) ? string(v.image.reference) : '',
          'pull': has(v.image.pullPolicy) ? string(v.image.pullPolicy) : ''})
        """,
        container=text(CONTAINER),
        volume=text(VOLUME),
    )
    yield variable(
        "references",
        "the images in full, with Docker's defaults; '' where the text is no reference",
        """
        // a key of the table is its own reference: most pods need no pattern
        variables.imageUses.map(use, %listed ? use.image : [use.image]
          .map(r, r.matches(%identifier) ? '' : r)
          // the first segment is a host, or the host is Docker Hub
          .map(r, r.matches('^(?:localhost|[^/]*[.:A-Z][^/]*)/') ? r : %hub + r)
          .map(r, r.startsWith(%index) ? %hub + r.substring(%after_index) : r)
          .map(r, r.matches(%official) ? %hub + 'library/' + r.substring(%after_hub) : r)
          // what the grammar refuses
          .map(r, r.matches(%grammar) && r.matches(%length) ? r : '')
          // a digest makes the tag meaningless, and a missing tag is `latest`
          .map(r, r.contains('@') ? r.find(%name) + r.substring(r.indexOf('@'))
            : r.matches('^[^/]+/[^:]+$') ? r + ':latest' : r)[0])
        """,
        listed=any_of(f"use.image in {one}" for one in images),
        identifier=text(f"^{IDENTIFIER}$"),
        hub=text(f"{HUB}/"),
        after_hub=str(len(HUB) + 1),
        index=text(f"{HUB_INDEX}/"),
        after_index=str(len(HUB_INDEX) + 1),
        official=text(f"^{quoted(HUB)}/[^/]*$"),
        grammar=text(f"^{HOST}/{PATH}(?::{TAG})?(?:@(?:{DIGEST}))?$"),
        length=text(f"^[^/]+/[^:@]{{1,{MAX_PATH}}}(?:[:@].*)?$"),
        name=NAME,
    )
