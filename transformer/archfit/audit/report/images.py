"""One line an image: on which of the report's architectures it runs, which it lacks, of which nobody knows.

text        IMAGE, RUNS ON, LACKS, NOT KNOWN; a dash for none
csv         the same columns, of a report's CSV in spelling and safety
json        {"images": [{"image": .., "runs": [..], "lacks": [..], "notKnown": [..]}]}
"""

from __future__ import annotations

import csv
import io

from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.report.csv import spreadsheet_cell
from archfit.base.printable import visible
from archfit.yaml.json_output import document_head, json_output

_KEYS = ("runs", "lacks", "notKnown")
_STATES = {"yes": 0, "unknown": 2}


def render(findings: AuditFindings, _since: AuditComparison | None, *, form: str) -> bytes:
    """The images in the order of the facts. form: of `flags.IMAGE_FORMATS`."""
    rows = []
    for image in findings.images:
        names: tuple[list[str], ...] = ([], [], [])
        for name, state in zip(findings.architectures, image.states, strict=True):
            names[_STATES.get(state, 1)].append(name)
        rows.append((image.facts.reference or "(no image is named)", names))
    if form == "json":
        images = [{"image": image, **dict(zip(_KEYS, names, strict=True))} for image, names in rows]
        return json_output({**document_head("audit-images"), "images": images})
    if form == "csv":
        out = io.StringIO(newline="")
        table = [("image", *_KEYS), *((image, *map(" ".join, names)) for image, names in rows)]
        csv.writer(out).writerows(map(spreadsheet_cell, row) for row in table)
        return out.getvalue().encode()
    lines: list[tuple[str, ...]] = [("IMAGE", "RUNS ON", "LACKS", "NOT KNOWN")]
    lines += [(visible(image), *(" ".join(some) or "-" for some in names)) for image, names in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in lines
    ).encode()
