"""A scripted registry, for what real ones cannot be made to do: fixtures/loopback_server.py with documents and tokens.

fake = FakeRegistry()                          a server on loopback, in a thread
fake.index("app", "1", ["linux/amd64", ..])    put documents; each returns its digest
fake.on(lambda asked: Answer(429) if .. )      a script: the first that returns an Answer decides
fake.once(Answer(503), kind="head")            the next request of a kind
fake.bearer()                                  anonymous or authenticated tokens, at /token of the same server
"""

import base64
import hashlib
import json
from collections.abc import Iterable

from image_documents import Document
from loopback_server import Answer, Asked, LoopbackServer

from archfit.registry import manifest as media

__all__ = ["Answer", "Asked", "FakeRegistry", "as_json", "descriptor", "digest_of", "platform_of"]


def digest_of(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def as_json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def descriptor(media_type: str, body: bytes, **more: object) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest_of(body), "size": len(body), **more}


def platform_of(text: str) -> dict[str, str]:
    return dict(zip(("os", "architecture", "variant"), text.split("/"), strict=False))


class FakeRegistry(LoopbackServer):
    """See the module. Repositories have no host as prefix."""

    # Documents

    def put(self, repository: str, tag: str, media_type: str, body: bytes) -> str:
        """A manifest under its digest, and under `tag` unless that is ""."""
        for name in filter(None, (tag, digest_of(body))):
            self.documents[f"/v2/{repository}/manifests/{name}"] = Document(media_type, body)
        return digest_of(body)

    def blob(self, repository: str, body: bytes) -> str:
        self.documents[f"/v2/{repository}/blobs/{digest_of(body)}"] = Document(
            "application/octet-stream", body
        )
        return digest_of(body)

    def index(
        self, repository: str, tag: str, platforms: Iterable[str], media_type: str = media.OCI_INDEX
    ) -> str:
        """An index of images without a config, with BuildKit's attestation for each."""
        child = media.OCI_MANIFEST if media_type == media.OCI_INDEX else media.DOCKER_MANIFEST
        entries = []
        for text in platforms:
            body = f"{repository}:{tag} {text}".encode()
            self.put(repository, "", child, body)
            entries.append(descriptor(child, body, platform=platform_of(text)))
            entries.append(
                descriptor(
                    child,
                    body + b" attestation",
                    platform=platform_of("unknown/unknown"),
                    annotations={
                        "vnd.docker.reference.type": "attestation-manifest",
                        "vnd.docker.reference.digest": digest_of(body),
                    },
                )
            )
        body = as_json({"schemaVersion": 2, "mediaType": media_type, "manifests": entries})
        return self.put(repository, tag, media_type, body)

    def single(self, repository: str, tag: str, platform: str, **config: object) -> str:
        """One image, its config a blob of its own."""
        blob = as_json({**platform_of(platform), "rootfs": {}, **config, "name": f"{repository}:{tag}"})
        self.blob(repository, blob)
        return self.put(
            repository, tag, media.OCI_MANIFEST, self.manifest(descriptor(media.OCI_CONFIG, blob))
        )

    @staticmethod
    def manifest(config: dict[str, object], **more: object) -> bytes:
        layer = descriptor("application/vnd.oci.image.layer.v1.tar+gzip", b"layer")
        return as_json(
            {"schemaVersion": 2, "mediaType": media.OCI_MANIFEST, "config": config, "layers": [layer], **more}
        )

    def remove(self, repository: str, tag: str) -> None:
        del self.documents[f"/v2/{repository}/manifests/{tag}"]

    # Behaviour

    def always(self, answer: Answer) -> None:
        """Every request gets this answer."""
        self.on(lambda _: answer)

    def once(self, *answers: Answer, kind: str = "") -> None:
        """The next requests of a kind get these answers, one each."""
        left = list(answers)
        self.on(lambda asked: left.pop(0) if left and (not kind or asked.kind == kind) else None)

    def bearer(
        self, *, realm: str = "", user: str = "", field: str = "token", life: object = 300
    ) -> dict[str, str]:
        """Ask for a token of the right scope; returns the tokens given out, by scope.

        user: `name:password` that the token service wants, "" for anyone.
        """
        given: dict[str, str] = {}
        where = realm or f"{self.url}/token"
        wanted = "Basic " + base64.b64encode(user.encode()).decode()

        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                if user and asked.headers.get("authorization") != wanted:
                    return Answer(401)
                scope = asked.query.get("scope", [""])[0]
                given[scope] = f"token-{len(given)}-{scope.replace(':', '-').replace('/', '-')}"
                return Answer(body=as_json({field: given[scope], "expires_in": life}))
            repository = asked.repository
            scope = f"repository:{repository}:pull"
            if asked.headers.get("authorization") == f"Bearer {given.get(scope)}":
                return None
            challenge = f'Bearer realm="{where}",service="fake",scope="{scope}"'
            return Answer(401, headers={"WWW-Authenticate": challenge})

        self.on(script)
        return given

    def tags(self, repository: str, *tags: str, **more: object) -> None:
        """The repository's list in one answer."""
        body = as_json({"name": repository, "tags": list(tags), **more})
        self.documents[f"/v2/{repository}/tags/list"] = Document("application/json", body)

    def alias(self, repository: str, tag: str, known: str) -> None:
        """`tag` names what `known` names."""
        place = f"/v2/{repository}/manifests/"
        self.documents[place + tag] = self.documents[place + known]
