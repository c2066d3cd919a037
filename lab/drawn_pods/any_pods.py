"""Random pods and options that reach every corner of the decision, whether an API server takes the pod or not.

They are pods of `at_creation`, and beside them: references of every kind, right and wrong, pull policies, terms with
all operators on all labels, odd annotations, marks of Istio. For judges that take any pod.
"""

from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

from admission_reviews import APPLYING, applied
from archfit.images.platforms import ARCHITECTURES, Found, parse_platform
from archfit.options.architectures import image_platforms
from archfit.options.settings import Exclude, Match, Options, Rule, Toleration, TolerationRule
from archfit.placement.filters import second_names_object
from archfit.placement.selection import VIRTUAL_KUBELET
from archfit.placement.tolerations import uncovered
from drawn_pods import at_creation
from drawn_pods.drawing import ARCH, OS, REQUIRED
from pod_decisions import found

NAMESPACES = ("shop", "kube-x", "web")
_DIGEST = at_creation.DIGEST
REFERENCES = (
    *("both:1", "amd:1", "both", "team/both:1", "docker.io/both:1", "index.docker.io/both:1", "a/b/c", "auto"),
    *("index.docker.io/library/both:1", "INDEX.docker.io/both:1", "docker.io:443/both:1", "Registry.Local/both:1"),
    *("LOCALHOST/both:1", "localhost/both:1", "localhost:5000/a/b/both:1", "[::1]/both:1", "[::1]:5000/both:1"),
    *(f"quay.io/team/both:1@{_DIGEST}", f"quay.io/team/pinned@{_DIGEST}", f"quay.io/team/pinned:ok@{_DIGEST}"),
    *(f"quay.io/team/pinned:BAD TAG@{_DIGEST}", f"both@{_DIGEST}x", "both@sha256:12", f"team/both@sha512:{'a' * 128}"),
    *("a/" * 127 + "x", "a/" * 128 + "x", "both:" + "a" * 128, "both:" + "a" * 129, "both:bad tag", "both:1/x"),
    *("BOTH:1", "team/Both:1", "a" * 64, "library/" + "a" * 64, "x--y__z.a/b:1", "x___y:1", "_x:1", "x-:1", "-/both:1"),
    *("$(x)", "{{ .x }}", "ko://a/b", "<<x>>", "/both:1", "docker.io/", "docker.io//x", "\u00e9/both:1", "both:1\n"),
    *("both\u2028:1", "both:", ":1", "@", "/", "both@", "a..b/both:1", "host:/both:1", "host:99999/both:1"),
    "r23.s-45.io:6789/a2/b3.4__5-6:7_8.9-2",
)  # fmt: skip
_ANSWERS = (
    "amd64 foo", "foo", "7 amd64 arm64", " ".join(ARCHITECTURES), "arm/v5", "386", "amd64/v2 arm64",
    "darwin/arm64", "arm64 windows/amd64", "freebsd/amd64 amd64", "wasi/wasm windows/amd64",
    "windows/amd64 windows/arm64 amd64", "amd64/v3 wasi/wasm",
)  # fmt: skip
_OVERRIDES = (
    "docker.io/library/*=linux/arm64", "docker.io/library/amd:1=arm64", "*=linux/amd64,linux/arm64",
    "quay.io/team/*:1=linux/amd64", "quay.io/*@sha256:*=linux/arm64", "registry.local:5000/*=windows/amd64",
    "localhost/[a-m]*=linux/amd64/v3", "localhost/[!a-m]*=linux/386", "docker.io/*/both=arm64",
    "unlocked*=amd64", "docker.io/library/unlocked=linux/s390x", "*/unlocked:?=amd64", "*/wasm*:1=wasi/wasm",
)  # fmt: skip
_GLOBS = ("shop", "s*", "[!a]*", "*", "db", "web*", "w?b", "web-*", "kube-*", "[a-t]hop")
_NAMES = ("amd64", "arm64", "s390x", "foo", "7", "386")
_ONLY = (
    "amd64", "arm64 amd64", "AARCH64", "x", "s390x", "", " , ", "arm64/v8", "armhf", "x86-64", "x86_64\t386",
    "foo",
)  # fmt: skip
_PLATFORMS = (
    "amd64", "arm64, linux/amd64", "linux/arm/v7", "X86_64", "x86-64", "windows/amd64 amd64", "linux/386",
    "arm64/v8", "linux/amd64/v3", "linux/amd64/v3 arm64", "", " ", "wasi/wasm", "linux/arm64/v8", "linux//x",
    "/amd64", "linux/foo",
)  # fmt: skip
_TRUTHS = ("true", " true ", "false", " false", "no", "")


