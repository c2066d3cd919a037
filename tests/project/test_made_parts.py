"""What is made from the code: parts of pages and of the chart, which are in the repository, and the man page."""

import man_page
import pages
import pytest

import machine
from archfit.cli.usage.command_table import COMMANDS


def test_every_made_part_is_as_the_code_has_it():
    """If not: make pages."""
    assert [str(path.relative_to(machine.ROOT)) for path in pages.stale()] == []


def test_a_marker_without_an_end_is_refused():
    with pytest.raises(ValueError, match="there is no line <!-- /options -->"):
        pages.marked("# Page\n<!-- options -->\n")


@pytest.mark.real
def test_roff_takes_the_man_page_without_a_warning():
    done = machine.run(
        [machine.tool("groff"), "-man", "-Tutf8", "-ww", "-z"], input=man_page.man_page(), check=True
    )
    assert done.stderr == ""


def test_the_man_page_shows_every_command_as_the_user_types_it():
    page = man_page.man_page().replace("\\-", "-")
    for command in COMMANDS:
        if command.run:
            assert f".B archfit {command.usage[0].split(' [')[0]}".split(" <")[0] in page
