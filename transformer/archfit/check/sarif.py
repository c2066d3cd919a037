"""A check as SARIF 2.1.0, for code scanning (OASIS Static Analysis Results Interchange Format).

%SRCROOT% stands for the root of the repository by its description alone (3.14.14), so that the same findings give the
same bytes on every machine.

what GitHub takes (docs.github.com, "SARIF support for code scanning")
    no result without a location: a stream without files has the artifact `stdin`
    fixes: with --newer-tags, the image's line with the nearest tag that runs there (3.55)
    relative paths: from the root of the repository; a file outside of it has a file: URI
    no region: the finding is about the whole file
    primaryLocationLineHash: which finding it is. codeql-action computes it from the text of the line where there is a
      line; elsewhere archfit gives its own fingerprint, which leaves out the line
    25,000 results: a longer list is cut, the errors first, and a notification says so (3.58)
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from archfit import __version__
from archfit.base.documentation import page
from archfit.base.printable import count, visible
from archfit.check.findings import RULES, Check, Finding, counts, fingerprints
from archfit.reports.tag_updates import name_and_tag
from archfit.yaml.json_output import json_output

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
_ROOT = "%SRCROOT%"
_LEVEL = {"error": "error", "warning": "warning", "info": "none"}
_DEFAULT = {"notice": "warning", "not-checked": "none", "not-read": "none"}
_HELP = {
    "placement": "Render the manifests through archfit, or add to them what archfit would add.",
    "required-platform": "Build the image for the platform, use another image, or keep the pod on nodes where it runs.",
    "not-known": "Remove the cause that the message names, or accept such images with --allow-unknown.",
    "problem": "Read the message: it says what to change. Then run the check again.",
    "notice": "Read the message. It does not fail the check.",
    "not-read": "Read the message: it says why. It does not fail the check.",
    "not-checked": "It was not looked at. To check pods of another operating system, name it with --require.",
}


def log(check: Check) -> bytes:
    """The check as one SARIF log file."""
    driver: dict[str, Any] = {"name": "archfit", "version": __version__}
    if "://" in page("check"):  # a place in a checkout is no address
        driver["informationUri"] = page("check")
    driver["rules"] = [_rule(rule) for rule in RULES]
    shown = check.shown
    results = list(zip(shown, fingerprints(shown), strict=True))
    if len(results) > MOST_RESULTS:
        results = sorted(results, key=lambda pair: list(_LEVEL).index(pair[0].severity))[:MOST_RESULTS]
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(check, len(shown) - len(results))],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        **({"properties": counts(check)} if check.required else {}),
        "results": [_result(finding, fingerprint) for finding, fingerprint in results],
    }
    return json_output({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: str) -> dict[str, Any]:
    return {
        "id": rule,
        "shortDescription": {"text": RULES[rule]},
        "fullDescription": {"text": RULES[rule]},
        "help": {"text": f"{_HELP[rule]} See {page('check')}."},
        "defaultConfiguration": {"level": _DEFAULT.get(rule, "error")},
    }


def _invocation(check: Check, left_out: int) -> dict[str, Any]:
    value: dict[str, Any] = {"executionSuccessful": check.exit_code != 1, "exitCode": check.exit_code}
    if left_out:
        text = f"{count(left_out, 'finding')} left out: GitHub takes {MOST_RESULTS:,} in a file"
        value["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    return value


def _result(finding: Finding, fingerprint: str) -> dict[str, Any]:
    prints = {"archfit/v1": fingerprint[:32]}
    if not finding.exact or _outside(finding):
        prints["primaryLocationLineHash"] = f"{fingerprint[:32]}:1"
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "kind": "informational" if finding.severity == "info" else "fail",
        "level": _LEVEL[finding.severity],
        "message": {"text": visible(finding.sentence)},
        "locations": [_location(finding)],
        "partialFingerprints": prints,
        **fixes(finding),
    }


def fixes(finding: Finding) -> dict[str, Any]:
    """The nearest tag in the place of the image's, where it can be, and it is known where that stands."""
    newer = finding.newer
    if not (newer and newer.tags and newer.tags[0].replaces and finding.column):
        return {}
    end = finding.column + len(finding.image)
    region = {"startLine": finding.line, "startColumn": finding.column, "endColumn": end}
    text = f"{name_and_tag(finding.image)[0]}:{newer.tags[0].tag}"
    replacement = {"deletedRegion": region, "insertedContent": {"text": text}}
    change = {"artifactLocation": _artifact(finding), "replacements": [replacement]}
    return {"fixes": [{"description": {"text": visible(newer.advice)}, "artifactChanges": [change]}]}


def _location(finding: Finding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(finding)}
    if finding.line:
        physical["region"] = {"startLine": finding.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.ref:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(finding.subject), "kind": "object"}]
    return location


def _artifact(finding: Finding) -> dict[str, str]:
    uri = quote(finding.artifact, errors="backslashreplace")
    if _outside(finding):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": _ROOT} if finding.file else {"uri": uri}


def _outside(finding: Finding) -> bool:
    return finding.file.startswith("/")