def locked(random: Random) -> dict[str, Found]:
    """The answers of `at_creation`, half of them with other ones in their place."""
    return {
        name: found(random.choice(_ANSWERS), index=random.random() < 0.8, origin="lock")
        if random.random() < 0.5
        else answer
        for name, answer in at_creation.platforms().items()
    }


def options(random: Random) -> Options:
    """Options of a run, of which no two contradict each other."""
    made = Options()

    def set_some(chance: float, **values: Any) -> None:
        nonlocal made
        if random.random() < chance:
            made = made.replace(**{name: random.choice(choices) for name, choices in values.items()})

    clusters = (
        *(("amd64",), ("amd64", "arm64", "s390x"), ("amd64", "arm64", "windows/amd64"), ("arm64",)),
        *(("amd64", "windows/amd64", "windows/arm64"), ARCHITECTURES),
    )
    set_some(0.4, cluster_architectures=clusters)
    set_some(0.3, affinity=("always", "never"))
    set_some(0.3, system_taints=((("windows", Toleration("os", "Equal", "windows", "NoSchedule")),),))
    set_some(0.4, prefer=((("arm64", 5),), (("amd64", 1), ("arm64", 100)), (("386", 4), ("s390x", 3))))
    set_some(0.2, strict=(True,))
    set_some(0.2, unlabelled_nodes=(("dedicated",), ("arch", ARCH)))
    set_some(0.2, on_unknown=("assume",), assume=((parse_platform("amd64"),),))
    if random.random() < 0.6:
        made = made.replace(tolerate=tuple(_toleration_rule(random) for _ in range(random.randint(0, 4))))
    if random.random() < 0.4:
        made = made.replace(image_platforms=tuple(map(image_platforms, random.sample(_OVERRIDES, 4))))
    if random.random() < 0.5:
        made = made.replace(rules=tuple(_rule(random) for _ in range(random.randint(1, 4))))
    if random.random() < 0.2:
        glob = Exclude(random.choice(("Pod", "*", "Job", "p?d")), *random.choices(("", *_GLOBS), k=2))
        made = made.replace(exclude=(glob,))
    return made


def held_options(random: Random) -> Options:
    """The same for a policy, which does not hold all of them."""
    made = options(random)
    cluster = tuple(entry for entry in made.cluster_architectures if "/" not in entry)
    rules: list[TolerationRule] = []
    for rule in made.tolerate:
        there = [other.toleration for other in rules]
        if not rule.needed and {*rule.architectures} <= {*cluster} and uncovered(there, [rule.toleration]):
            rules.append(rule)
    return Options(
        cluster_architectures=cluster,
        tolerate=tuple(rules),
        prefer=made.prefer,
        on_unknown=made.on_unknown,
        assume=made.assume,
        image_platforms=made.image_platforms,
        exclude=tuple(
            glob
            for glob in made.exclude
            if not (glob.name or second_names_object(glob) or "[" in glob.namespace)
        ),
    )


def pod(random: Random, namespace: str) -> dict[str, Any]:
    made = deepcopy(
        at_creation.pod(random, ("amd64", "arm64", "s390x"), namespace)
    )  # it shares what is drawn
    if random.random() < 0.3:
        return made
    _odd_images(random, made["spec"])
    _odd_placement(random, made["spec"])
    _odd_metadata(random, made["metadata"])
    return _applied(random, made) if random.random() < 0.4 else made


def usual(random: Random, pod: dict[str, Any], cluster: Sequence[str]) -> dict[str, Any]:
    """The pod in the words that a policy decides: of Linux, and of these architectures."""
    spec, notes = pod["spec"], pod["metadata"].get("annotations", {})
    selector = {ARCH: cluster, OS: ("linux",), f"beta.{OS}": ("linux",)}
    spec.pop("os", None)
    for label in {*selector, f"beta.{ARCH}"} & {*spec.get("nodeSelector", ())}:
        spec["nodeSelector"].pop(label)
        if random.random() < 0.5 and label in selector:
            spec["nodeSelector"][label] = random.choice(selector[label])
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED, {})
    for expression in [
        one for term in required.get("nodeSelectorTerms", ()) for one in term.get("matchExpressions", ())
    ]:
        if expression["key"].endswith("/os"):
            expression |= {"operator": "In", "values": ["linux"]}
        elif expression["key"].endswith("/arch"):
            some = random.sample(cluster, random.randint(1, min(2, len(cluster))))
            expression |= {"key": ARCH, "operator": random.choice(("In", "NotIn")), "values": some}
    if "tolerations" in spec:
        spec["tolerations"] = [one for one in spec["tolerations"] if one.get("key") != VIRTUAL_KUBELET]
    for name in [name for name in notes if name.startswith("archfit.dev/") and name != "archfit.dev/skip"]:
        notes.pop(name)
        if random.random() < 0.5:
            notes["archfit.dev/only"] = ", ".join(random.sample(cluster, random.randint(1, len(cluster))))
    return pod


