"""What stands before the comma that a flow collection needs for one member more."""

import pytest

from stream_edits import edited


@pytest.mark.parametrize(
    ("end", "written"),
    [
        pytest.param("hostname: a", "hostname: a, affinity: ", id="a plain text"),
        pytest.param(
            "hostname: 'a !b'", "hostname: 'a !b', affinity: ", id="a text with an exclamation mark"
        ),
        pytest.param("hostname: !!str ", "hostname: !!str , affinity: ", id="a tag without text"),
        pytest.param("hostname: !!str ''", "hostname: !!str '', affinity: ", id="a tag with text"),
    ],
)
def test_only_a_tag_without_text_gets_a_blank_before_the_comma(end, written):
    text = (
        f"apiVersion: v1\nkind: PodTemplate\ntemplate: {{spec: {{containers: [{{image: app:1}}], {end}}}}}\n"
    )
    assert written.encode() in edited(text.encode()).data
