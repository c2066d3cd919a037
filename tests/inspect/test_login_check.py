"""`archfit login-check`: the credential that would be used, where it is from, and whether it is accepted.

Cloud registries hand out short-lived credentials through helpers; stand-ins here answer as those do.
"""

import base64
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from archfit.base.errors import UsageError
from archfit.inspect.login_check import check_login as run
from archfit.yaml.json_output import document_head
from fake_registry import Answer, FakeRegistry
from program import archfit

SECRET = "s3cret-never-shown"


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        fake.index("team/app", "1", ["linux/amd64"])
        yield fake


class LoginChecks:
    """Runs of the command. problems: standard error of the last one."""

    def __init__(self, folder: Path, served: FakeRegistry) -> None:
        self.folder = folder
        self.host = served.host
        self.environ = {
            "HOME": str(folder),
            "PATH": f"{folder}:{os.environ['PATH']}",
            "ARCHFIT_MIRROR": f"{served.host}={served.url}",
        }
        self.problems = ""

    def auths(self, entries: dict[str, Any], **more: object) -> str:
        """Write Docker's file; its path."""
        path = self.folder / ".docker" / "config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"auths": entries, **more}))
        return str(path)

    def helper(self, name: str, host: str, user: str, secret: str) -> None:
        """A stand-in for docker-credential-NAME that has a credential for one host."""
        answer = json.dumps({"ServerURL": host, "Username": user, "Secret": secret})
        path = self.folder / f"docker-credential-{name}"
        path.write_text(
            f"#!/bin/sh\nread -r server\n[ \"$1 $server\" = 'get {host}' ] && echo '{answer}' && exit 0\n"
            "echo 'credentials not found in native keychain'; exit 1\n"
        )
        path.chmod(0o755)

    def __call__(self, *argv: str, code: int = 0) -> dict[str, str]:
        """The rows of the only server, by their labels."""
        out, err = io.BytesIO(), io.StringIO()
        ended = run(argv, out, err, self.environ)
        self.problems = err.getvalue()
        shown = out.getvalue().decode()
        assert SECRET not in shown + self.problems
        assert base64.b64encode(SECRET.encode()).decode() not in shown + self.problems
        assert ended == code, shown + self.problems
        return dict(line.split(maxsplit=1) for line in shown.splitlines())


@pytest.fixture
def check(tmp_path, served):
    return LoginChecks(tmp_path, served)