def _applied(random: Random, pod: dict[str, Any]) -> dict[str, Any]:
    """Applied by somebody; what another plugin added is not stated."""
    made = applied(pod, random.choice(tuple(APPLYING)))
    if random.random() < 0.3:
        made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].pop("f:tolerations", None)
    return made


def _odd_images(random: Random, spec: dict[str, Any]) -> None:
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        if random.random() < 0.1:
            container["image"] = random.choice(("", *REFERENCES))
        if random.random() < 0.06:
            container["imagePullPolicy"] = random.choice(("Never", "Always", "IfNotPresent"))
    if random.random() < 0.1:
        volume = {"reference": random.choice(REFERENCES), "pullPolicy": random.choice(("Never", "Always"))}
        spec.setdefault("volumes", []).append({"name": "other", "image": volume})
    if random.random() < 0.1:
        spec["runtimeClassName"] = "any"


def _odd_placement(random: Random, spec: dict[str, Any]) -> None:
    if random.random() < 0.2:
        affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        affinity[REQUIRED] = {"nodeSelectorTerms": [_term(random) for _ in range(random.randint(1, 4))]}
    labels = (OS, f"beta.{OS}", ARCH, f"beta.{ARCH}")
    if random.random() < 0.1:
        label = random.choice(labels)
        values = ("linux", "windows", "") if label.endswith("os") else _NAMES
        spec.setdefault("nodeSelector", {})[label] = random.choice(values)
    if random.random() < 0.05:
        spec["os"] = {"name": random.choice(("linux", "windows"))}


def _odd_metadata(random: Random, metadata: dict[str, Any]) -> None:
    notes = metadata.setdefault("annotations", {})
    marks = ("inject.istio.io/templates", "istio.io/rev", "sidecar.istio.io/inject")
    for chance, names, values in (
        (0.1, ("only",), _ONLY),
        (0.1, ("image-platforms",), _PLATFORMS),
        (0.08, ("tolerate", "skip"), _TRUTHS),
        (0.02, ("added", "onyl", ""), ("x",)),
    ):
        if random.random() < chance:
            notes[f"archfit.dev/{random.choice(names)}"] = random.choice(values)
    for holder in (notes, metadata.setdefault("labels", {})):
        if random.random() < 0.1:
            holder[random.choice(marks)] = random.choice(("true", "false", "x"))
    if random.random() < 0.1:
        metadata["labels"]["example.com/tier"] = "1"


def _term(random: Random) -> dict[str, Any]:
    return {"matchExpressions": [_expression(random) for _ in range(random.randint(1, 3))]}


def _expression(random: Random) -> dict[str, Any]:
    key = random.choice((ARCH, f"beta.{ARCH}", OS, f"beta.{OS}", "pool"))
    operator = random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    made: dict[str, Any] = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        names = _NAMES if key.endswith("arch") and random.random() < 0.8 else ("linux", "windows", "amd64")
        made["values"] = random.sample(names, random.randint(1, 3))
    if operator in ("Gt", "Lt"):
        made["values"] = [random.choice(("5", "7", "9", "-3", "+8", "0010"))]
    return made


def _rule(random: Random) -> Rule:
    labels = ((), (("app", "web"),), (("app", "web"), ("tier", "front")), (("example.com/tier", "1"),))
    kinds = ("", "Pod", "pod", "Deployment", "P*")
    globs = ("", *_GLOBS)
    return Rule(
        Match(random.choice(globs), random.choice(kinds), random.choice(globs), random.choice(labels)),
        only=random.choice((None, None, ("amd64",), ("arm64", "s390x"))),
        tolerate=random.choice((None, True, False)),
        prefer=random.choice((None, (("arm64", 9),))),
        skip=random.choice((None, None, None, True, False)),
        offered=random.random() < 0.4,
    )


def _toleration_rule(random: Random) -> TolerationRule:
    return TolerationRule(
        tuple(sorted(random.sample(("amd64", "arm64", "s390x"), random.randint(1, 2)))),
        Toleration(
            random.choice((ARCH, "arch", "dedicated", "")),
            random.choice(("Equal", "Exists", "")),
            random.choice(("arm64", "db", "")),
            random.choice(("NoSchedule", "NoExecute", "")),
        ),
        needed=random.random() < 0.2,
    )
