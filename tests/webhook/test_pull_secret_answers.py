"""A Secret that the operator named opens a registry for the Pods that refer to it."""

import base64
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archfit.base.errors import ArchfitError, UsageError
from archfit.images.platforms import Found
from archfit.lookup.lookup import open_lookup
from archfit.options.hosts import mirror
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import PullKeychain
from archfit.webhook.lookups.messages import Ask
from archfit.webhook.lookups.pull_secret_answers import (
    KEPT_SECONDS,
    PAUSE_SECONDS,
    ClusterSecrets,
    PullSecretAnswers,
)
from fake_registry import FakeRegistry

HUB, OTHER = "shop/hub", "shop/other"
PASSWORD = "hush-4711"


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        running.index("app", "1", ["linux/amd64"])
        running.bearer(user=f"me:{PASSWORD}")
        yield running


def secret(host: str, password: str = PASSWORD, kind: str = "dockerconfigjson") -> dict[str, Any]:
    auth = base64.b64encode(f"me:{password}".encode()).decode()
    text = json.dumps({"auths": {host: {"auth": auth}}})
    data = {f".{kind}": base64.b64encode(text.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "type": f"kubernetes.io/{kind}", "data": data}


class Site:
    """Secrets by name; what is read is counted."""

    def __init__(self, fake: FakeRegistry, folder: Path, secrets: dict[str, Any]) -> None:
        self.now = 0.0
        self.seconds = 60.0
        self.before_read: Callable[[str], object] = bool
        self.reads: list[str] = []
        self._fake = fake
        self._secrets = secrets
        operator = Operator(mirrors=(mirror(fake.host, fake.url),), no_cache=True)
        environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        self.answers = PullSecretAnswers(
            self._read,
            lambda chosen: open_lookup(
                operator, environ=environ, named_hosts_only=True, keychain=PullKeychain("", environ, chosen)
            ),
            lambda: self.now,
        )

    def ask(self, *secrets: str) -> tuple[Any, Any, Any]:
        return self.answers.answer(Ask(1, f"{self._fake.host}/app:1", secrets, self.seconds, 0))

    def _read(self, secret: str) -> Any:
        self.before_read(secret)
        self.reads.append(secret)
        found = self._secrets.get(secret)
        if found is None:
            raise ArchfitError(f"Secret {secret} may not be read")
        return found


def test_the_secret_opens_the_registry(fake, tmp_path):
    answer, messages, replies = Site(fake, tmp_path, {HUB: secret(fake.host)}).ask(HUB)
    assert isinstance(answer, Found)
    assert messages == []
    assert replies[fake.host, 200] == 2


@pytest.mark.parametrize(
    "secrets",
    [
        pytest.param({}, id="it cannot be read"),
        pytest.param({HUB: {"type": "Opaque", "data": {}}}, id="it is no pull secret"),
        pytest.param({HUB: "wrong"}, id="it is refused"),
        pytest.param({HUB: secret("elsewhere.example")}, id="it is for another registry"),
    ],
)
def test_a_secret_that_does_not_help_leaves_the_image_to_the_servers_own_credentials(fake, tmp_path, secrets):
    if secrets.get(HUB) == "wrong":
        secrets = {HUB: secret(fake.host, "wrong")}
    answer, messages, _ = Site(fake, tmp_path, secrets).ask(HUB)
    assert answer is None
    assert PASSWORD not in str(messages)


def test_the_next_secret_is_tried_where_one_is_refused(fake, tmp_path):
    site = Site(fake, tmp_path, {HUB: secret(fake.host, "wrong"), OTHER: secret(fake.host)})
    assert isinstance(site.ask(HUB, OTHER)[0], Found)


def test_a_secret_is_read_again_after_five_minutes(fake, tmp_path):
    site = Site(fake, tmp_path, {HUB: secret(fake.host)})
    for seconds, reads in ((0, 1), (KEPT_SECONDS - 1, 1), (KEPT_SECONDS, 2)):
        site.now = seconds
        assert isinstance(site.ask(HUB)[0], Found)
        assert len(site.reads) == reads


def test_a_secret_that_cannot_be_read_is_not_asked_for_at_each_pod(fake, tmp_path):
    site = Site(fake, tmp_path, {})
    for seconds, reads in ((0, 1), (PAUSE_SECONDS - 1, 1), (PAUSE_SECONDS, 2)):
        site.now = seconds
        assert site.ask(HUB)[0] is None
        assert len(site.reads) == reads


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="outside of a cluster"),
        pytest.param({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, id="without a service account"),
    ],
)
def test_without_a_service_account_the_server_does_not_start(environ, tmp_path):
    with pytest.raises(UsageError, match="--authfile"):
        ClusterSecrets(environ, str(tmp_path))


def test_credentials_are_tried_no_longer_than_a_lookup_may_take(fake, tmp_path):
    site = Site(fake, tmp_path, {HUB: secret(fake.host)})
    site.seconds = 0.0
    assert site.ask(HUB)[0] is None
    assert fake.count() == 0


def test_a_secret_that_is_slow_to_read_holds_up_no_other(fake, tmp_path):
    site = Site(fake, tmp_path, {HUB: secret(fake.host), OTHER: secret(fake.host)})
    inside, goes_on = threading.Event(), threading.Event()
    site.before_read = lambda one: one == HUB and (inside.set(), goes_on.wait(60))
    slow = threading.Thread(target=site.ask, args=(HUB,))
    slow.start()
    assert inside.wait(60)
    assert isinstance(site.ask(OTHER)[0], Found)
    assert slow.is_alive()
    goes_on.set()
    slow.join()
