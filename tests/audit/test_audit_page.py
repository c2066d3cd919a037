"""The page of an audit, without a browser: its own policy, the same bytes, and the extra that it needs."""

import base64
import hashlib
import json
import re
import subprocess
import sys

from tests.audit import audit_clusters

import machine
from archfit.audit.findings import findings
from archfit.audit.report.page import render
from archfit.facts.facts import AuditFacts


def page(facts):
    return render(findings(facts)).decode()


def test_the_same_findings_give_the_same_bytes():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import audit_clusters, hashlib;"
        "from archfit.audit.findings import findings; from archfit.audit.report.page import render;"
        "print(hashlib.sha256(render(findings(audit_clusters.shop()))).hexdigest())"
    )
    folder = audit_clusters.__file__.rpartition("/")[0]
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, folder],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_the_policy_names_the_hashes_of_the_one_style_and_the_one_script():
    text = page(audit_clusters.hostile())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        found = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_nothing_in_the_page_points_outside():
    text = page(audit_clusters.shop())
    assert {one for one in re.findall(r'(?:href|src|action|data)="([^"]*)"', text) if one[:1] != "#"} == {
        "data:,"
    }
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttp|WebSocket|innerHTML|eval\(", text)


def test_the_data_for_programs_never_ends_its_element():
    text = page(audit_clusters.hostile())
    data = re.search(r'<script type="application/json" id="audit">(.*?)</script>', text, re.DOTALL)[1]
    assert not set(data) & set("<>&\u2028\u2029")
    assert json.loads(data)["workLists"][0]["items"]


def test_an_audit_of_nothing_is_a_page():
    assert "No nodes were read" in page(AuditFacts())


def test_without_jinja_the_error_names_the_extra_before_anything_is_read():
    code = (
        "import io, sys; sys.modules['jinja2'] = None; from archfit.audit.command import audit as run;"
        "from archfit.base.errors import ArchfitError\n"
        "try: run(['--format', 'html', 'missing.json'], io.BytesIO(), io.BytesIO(), io.StringIO(), {})\n"
        "except ArchfitError as error: print(error)"
    )
    done = machine.run([sys.executable, "-c", code], check=True)
    assert "pip install 'jinja2>=" in done.stdout
