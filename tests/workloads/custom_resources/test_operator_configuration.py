"""Containers that the configuration of Zalando's operator adds to each `postgresql`, where the stream has it."""

import pytest

from stream_edits import edited

CLUSTER = """\
apiVersion: acid.zalan.do/v1
kind: postgresql
metadata: {name: a, namespace: x}
spec: {OWNteamId: a}
"""
OBJECT = """\
apiVersion: acid.zalan.do/v1
kind: OperatorConfiguration
metadata: {name: NAME, namespace: operators}
configuration: {SAID}
---
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: postgres-operator}
data: {SAID}
---
"""
UNKNOWN = "the Zalando operator's configuration names it"


def cluster(own: str = "dockerImage: 'both:1'") -> str:
    return CLUSTER.replace("OWN", own and f"{own}, ")


def configured(said: str, name: str = "a") -> str:
    return OBJECT.replace("SAID", said).replace("NAME", name)


def narrowed(text: str) -> bool:
    output = edited(text.encode()).data.decode()
    assert output.startswith(text.partition("kind: postgresql")[0])
    return "kubernetes.io/arch" in output


def said(text: str) -> str:
    return "\n".join(str(one) for one in edited(text.encode()).edits.messages)


SIDECAR = "sidecars: [{name: logs, image: 'amd:1'}]"
BY_NAME = "sidecar_docker_images: {logs: 'amd:1'}"
SCALYR = "scalyr: {scalyr_api_key: k, scalyr_image: 'amd:1'}"


@pytest.mark.parametrize(
    ("said", "own", "expected"),
    [
        pytest.param(SIDECAR, "", True, id="sidecars"),
        pytest.param(SIDECAR.replace("amd", "both"), "", False, id="noop: sidecars that run everywhere"),
        pytest.param("sidecars: [{name: logs}]", "", False, id="noop: a sidecar without an image"),
        pytest.param(BY_NAME, "", True, id="sidecar_docker_images"),
        pytest.param(SCALYR, "", True, id="scalyr"),
        pytest.param(SCALYR.replace("scalyr_api_key: k, ", ""), "", False, id="noop: scalyr without a key"),
        pytest.param("kubernetes: {enable_sidecars: false}, " + SIDECAR, "", True, id="enable_sidecars: no"),
        pytest.param(SIDECAR, "sidecars: [{name: logs, image: 'both:1'}], ", False, id="noop: its own one wins"),
        pytest.param(
            SIDECAR.replace("logs", "sidecar-0"), "sidecars: [{image: 'both:1'}], ", False, id="noop: without a name"
        ),
        pytest.param(SIDECAR, "sidecars: [{name: other, image: 'both:1'}], ", True, id="beside another one"),
        pytest.param(f"{BY_NAME.replace('amd', 'both')}, {SIDECAR}", "", True, id="sidecars win"),
        pytest.param(f"{BY_NAME}, {SIDECAR.replace('amd', 'both')}", "", False, id="noop: sidecars win"),
        pytest.param("docker_image: 'amd:1'", "", False, id="noop: the cluster names its image"),
    ],
)  # fmt: skip
def test_what_the_configuration_adds_counts(said, own, expected):
    text = cluster(f"{own}dockerImage: 'both:1'")
    assert not narrowed(text)
    assert narrowed(configured(said) + text) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("sidecar_docker_images: 'logs:amd'", True, id="one"),
        pytest.param("sidecar_docker_images: 'a:both, logs:amd'", True, id="several"),
        pytest.param(
            "sidecar_docker_images: 'logs:amd:1'", False, id="noop: the operator refuses a tag there"
        ),
        pytest.param("sidecar_docker_images: ''", False, id="noop: none"),
        pytest.param("sidecars: 'logs:amd'", False, id="noop: the operator reads no containers there"),
    ],
)
def test_a_config_map_states_images_as_pairs(said, expected):
    text = cluster("dockerImage: 'both:1'")
    images = edited((CONFIG_MAP.replace("SAID", said) + text).encode()).edits.answers
    assert ("amd" in images) is expected


def test_the_image_of_the_configuration_runs_where_the_cluster_names_none():
    text = cluster("")
    assert UNKNOWN in said(text)
    assert UNKNOWN in said(configured("workers: 8") + text)
    assert narrowed(configured("docker_image: 'amd:1'") + text)
    assert UNKNOWN not in said(configured("docker_image: 'amd:1'") + text)


def test_of_two_configurations_that_differ_nobody_knows_which_holds():
    text = cluster()
    first, second = configured(SIDECAR, "a"), configured("workers: 8", "b")
    assert narrowed(first + first.replace("name: a", "name: c") + text)
    assert not narrowed(first + second + text)
    assert "2 configurations of the Zalando operator in this stream differ" in said(first + second + text)
    images = [configured(f"docker_image: '{image}:1', {SIDECAR}") for image in ("amd", "both")]
    assert narrowed("".join(images) + text)
    assert UNKNOWN in said("".join(images) + cluster(""))


def test_more_containers_than_anybody_has_are_unknown():
    def many(number: int) -> str:
        items = ", ".join(f"{{name: s{n}, image: 'amd:1'}}" for n in range(number))
        return configured(f"sidecars: [{items}]") + cluster()

    assert narrowed(many(50))
    assert not narrowed(many(51))
    assert "adds 51 containers, more than archfit reads" in said(many(51))


def test_the_configuration_is_said_to_be_read():
    (only,) = edited(configured(SIDECAR).encode()).edits.messages
    assert "it names images that run in the pods of each postgresql, where they count" in only.text


def test_a_configuration_that_cannot_be_read_changes_nothing():
    for broken in (
        configured("sidecars: 3, sidecar_docker_images: [a], scalyr: b"),
        configured("").replace("{}", "x"),
    ):
        assert not narrowed(broken + cluster())