def pair(user: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{SECRET}".encode()).decode()}


def asks_for_basic(served: FakeRegistry, user: str) -> None:
    wanted = "Basic " + base64.b64encode(f"{user}:{SECRET}".encode()).decode()

    def script(asked: Any) -> Answer | None:
        if asked.headers.get("authorization") == wanted:
            return Answer(200) if asked.kind == "ping" else None
        return Answer(401, headers={"WWW-Authenticate": 'Basic realm="test",service="ecr.amazonaws.com"'})

    served.on(script)


def asks_for_bearer(served: FakeRegistry, user: str) -> None:
    """Tokens for whoever shows user and password, for any scope or none."""
    wanted = "Basic " + base64.b64encode(f"{user}:{SECRET}".encode()).decode()

    def script(asked: Any) -> Answer | None:
        if asked.kind == "token":
            return (
                Answer(body=b'{"token": "good"}')
                if asked.headers.get("authorization") == wanted
                else Answer(401)
            )
        if asked.headers.get("authorization") == "Bearer good":
            return Answer(200) if asked.kind == "ping" else None
        realm = f'Bearer realm="{served.url}/token",service="fake"'
        return Answer(401, headers={"WWW-Authenticate": realm})

    served.on(script)


class Cloud(NamedTuple):
    """A registry of a cloud, and what its credential helper hands out."""

    helper: str
    host: str
    user: str
    asks: Callable[[FakeRegistry, str], None]


CLOUDS = {
    "ECR": Cloud("ecr-login", "123456789012.dkr.ecr.eu-west-1.amazonaws.com", "AWS", asks_for_basic),
    "ECR Public": Cloud("ecr-login", "public.ecr.aws", "AWS", asks_for_bearer),
    "GAR": Cloud("gcloud", "europe-west1-docker.pkg.dev", "oauth2accesstoken", asks_for_bearer),
    "GCR with a key file": Cloud("gcr", "gcr.io", "_json_key", asks_for_bearer),
    "ACR": Cloud("acr-env", "team.azurecr.io", "00000000-0000-0000-0000-000000000000", asks_for_bearer),
}


@pytest.mark.parametrize("cloud", CLOUDS.values(), ids=CLOUDS.keys())
class TestHelpers:
    def test_the_helper_of_a_cloud_is_accepted(self, check, served, cloud):
        cloud.asks(served, cloud.user)
        check.helper(cloud.helper, check.host, cloud.user, SECRET)
        path = check.auths({}, credHelpers={check.host: cloud.helper})
        assert check(f"{check.host}/team/app:1") == {
            "for": f"{check.host}/team/app:1",
            "asked": served.url,
            "with": f"user and password from docker-credential-{cloud.helper} ({path})",
            "answer": "accepted",
        }

    def test_the_helper_is_found_for_the_clouds_own_host(self, check, served, cloud):
        check.helper(cloud.helper, cloud.host, cloud.user, SECRET)
        path = check.auths({}, credHelpers={cloud.host: cloud.helper})
        shown = check(cloud.host, "--offline")
        assert shown["with"] == f"user and password from docker-credential-{cloud.helper} ({path})"
        assert served.asked == []

    def test_a_helper_whose_login_has_run_out_is_refused(self, check, served, cloud):
        cloud.asks(served, cloud.user)
        check.helper(cloud.helper, check.host, cloud.user, "old")
        check.auths({}, credHelpers={check.host: cloud.helper})
        check(f"{check.host}/team/app:1", code=3)
        assert f"docker-credential-{cloud.helper}" in check.problems or "log in again" in check.problems


@pytest.mark.parametrize("asks", [asks_for_basic, asks_for_bearer], ids=["basic", "bearer"])
class TestFiles:
    """GHCR with a personal access token, GitLab with a deploy or job token, and Docker Hub are all of this kind."""

    @pytest.mark.parametrize("word", ["{}", "{}/", "{}/team/app:1"], ids=["host", "host with /", "image"])
    def test_a_password_in_a_file_is_accepted(self, check, served, asks, word):
        asks(served, "gitlab-ci-token")
        path = check.auths({check.host: pair("gitlab-ci-token")})
        shown = check(word.format(check.host))
        assert shown["with"] == f"user and password from {path} ({check.host})"
        assert shown["answer"] == "accepted"

    def test_a_wrong_one_is_refused(self, check, served, asks):
        asks(served, "somebody-else")
        check.auths({check.host: pair("me")})
        check(check.host, code=3)
        assert "error: " in check.problems
        assert "again" in check.problems

    def test_none_is_refused(self, check, served, asks):
        asks(served, "me")
        assert check(check.host, code=3)["with"] == "no credential"
        assert "log in" in check.problems

    def test_the_entry_of_a_path_counts_for_its_images_only(self, check, served, asks):
        asks(served, "me")
        path = check.auths({f"{check.host}/team": pair("me")})
        assert (
            check(f"{check.host}/team/app:1")["with"] == f"user and password from {path} ({check.host}/team)"
        )
        assert check(f"{check.host}/other/app:1", code=3)["with"] == "no credential"


def test_an_identity_token_is_exchanged(check, served):
    def script(asked: Any) -> Answer | None:
        if asked.kind == "token":
            good = asked.query.get("refresh_token") == [SECRET]
            return (
                Answer(body=b'{"access_token": "good"}') if asked.method == "POST" and good else Answer(401)
            )
        if asked.headers.get("authorization") == "Bearer good":
            return Answer(200)
        return Answer(401, headers={"WWW-Authenticate": f'Bearer realm="{served.url}/token",service="s"'})

    served.on(script)
    check.auths({check.host: {"identitytoken": SECRET}})
    shown = check(check.host)
    assert shown["with"].startswith("an identity token from ")
    assert shown["answer"] == "accepted"
    assert [asked.query.get("scope") for asked in served.asked if asked.kind == "token"] == [None]


def test_a_server_that_asks_for_nothing_tells_nothing_of_the_credential(check, served):
    served.on(lambda asked: Answer(200) if asked.kind == "ping" else None)
    check.auths({check.host: pair("me")})
    assert check(check.host)["answer"] == "accepted: it asked for no credential"
    assert all("authorization" not in asked.headers for asked in served.asked)


@pytest.mark.parametrize("status", [204, 400, 404])
def test_a_server_that_is_no_registry_accepts_nobody(check, served, status):
    served.always(Answer(status))
    assert check(check.host, code=1)["answer"] == (
        f"{served.url} answers {status} to /v2/, so it is no registry: correct the host"
    )


def test_a_server_that_wants_tls_is_said(check, served):
    served.always(Answer(400, b"Client sent an HTTP request to an HTTPS server.\n"))
    url = served.url.replace("http", "https", 1)
    assert (
        check(check.host, code=1)["answer"] == f"{served.url} speaks TLS, and was asked without: write {url}"
    )


@pytest.mark.parametrize("gives", [True, False], ids=["tokens for anybody", "nothing"])
def test_a_name_in_front_of_another_registry_is_said(check, served, gives):
    """A login for the name itself changes nothing there."""
    with FakeRegistry() as other:
        check.environ["ARCHFIT_MIRROR"] += f" other.example={other.url}"
        other.index("team/app", "1", "amd64 arm64")
        if gives:
            other.bearer()
        else:
            other.always(Answer(401))
        served.on(lambda asked: Answer(302, headers={"Location": f"{other.url}{asked.path}"}))
        answer = check(f"{check.host}/team/app:1", code=0 if gives else 3)["answer"]
        to = f"{served.url} leads to {other.url}, which"
        assert answer == (
            f"accepted: {to} gives tokens to anybody: containerd asks for one, CRI-O does not"
            if gives
            else f"refused: {to} answers 401; a login for {check.host} changes nothing there: "
            f"write {other.host} into the manifest, and log in there"
        )


def test_an_image_that_is_not_there_is_said(check, served):
    asks_for_basic(served, "me")
    check.auths({check.host: pair("me")})
    assert check(f"{check.host}/team/none:1")["answer"] == "accepted; there is no such image"


def test_an_image_is_asked_for_without_a_pull(check, served):
    check(f"{check.host}/team/app:1")
    assert served.kinds() == ["head"]


def test_offline_without_a_credential_fails(check, served):
    assert check(check.host, "--offline", code=3)["with"] == "no credential"
    assert served.asked == []


@pytest.mark.parametrize(
    ("word", "name"),
    [
        pytest.param("nginx", "docker.io/library/nginx:latest", id="an image"),
        pytest.param("nginx:1.27", "docker.io/library/nginx:1.27", id="an image with a tag"),
        pytest.param("docker.io", "docker.io", id="Docker Hub"),
        pytest.param("index.docker.io", "docker.io", id="Docker Hub's other name"),
        pytest.param("https://ghcr.io", "ghcr.io", id="a URL"),
        pytest.param("registry:5000/", "registry:5000", id="a bare host with its port"),
        pytest.param("localhost:5000", "localhost:5000", id="localhost"),
    ],
)
def test_what_a_word_means(check, word, name):
    assert check(word, "--offline", code=3)["for"] == name


def test_docker_hubs_old_key_counts(check):
    path = check.auths({"https://index.docker.io/v1/": pair("me")})
    shown = check("docker.io", "--offline")
    assert shown["with"] == f"user and password from {path} (https://index.docker.io/v1/)"
    assert shown["asked"] == "https://registry-1.docker.io"


def test_a_broken_file_is_said_and_nobody_is_asked(check, served):
    check.auths({check.host: {"auth": "!!"}})
    check(check.host, code=1)
    assert "is not base64 of user:password" in check.problems
    assert served.asked == []


@pytest.mark.parametrize("argv", [(), ("a", "b"), ("UPPER/x y",), ("-host.example",)], ids=str)
def test_wrong_usage(check, argv):
    with pytest.raises(UsageError):
        check(*argv)


def test_a_server_that_fails_is_said(check, served):
    served.always(Answer(500, headers={"Retry-After": "3600"}))
    check(check.host, code=1)
    assert "answers 500: try again later" in check.problems


def test_the_program_itself(check, served):
    asks_for_basic(served, "me")
    path = check.auths({check.host: pair("me")})
    ran = archfit(b"", "login-check", check.host, "--json", **check.environ)
    assert json.loads(ran.ok()) == {
        **document_head("login-check"),
        "for": check.host,
        "good": True,
        "servers": [
            {
                "server": served.url,
                "credential": f"user and password from {path} ({check.host})",
                "good": True,
                "answer": "accepted",
            }
        ],
    }
    assert archfit(b"", "login-check", "--help").ok().startswith(b"usage: archfit login-check")
