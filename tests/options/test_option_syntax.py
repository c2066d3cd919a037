"""The small languages of option values: what each accepts, and the exact sentence for what it does not."""

from collections.abc import Callable

import pytest

from archfit.base.errors import Problem
from archfit.images.platforms import ImagePlatforms, Platform
from archfit.options import architectures, hosts, option_types, taints
from archfit.options.option_types import OptionType
from archfit.options.rules import exclude
from archfit.options.settings import GKE, Exclude, Mirror, Toleration, TolerationRule

Parse = Callable[[str], object]
AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")
ARMV7 = Platform("linux", "arm", "v7")
KNOWN = (
    "known are 386, amd64, arm, arm64, loong64, mips, mips64, mips64le, mipsle, ppc64, ppc64le, "
    "riscv64, s390x"
)


def _text(option_type: OptionType) -> Parse:
    return lambda text: option_type.text([text])


_cluster, weights, platforms = map(
    _text, (architectures.CLUSTER, architectures.PREFERENCE, architectures.PLATFORMS)
)


def _rule(key: str, operator: str, value: str, *names: str, effect: str = "NoSchedule") -> TolerationRule:
    return TolerationRule(names, Toleration(key, operator, value, effect))


GOOD = [
    pytest.param(_cluster, "arm64,amd64", ("amd64", "arm64"), id="architectures are sorted"),
    pytest.param(_cluster, "amd64, amd64", ("amd64",), id="architectures are unique, blanks around commas fall"),
    pytest.param(_cluster, "aarch64,x86_64,windows/x86_64", ("amd64", "arm64", "windows/amd64"), id="architectures as uname names them"),
    pytest.param(weights, "aarch64=7", (("arm64", 7),), id="a weight of uname's word"),
    pytest.param(_cluster, "386", ("386",), id="an architecture of digits"),
    pytest.param(
        _cluster, "windows/amd64,arm64,amd64,windows/amd64", ("amd64", "arm64", "windows/amd64"), id="architectures of Windows nodes"
    ),
    pytest.param(weights, "arm64=1,amd64=100", (("amd64", 100), ("arm64", 1)), id="weights are sorted by name"),
    pytest.param(weights, " arm64 = 7 ", (("arm64", 7),), id="blanks around a weight fall"),
    pytest.param(platforms, "linux/arm/v7,arm64,amd64", (AMD64, ARMV7, ARM64), id="linux is implied"),
    pytest.param(platforms, "x86_64,linux/arm64/v8", (AMD64, ARM64), id="platforms are normalised"),
    pytest.param(platforms, "windows/amd64", (Platform("windows", "amd64"),), id="another operating system"),
    pytest.param(
        architectures.image_platforms, "registry.local/legacy/*=linux/amd64,arm64", ImagePlatforms("registry.local/legacy/*", (AMD64, ARM64)), id="an override"
    ),
    pytest.param(architectures.image_platforms, "*=amd64", ImagePlatforms("*", (AMD64,)), id="an override as *"),
    pytest.param(architectures.image_platforms, "*nginx=amd64", ImagePlatforms("*nginx", (AMD64,)), id="an override as *nginx"),
    pytest.param(architectures.image_platforms, "*/nginx:1.*=amd64", ImagePlatforms("*/nginx:1.*", (AMD64,)), id="an override as */nginx:1.*"),
    pytest.param(architectures.image_platforms, "docker.io/*=amd64", ImagePlatforms("docker.io/*", (AMD64,)), id="an override as docker.io/*"),
    pytest.param(
        architectures.image_platforms,
        "docker.io/library/nginx=amd64",
        ImagePlatforms("docker.io/library/nginx", (AMD64,)),
        id="an override as docker.io/library/nginx",
    ),
    pytest.param(architectures.image_platforms, "docker.io/n*=amd64", ImagePlatforms("docker.io/n*", (AMD64,)), id="an override as docker.io/n*"),
    pytest.param(architectures.image_platforms, "localhost/a=amd64", ImagePlatforms("localhost/a", (AMD64,)), id="an override as localhost/a"),
    pytest.param(architectures.image_platforms, "[::1]:5000/a=amd64", ImagePlatforms("[::1]:5000/a", (AMD64,)), id="an override as [::1]:5000/a"),
    pytest.param(architectures.image_platforms, "n*/a=amd64", ImagePlatforms("n*/a", (AMD64,)), id="an override as n*/a"),
    pytest.param(architectures.image_platforms, "host:5000/a:1.*=amd64", ImagePlatforms("host:5000/a:1.*", (AMD64,)), id="an override with port and tag"),
    pytest.param(option_types.duration, "0", 0.0, id="zero needs no unit"),
    pytest.param(option_types.duration, "90s", 90.0, id="seconds"),
    pytest.param(option_types.duration, "15m", 900.0, id="minutes"),
    pytest.param(option_types.duration, "6h", 21600.0, id="hours"),
    pytest.param(option_types.duration, "7d", 604800.0, id="days"),
    pytest.param(option_types.duration, "1h30m", 5400.0, id="units add up"),
    pytest.param(option_types.deadline, "99999999d", 1e9, id="no lock could wait so long"),
    pytest.param(option_types.duration, "500ms", 0.5, id="milliseconds"),
    pytest.param(option_types.whole_seconds, "1000ms", 1, id="milliseconds that make a second"),
    pytest.param(option_types.deadline, "1500ms", 1.5, id="a deadline may have a fraction"),
    pytest.param(taints.label_key, "example.com/arch", "example.com/arch", id="a key with a prefix"),
    pytest.param(taints.label_key, "Arch_x.y-1", "Arch_x.y-1", id="a key without a prefix"),
    pytest.param(taints.label_value, "", "", id="an empty value"),
    pytest.param(taints.label_value, "v" * 63, "v" * 63, id="a value of 63 characters"),
    pytest.param(exclude, "DaemonSet", Exclude("DaemonSet"), id="exclude: a kind"),
    pytest.param(exclude, "*/kube-system", Exclude("*", "kube-system"), id="exclude: a namespace"),
    pytest.param(exclude, "Job/*/migrate-[0-9]?", Exclude("Job", "*", "migrate-[0-9]?"), id="exclude: a name"),
    pytest.param(exclude, "Job/*/[[]a]", Exclude("Job", "*", "[[]a]"), id="exclude: brackets in brackets"),
    pytest.param(hosts.mirror_pair, "docker.io=https://hub.example", Mirror("docker.io", "https", "hub.example"), id="mirror"),
    pytest.param(
        hosts.mirror_pair, "docker.io=https://hub.example/a/b-c/", Mirror("docker.io", "https", "hub.example", "a/b-c"), id="mirror: the last slash falls"
    ),
    pytest.param(hosts.mirror_pair, "*=http://127.0.0.1:5000", Mirror("*", "http", "127.0.0.1:5000"), id="mirror: all, plain HTTP"),
    pytest.param(
        hosts.mirror_pair, "Host:5000=https://[::1]:5001/hub", Mirror("host:5000", "https", "[::1]:5001", "hub"), id="mirror: ports, IPv6, hosts in lower case"
    ),
    pytest.param(taints.toleration_rule, "gke", GKE, id="toleration: gke"),
    pytest.param(taints.toleration_rule, "kubernetes.io/arch=arm64:NoSchedule", GKE, id="toleration: gke written out is the same"),
    pytest.param(
        taints.toleration_rule,
        "arch=arm64:NoExecute",
        _rule("arch", "Equal", "arm64", "arm64", effect="NoExecute"),
        id="toleration: architecture from the value",
    ),
    pytest.param(
        taints.toleration_rule,
        "kubernetes.io/arch=arm:NoSchedule",
        _rule("kubernetes.io/arch", "Equal", "arm", "arm"),
        id="toleration: arm is 32-bit under Kubernetes' own key",
    ),
    pytest.param(taints.toleration_rule, "arch=aarch64:NoSchedule", _rule("arch", "Equal", "aarch64", "arm64"), id="toleration: the value's other spelling"),
    pytest.param(
        taints.toleration_rule,
        "k8smultiarcher=arm64Supported:NoSchedule@arm64,amd64",
        _rule("k8smultiarcher", "Equal", "arm64Supported", "amd64", "arm64"),
        id="toleration: architectures after @, sorted (k8smultiarcher's own taint)",
    ),
    pytest.param(
        taints.toleration_rule, "arch=arm64:NoSchedule@amd64", _rule("arch", "Equal", "arm64", "amd64"), id="toleration: what follows @ wins over the value"
    ),
    pytest.param(taints.toleration_rule, "arm-only:NoSchedule@arm64", _rule("arm-only", "Exists", "", "arm64"), id="toleration: no value means Exists"),
    pytest.param(
        taints.toleration_rule,
        "arm-only=:PreferNoSchedule@arm64",
        _rule("arm-only", "Equal", "", "arm64", effect="PreferNoSchedule"),
        id="toleration: an empty value means exactly that",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("parse", "text", "expected"), GOOD)
def test_reads(parse, text, expected):
    """A value that is written as documented becomes the frozen value it stands for."""
    assert parse(text) == expected


BAD = [
    *(
        pytest.param(_cluster, f"amd64,{text}", f"{text!r} is not an architecture of nodes: write {remedy}", id=f"architectures: {text}")
        for text, remedy in (
            ("windows/amd46", "'windows/amd64'"),
            ("windows/arm64/v8", "'windows/arm64'"),
            ("windows/s390x", "'windows/amd64'"),
            ("windows/", "'windows/amd64'"),
            ("windows", "'windows/amd64'"),
            ("windows-amd64", "'windows/amd64'"),
            ("Windows/amd64", "'windows/amd64'"),
            ("window/arm64", "'windows/arm64'"),
            ("linx/arm64", "'arm64'"),
            ("darwin/arm64", "'arm64' for Linux nodes, 'windows/arm64' for Windows nodes"),
        )
    ),
    pytest.param(
        _cluster,
        "windows/amd64",
        "names no architecture of Linux nodes: write those too, as 'amd64', beside 'windows/amd64'",
        id="architectures: none of Linux nodes",
    ),
    pytest.param(
        _cluster,
        "amd64,",
        "'amd64,' has an empty entry: write architectures separated by single commas",
        id="architectures: an empty entry",
    ),
    pytest.param(weights, "aarch64=1,arm64=2", "'arm64' has two weights: write one of them", id="weights: one architecture in two spellings"),
    pytest.param(platforms, "aarch64/v8", "'aarch64/v8' begins with an architecture: write 'linux/aarch64/v8'", id="platforms: uname's word first"),
    pytest.param(
        _cluster, "amr64", "'amr64' is not an architecture as Kubernetes labels its nodes: write 'arm64'", id="architectures: a typo"
    ),
    pytest.param(
        _cluster, "AMD64", "'AMD64' is not an architecture as Kubernetes labels its nodes: write 'amd64'", id="architectures: capitals"
    ),
    *(
        pytest.param(
            _cluster,
            text,
            f"{text!r} is not an architecture as Kubernetes labels its nodes: write {remedy!r}",
            id=f"architectures: {text}",
        )
        for text, remedy in (
            ("armv8", "arm64"),
            ("ARMv8", "arm64"),
            ("arm64v8", "arm64"),
            ("arm32v7", "arm"),
            ("x64", "amd64"),
            ("i686", "386"),
        )
    ),
    pytest.param(
        _cluster,
        "quantum",
        f"'quantum' is not an architecture as Kubernetes labels its nodes: {KNOWN}",
        id="architectures: nothing near",
    ),
    pytest.param(
        _cluster,
        "linux/arm64",
        "'linux/arm64' is not an architecture as Kubernetes labels its nodes: write 'arm64'",
        id="architectures: a platform",
    ),
    pytest.param(weights, "arm64", "'arm64' has no weight: write 'arm64=1'", id="weights: none"),
    pytest.param(weights, "arm64=0", "'0' is not a weight: write a whole number from 1 to 100", id="weights: zero"),
    pytest.param(weights, "arm64=101", "'101' is not a weight: write a whole number from 1 to 100", id="weights: 101"),
    pytest.param(weights, "arm64=²", "'²' is not a weight: write a whole number from 1 to 100", id="weights: odd digit"),
    pytest.param(weights, "arm64=1,arm64=2", "'arm64' has two weights: write one of them", id="weights: twice"),
    pytest.param(
        platforms, "linux/", "'linux/' is not a platform: write os/architecture[/variant], as in 'linux/arm64'", id="platforms: half of one"
    ),
    pytest.param(
        architectures.image_platforms,
        "registry.local/*",
        "'registry.local/*' names no platforms: write it as 'registry.local/legacy/*=linux/amd64'",
        id="overrides: no platforms",
    ),
    pytest.param(
        architectures.image_platforms,
        "nginx=amd64",
        "'nginx' matches no image, because archfit compares full names: write 'docker.io/library/nginx'",
        id="overrides: nginx",
    ),
    pytest.param(
        architectures.image_platforms,
        "nginx:1.*=amd64",
        "'nginx:1.*' matches no image, because archfit compares full names: write 'docker.io/library/nginx:1.*'",
        id="overrides: nginx:1.*",
    ),
    pytest.param(
        architectures.image_platforms,
        "argoproj/*=amd64",
        "'argoproj/*' matches no image, because archfit compares full names: write 'docker.io/argoproj/*'",
        id="overrides: argoproj/*",
    ),
    pytest.param(
        architectures.image_platforms,
        "docker.io/nginx=amd64",
        "'docker.io/nginx' matches no image, because archfit compares full names: write 'docker.io/library/nginx'",
        id="overrides: docker.io/nginx",
    ),
    pytest.param(
        architectures.image_platforms,
        "index.docker.io/a/b=amd64",
        "'index.docker.io/a/b' matches no image, because archfit compares full names: write 'docker.io/a/b'",
        id="overrides: index.docker.io/a/b",
    ),
    pytest.param(architectures.image_platforms, "=amd64", "'' is not a pattern for images: write one as 'registry.local/legacy/*'", id="overrides: no pattern"),
    pytest.param(option_types.duration, "30", "'30' is not a duration: write '30s', or another with d, h, m, s or ms", id="duration: no unit"),
    pytest.param(option_types.duration, "5 minutes", "'5 minutes' is not a duration: write '5m', or another with d, h, m, s or ms", id="duration: words"),
    pytest.param(option_types.duration, "1.5h", "'1.5h' is not a duration: write '30s', or another with d, h, m, s or ms", id="duration: a fraction"),
    pytest.param(option_types.duration, "1234567890d", "'1234567890d' is not a duration: write '30s', or another with d, h, m, s or ms", id="duration: too long"),
    pytest.param(option_types.duration, "1234567890", "'1234567890' is not a duration: write '30s', or another with d, h, m, s or ms", id="duration: too long, no unit"),
    pytest.param(option_types.duration, "-5s", "'-5s' is not a duration: write '30s', or another with d, h, m, s or ms", id="duration: negative"),
    pytest.param(
        option_types.whole_seconds, "1500ms", "'1500ms' is not a whole number of seconds: write '1s' or more", id="duration: half a second where whole ones count"
    ),
    pytest.param(option_types.deadline, "0", "'0' leaves no time for lookups: write a duration such as '30s'", id="duration: no deadline"),
    pytest.param(
        exclude, "Job/a/b/c", "'Job/a/b/c' is not KIND/NAMESPACE/NAME: write it as 'Job', '*/kube-system' or 'Job/*/migrate-*'", id="exclude: four parts"
    ),
    pytest.param(
        exclude, "Job//x", "'Job//x' is not KIND/NAMESPACE/NAME: write it as 'Job', '*/kube-system' or 'Job/*/migrate-*'", id="exclude: an empty part"
    ),
    pytest.param(
        exclude, "Job/a]/b[c", "'b[c' has a '[' that nothing closes: add ']', or write '?' for any one character", id="exclude: an open bracket"
    ),
    pytest.param(
        architectures.image_platforms, "[::1]/a[=amd64", "'[::1]/a[' has a '[' that nothing closes: add ']', or write '?' for any one character", id="an override: an open bracket"
    ),
    pytest.param(
        hosts.mirror_pair,
        "https://hub.example",
        "a mirror needs a registry and a URL: write it as 'docker.io=https://hub.example/proxy'",
        id="mirror: no source",
    ),
    pytest.param(
        hosts.mirror_pair,
        "docker.io=hub.example",
        "the URL for 'docker.io' is not one: write it with http:// or https://, as 'docker.io=https://hub.example/proxy'",
        id="mirror: no scheme",
    ),
    pytest.param(
        hosts.mirror_pair,
        "https://docker.io=https://hub.example",
        "the part before '=' is not a registry host: write it as in 'docker.io=https://hub.example'",
        id="mirror: a scheme in the source",
    ),
    pytest.param(
        hosts.mirror_pair,
        "docker_io=https://hub.example",
        "'docker_io' is not a registry host: write one as 'docker.io' or 'host:5000', or '*' for all",
        id="mirror: no host",
    ),
    pytest.param(
        hosts.mirror_pair,
        "index.docker.io=https://hub.example",
        "'index.docker.io' is called 'docker.io' in references: write 'docker.io'",
        id="mirror: Docker Hub's other name",
    ),
    pytest.param(
        hosts.mirror_pair,
        "docker.io=https:///hub",
        "the URL for 'docker.io' has no valid host: write it as 'https://hub.example/proxy'",
        id="mirror: a URL without a host",
    ),
    pytest.param(
        hosts.mirror_pair,
        "docker.io=https://hub.example/v2/",
        "the URL for 'docker.io' ends in '/v2', which is added to it: write 'https://hub.example'",
        id="mirror: the API's own path",
    ),
    pytest.param(
        hosts.mirror_pair,
        "docker.io=https://hub.example/Hub",
        "the URL for 'docker.io' has a path that is not a repository prefix: write lower-case names, as in '/hub/proxy'",
        id="mirror: capitals in the path",
    ),
    pytest.param(
        taints.toleration_rule, "dedicated=arm:NoSchedule-", "'NoSchedule-' is not a taint effect: write 'NoSchedule'", id="toleration: kubectl's removal"
    ),
    pytest.param(
        taints.toleration_rule,
        "dedicated=true:NoSchedule",
        "'dedicated=true:NoSchedule' does not say which architectures its nodes have: write 'dedicated=true:NoSchedule@arm64'",
        id="toleration: no architecture derivable",
    ),
    pytest.param(
        taints.toleration_rule,
        "pool=arm:NoSchedule",
        "'pool=arm:NoSchedule' does not say which architectures its nodes have: write 'pool=arm:NoSchedule@arm64'",
        id="toleration: arm may be said of arm64 under a key of one's own",
    ),
    pytest.param(
        taints.toleration_rule,
        "arm-only:NoSchedule",
        "'arm-only:NoSchedule' does not say which architectures its nodes have: write 'arm-only:NoSchedule@arm64'",
        id="toleration: no value to derive from",
    ),
    pytest.param(
        taints.toleration_rule,
        "a=b:NoSchedule@",
        "'a=b:NoSchedule@' names no architecture after '@': write 'a=b:NoSchedule@arm64'",
        id="toleration: nothing after @",
    ),
    pytest.param(taints.toleration_rule, "none", "'none' is no item of a list: write tolerate: none", id="toleration: none in a list"),
    pytest.param(taints.toleration_rule, "arch=arm64", "'arch=arm64' names no effect: write 'arch=arm64:NoSchedule'", id="toleration: no effect"),
    pytest.param(
        taints.toleration_rule,
        "arch=arm64@arm64",
        "'arch=arm64@arm64' names no effect: write 'arch=arm64:NoSchedule@arm64'",
        id="toleration: no effect before @",
    ),
    pytest.param(
        taints.toleration_rule, "arch=arm64:noschedule", "'noschedule' is not a taint effect: write 'NoSchedule'", id="toleration: an effect in lower case"
    ),
    pytest.param(
        taints.toleration_rule,
        "arch=arm64:Sometimes",
        "'Sometimes' is not a taint effect: known are NoSchedule, PreferNoSchedule, NoExecute",
        id="toleration: no such effect",
    ),
    pytest.param(
        taints.toleration_rule,
        "=arm64:NoSchedule",
        "'' is not a key of a label or taint: write letters, digits, '-', '_' and '.', with a DNS name and '/' in front if it has one, as 'example.com/arch'",
        id="toleration: no key",
    ),
    pytest.param(
        taints.toleration_rule,
        "arch=a b:NoSchedule@arm64",
        "'a b' is not a value of a label or taint: write up to 63 letters, digits, '-', '_' and '.'",
        id="toleration: a blank in the value",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("parse", "text", "message"), BAD)
def test_refuses(parse, text, message):
    """A value that is wrong is refused with one sentence: what is wrong, what to write."""
    with pytest.raises(Problem) as caught:
        parse(text)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        "docker.io=https://user:hunter2@hub.example",
        "docker.io=https://hub.example?token=hunter2",
        "docker.io=https://hub.example/a#hunter2",
        "docker.io=user:hunter2@hub.example",
        "https://user:hunter2@hub.example",
        "https://user:hunter2=x@hub.example",
        "user:hunter2@docker.io=https://hub.example",
    ],
)
def test_a_mirror_with_a_secret_is_refused_without_repeating_it(text):
    """No message holds a password or token."""
    with pytest.raises(Problem) as caught:
        hosts.mirror_pair(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["-a", "a-", "a/b/c", "A.example/x", "x" * 64, "a" * 254 + "/x", "", "a b", "a\n"]
)
def test_keys_follow_kubernetes_rules_for_labels(key):
    """What the API server would refuse as a key is refused here."""
    with pytest.raises(Problem):
        taints.label_key(key)


@pytest.mark.parametrize("value", ["-a", "a-", "x" * 64, "a/b", "a\n"])
def test_values_follow_kubernetes_rules_for_labels(value):
    """What the API server would refuse as a value is refused here."""
    with pytest.raises(Problem):
        taints.label_value(value)
