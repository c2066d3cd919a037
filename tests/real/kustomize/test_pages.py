"""docs/kustomize.md shows the files that are written. tests/real/pages follows their commands."""

import machine
from archfit.integrations.kustomize.setup_files import kpt_config, kustomize_config

PAGE = (machine.ROOT / "docs" / "kustomize.md").read_text(encoding="utf-8")


def test_the_page_shows_what_is_written():
    assert kustomize_config("", {}).partition("\n")[2] in PAGE
    assert "    - exec: archfit\n      configPath: archfit.yaml\n" in PAGE
    examples = machine.ROOT / "kustomize-plugin" / "examples"
    for name, made in (("exec", kustomize_config("", {})), ("kpt", kpt_config({}))):
        shipped = (examples / name / "archfit.yaml").read_text(encoding="utf-8")
        assert shipped == made.partition("\n")[2], name
