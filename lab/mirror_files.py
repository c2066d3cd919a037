"""`make mirrors COUNT=10000 SEED=1`: random registries.conf and hosts.toml, judged by the runtimes' own code.

    python -m mirror_files [--count N] [--seed N]

For each drawn file, containers/image or containerd says where images are asked for (tests/judges/runtime), and so does
archfit: the same servers in the same order, the same blocks, or a message. One line for each difference, then the
number of images by what was found; the exit status is 1 if there is a difference.

What containers/image and containerd do and archfit does not, by design, is not drawn: plain HTTP for loopback.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import machine
from archfit.base.errors import UsageError
from archfit.images.reference import parse
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.hosts_toml import HostsDir
from archfit.registry.routing.registries_conf import RegistriesConf
from line_judge import LineJudge

HOSTS = ("docker.io", "quay.io", "example.com", "sub.example.com", "a.sub.example.com", "registry.local:5000")
_PATHS = ("", "", "/library", "/team", "/team/app", "/te")
_NAMES = ("library/nginx", "team/app", "team/app/web", "team", "other/tool")
_DIGEST = "sha256:" + "a" * 64
IMAGES = [f"{host}/{name}{end}" for host in HOSTS for name in _NAMES for end in (":1", f"@{_DIGEST}")]
_MIRRORS = (
    "m1.example", "m2.example:5000", "m3.example/hub", "m4.example/hub/team", "quay.io", "example.com",
)  # fmt: skip


def registries_conf(random: Random) -> str:
    return "\n".join(_registry(random) for _ in range(random.randint(1, 5)))


def _registry(random: Random) -> str:
    lines = ["[[registry]]"]
    prefix = random.choice(
        ("", *(random.choice(HOSTS) + random.choice(_PATHS) for _ in range(5)), "*.example.com")
    )
    image = random.choice((":1", f"@{_DIGEST}", "@", ":x")) if random.random() < 0.08 else ""
    if prefix:
        lines.append(f"prefix = {json.dumps(prefix + image + random.choice(('', '', '', '/')))}")
    if not prefix or random.random() < 0.7:
        other = random.choice(_MIRRORS) if prefix and random.random() < 0.6 else _anywhere(random, prefix)
        lines.append(f"location = {json.dumps(other + (image if random.random() < 0.8 else ''))}")
    lines += _flags(random, {"insecure": 0.2, "blocked": 0.3, "mirror-by-digest-only": 0.2})
    if random.random() < 0.03:
        lines.append('pull-from-mirror = "all"')
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        lines += ["[[registry.mirror]]", f"location = {json.dumps(random.choice(_MIRRORS) + image)}"]
        lines += _flags(random, {"insecure": 0.3})
        if random.random() < 0.2:
            when = random.choice(("all", "digest-only", "tag-only", "sometimes", ""))
            lines.append(f"pull-from-mirror = {json.dumps(when)}")
    return "\n".join(lines) + "\n"


def _anywhere(random: Random, prefix: str) -> str:
    odd = ("", "https://m1.example", "m1.example/Upper", "m1.example//x", "UPPER.example", "/x")
    return random.choice(
        (random.choice(HOSTS) + random.choice(_PATHS), prefix.lstrip("*."), *random.sample(odd, 1))
    )


def _flags(random: Random, chances: dict[str, float]) -> list[str]:
    return [
        f"{name} = {random.choice(('true', 'true', 'false'))}"
        for name, chance in chances.items()
        if random.random() < chance
    ]


def hosts_dir(random: Random, folder: Path) -> str:
    """Makes one to three directories; what is in them, as text."""
    shown = []
    for host in random.sample((*HOSTS, "_default", "registry.local_5000_"), random.randint(1, 3)):
        (folder / host).mkdir()
        text = _hosts_toml(random)
        (folder / host / "hosts.toml").write_text(text, encoding="utf-8")
        shown.append(f"# {host}/hosts.toml\n{text}")
    return "\n".join(shown)


def _hosts_toml(random: Random) -> str:
    lines = []
    if random.random() < 0.6:
        lines.append(f"server = {json.dumps(_url(random))}")
    if random.random() < 0.3:
        lines += _host_keys(random)
    for url in dict.fromkeys(_url(random) for _ in range(random.choice((0, 1, 2, 3)))):
        lines += [f"[host.{json.dumps(url)}]", *_host_keys(random)]
        if random.random() < 0.2:
            lines += [f"[host.{json.dumps(url)}.header]", 'x-token = "a"', 'x-list = ["a", "b"]']
    return "\n".join(lines) + "\n"


def _url(random: Random) -> str:
    scheme = random.choice(
        ("https://", "https://", "http://", "", "ftp://" if random.random() < 0.05 else "https://")
    )
    path = random.choice(
        ("", "", "/", "/v2", "/v2/hub", "/hub", "/hub/", "/hub/v2", "/a//b", "/a/../b", "/v2/")
    )
    return (
        scheme
        + random.choice(("m1.example", "m2.example:5000", "m3.example:80", "quay.io", "M4.example"))
        + path
    )


def _host_keys(random: Random) -> list[str]:
    lines = _flags(random, {"skip_verify": 0.3, "override_path": 0.3})
    if random.random() < 0.5:
        words = random.choices(("pull", "resolve", "push", "Pull", "referrers"), k=random.randint(0, 3))
        words += ["fetch"] * (random.random() < 0.03)
        lines.append(f"capabilities = {json.dumps(words)}")
    if random.random() < 0.1:
        lines.append(f"dial_timeout = {json.dumps(random.choice(('3s', '1h', 'long')))}")
    return lines


Route = tuple[Any, ...] | str


def of_conf(answers: Sequence[dict[str, Any]]) -> list[Route]:
    """What containers/image says of each image: (repository, insecure) of each server; or a word."""
    return [
        _word(answer) or tuple((one["repository"], one["insecure"]) for one in answer["servers"])
        for answer in answers
    ]


def _word(answer: dict[str, Any]) -> str:
    if answer.get("error"):
        return "refused"
    if answer.get("blocked"):
        return "blocked"
    return "itself" if answer["servers"] is None else ""


def own_conf(path: Path) -> list[Route]:
    """The same as archfit says it. Raises UsageError."""
    conf, found = RegistriesConf(str(path)), list[Route]()
    for image in IMAGES:
        reference = parse(image)
        try:
            endpoints = conf.endpoints(reference)
        except RegistryError as error:
            found.append("blocked" if " blocks " in str(error) else "refused")
            continue
        found.append(tuple(_repositories(endpoints)) if endpoints else "itself")
    return found


def _repositories(endpoints: Sequence[Endpoint]) -> Iterator[tuple[str, bool]]:
    plain = [endpoint.fallback for endpoint in (*endpoints[1:], endpoints[0])]
    for endpoint, insecure in zip(endpoints, plain, strict=True):
        if not endpoint.fallback:
            host = endpoint.host.replace("registry-1.docker.io", "docker.io")
            yield f"{host}/{endpoint.repository}", insecure


def of_dir(answers: Sequence[dict[str, Any]]) -> list[Route]:
    """What containerd says of each registry: (URL, pulls, resolves, headers) of each server; or a word."""
    return [
        "refused"
        if answer.get("error")
        else tuple(entry for one in answer["servers"] for entry in _of_host(one))
        for answer in answers
    ]


def _of_host(server: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    urls = [server["url"], server["url"].replace("https", "http", 1)]
    for url in urls if server.get("fallback") else urls[:1]:
        headers = _headers(server.get("header") or {})
        yield _lower(url), server.get("pulls", False), server.get("resolves", False), headers


def _lower(url: str) -> str:
    parts = urlsplit(url)
    port = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(port)}{parts.path}".rstrip("/")


def _headers(given: dict[str, list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name.lower(), ", ".join(values)) for name, values in given.items()))


def own_dir(folder: Path, registries: Sequence[str]) -> list[Route]:
    """The same as archfit says it. Raises UsageError."""
    found, hosts = list[Route](), HostsDir(str(folder))
    for registry in registries:
        endpoints = hosts.endpoints(parse(f"{registry}/a/b:1"))
        route = tuple(
            (
                f"{one.origin}{one.base}/{one.repository}".removesuffix("/a/b"),
                one.pulls,
                one.resolves,
                tuple(sorted(one.headers)),
            )
            for one in endpoints
        )
        usual = "registry-1.docker.io" if registry == "docker.io" else registry
        found.append(route or ((f"https://{usual}/v2", True, True, ()),))
    return found


def judged(judge: LineJudge, random: Random, folder: Path, found: Counter[str]) -> Iterator[str]:
    path = folder / "registries.conf"
    text = registries_conf(random)
    path.write_text(text, encoding="utf-8")
    theirs = of_conf(judge.ask({"registriesConf": str(path), "references": IMAGES}))
    try:
        yield from _differences(text, IMAGES, own_conf(path), theirs, found)
    except UsageError as error:
        found[_refusal("registries.conf", str(error), theirs)] += 1
    mirrors = folder / "hosts"
    mirrors.mkdir()
    text = hosts_dir(random, mirrors)
    theirs = of_dir(judge.ask({"hostsDir": str(mirrors), "hosts": HOSTS}))
    try:
        yield from _differences(text, HOSTS, own_dir(mirrors, HOSTS), theirs, found)
    except UsageError as error:
        found[_refusal("hosts.toml", str(error), theirs)] += 1


def _refusal(kind: str, message: str, theirs: Sequence[Route]) -> str:
    read = "read by the runtime" if any(route != "refused" for route in theirs) else "refused by both"
    return f"{kind}: a message, {read}: {message.rpartition(': ')[2][:60]}"


def _differences(
    text: str, asked: Sequence[str], own: Sequence[Route], theirs: Sequence[Route], found: Counter[str]
) -> Iterator[str]:
    for name, mine, runtime in zip(asked, own, theirs, strict=True):
        word = mine if isinstance(mine, str) else f"{len(mine)} servers"
        found[word if mine == runtime else "different"] += 1
        if mine != runtime:
            yield f"{name}: archfit {mine}, the runtime {runtime}\n{text}"
            return


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab mirrors", description="Judges random mirror files by the runtimes' own code."
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    found, wrong = Counter[str](), 0
    with LineJudge(machine.go_build(machine.ROOT / "tests" / "judges" / "runtime", "runtime_judge")) as judge:
        for number in range(words.count):
            with tempfile.TemporaryDirectory() as folder:
                for line in judged(judge, Random(f"{words.seed}/{number}"), Path(folder), found):
                    wrong += 1
                    sys.stdout.write(f"seed {words.seed}/{number}: {line}\n")
                    sys.stdout.flush()
    sys.stdout.writelines(f"{count:8} {name}\n" for name, count in found.most_common())
    sys.stdout.write(f"{words.count} files of each kind, {wrong} differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
