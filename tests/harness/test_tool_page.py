"""What `lab` says of docs/tools.md: the page never claims a run of other blocks than its own."""

import pytest
import whole_tables

from whole.tool_page import blocks_of, digest
from whole.tool_runs import RUNS

TOOLS = list(blocks_of())
RECORD = {row["tool"]: row for row in whole_tables.measured("tools")["tools"]}


def test_each_tool_of_the_page_has_a_run():
    assert list(RUNS) == TOOLS
    assert all(blocks_of()[tool] for tool in TOOLS)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_blocks_of_the_page_are_those_that_were_run(tool):
    """Else run `make -C lab whole PART=tools`."""
    row = RECORD[tool]
    assert row["blocks"] == digest(blocks_of()[tool])
    assert ("with" in row) != ("read" in row)
    assert row.get("read", "-")


def test_the_record_has_no_tool_that_the_page_lacks():
    assert list(RECORD) == TOOLS
