"""Output that the pages show is what archfit writes."""

import re

from registry import Registry

from archfit.base.results import ObjectRef
from archfit.reports.immutable_objects import immutable_advice
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.unsupported.unknown_kinds import reason_of
from machine import ROOT


def page(name):
    """The text of a page, with a blank for each line break."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_the_message_about_a_job_is_shown_as_it_is():
    assert immutable_advice([ObjectRef("batch/v1", "Job", "shop", "migrate")]) in page("docs/helm.md")


def test_the_message_about_a_kind_without_a_row_is_shown_as_it_is():
    shown = page("docs/custom-resources.md")
    group, kind = re.search(r"info: ([\w.]+)/\w+/(\w+)/\w+: not transformed", shown).groups()
    assert (group, kind) not in all_custom_rows()
    assert reason_of(group, kind, {}) in shown


IMAGES = {
    "argoproj/rollouts-demo:green": ["linux/amd64"],
    "nginx:1.29.3": ["linux/amd64", "linux/arm64"],
}


def deployment(name, image):
    container = f"containers:\n        - name: {name}\n          image: {image}\n"
    head = (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n"
    )
    return f"{head}      {container}"


def test_the_first_page_shows_what_its_steps_print(archfit):
    text = "---\n".join(
        deployment(image.rpartition("/")[2].partition(":")[0], image) for image in reversed(IMAGES)
    ).encode()
    blocks = re.findall(
        r"^```(?:diff|text)\n(.*?)^```$",
        (ROOT / "docs" / "first-chart.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    with Registry(IMAGES) as registry:

        def printed(stream, *words):
            return archfit(stream, *words, *registry.mirrors(), "--no-cache").ok()

        placed = printed(text)
        steps = (printed(text, "--diff"), printed(text, "explain"), printed(placed, "check"))
    assert blocks == [step.decode() for step in steps]
