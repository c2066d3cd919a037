"""node_exporter, Pushgateway and Prometheus on loopback, from Debian's packages.

    with node_exporter(folder) as url:           serves *.prom of the folder
    with pushgateway(folder) as url:             takes what is pushed
    with prometheus(folder, target) as url:      scrapes the target each second
    samples(text)                                {(name, labels): value} of Prometheus' text format

Each skips or fails the running test where the program is missing.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

import machine
from real_registries import free_port, listening

Sample = tuple[str, frozenset[tuple[str, str]]]


@contextlib.contextmanager
def node_exporter(folder: Path) -> Iterator[str]:
    port = free_port()
    words = [
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={folder}",
    ]
    with _serving("prometheus-node-exporter", port, folder / "node-exporter.log", *words) as url:
        yield url


@contextlib.contextmanager
def pushgateway(folder: Path) -> Iterator[str]:
    with _serving("prometheus-pushgateway", free_port(), folder / "pushgateway.log") as url:
        yield url


@contextlib.contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """target: HOST:PORT."""
    scrape = {"job_name": "archfit", "honor_labels": True, "static_configs": [{"targets": [target]}]}
    configuration = folder / "prometheus.yml"
    # JSON is YAML.
    configuration.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}))
    words = [f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'data'}"]
    with _serving("prometheus", free_port(), folder / "prometheus.log", *words) as url:
        yield url


@contextlib.contextmanager
def _serving(program: str, port: int, log: Path, *words: str) -> Iterator[str]:
    address = f"127.0.0.1:{port}"
    with listening([machine.tool(program), f"--web.listen-address={address}", *words], port, log):
        yield f"http://{address}"


def samples(text: str) -> dict[Sample, float]:
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def scraped(url: str) -> dict[Sample, float]:
    """What a server exposes."""
    return samples(httpx.get(f"{url}/metrics", trust_env=False).raise_for_status().text)
