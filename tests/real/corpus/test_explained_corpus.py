"""Real streams are explained: every pod, every image, as the run decides, and without a pass over them for each pod."""

import json
import time

import jsonschema

from archfit.explain.command import as_json
from archfit.explain.explained import explained
from archfit.explain.schema import schema
from archfit.explain.text import text
from archfit.images.platforms import Found, Unknown, parse_platform
from archfit.options.settings import Options
from archfit.pipeline import decide, scan
from archfit.yaml import stream as streams
from corpus_streams import each_stream

# Far above what the largest stream takes on a busy machine, far below what anything quadratic would take.
SECONDS = 60


def answer(platforms):
    if platforms is None:
        return Unknown("nobody could say")
    return Found(tuple(map(parse_platform, platforms)), digest="sha256:0")


@each_stream
def test_a_real_stream_is_explained(stream):
    read = streams.read_stream(stream.read(), "pass")
    options = Options(on_unknown="leave", on_conflict="leave")
    found = scan(read.data, read.pieces, options)
    known = {image: answer(stream.platforms.get(image)) for image in found.texts}
    made = decide(found, known, options)
    started = time.process_time()
    why = explained(read.data, found, made.decisions, known, options)
    shown = text(why)
    assert time.process_time() - started < SECONDS
    assert [pod.explanation.outcome for pod in why.pods] == [one.outcome for _, one in made.decisions]
    for pod, (source, _) in zip(why.pods, made.decisions, strict=True):
        assert {image.image for image in pod.explanation.images} == {use.text or "" for use in source.images}
    assert shown.count("├─ images") + shown.count("└─ images") == len(why.pods)
    assert "Traceback" not in shown
    jsonschema.validate(json.loads(as_json(why, 0)), schema())
