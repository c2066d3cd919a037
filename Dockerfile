# The image of archfit: for CI jobs, for the admission webhook (archfit serve), for the jobs of the policy and of
# the audits, and as a KRM function of kustomize and kpt. From the top of archfit's repository:
#
#     docker build -t registry.example.com/archfit:0.1.0 .
#
# For nodes of both architectures:
#
#     docker buildx build --platform linux/amd64,linux/arm64 -t registry.example.com/archfit:0.1.0 --push .
#
# It runs under any user, with a read-only root and a writable /tmp, without a home directory and without a terminal.
# Bytecode is compiled here, because a read-only image could not keep it: without it a start takes three times as long.
# Every dependency has wheels for both architectures, so nothing is compiled and the image has no compiler.
FROM python:3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6
LABEL org.opencontainers.image.title="archfit" \
      org.opencontainers.image.description="Places pods by the CPU architectures their images support" \
      org.opencontainers.image.source="https://github.com/OWNER/archfit" \
      org.opencontainers.image.documentation="https://github.com/OWNER/archfit/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.artifacthub.package.readme-url="https://github.com/OWNER/archfit/raw/main/README.md" \
      io.artifacthub.package.category="integration-delivery" \
      io.artifacthub.package.license="Apache-2.0" \
      io.artifacthub.package.keywords="kubernetes,admission,kustomize,kpt,krm-function,multi-arch"
# The sources are mounted, not copied: no layer holds them.
RUN --mount=type=bind,target=/src \
    python -I -m venv /tmp/build \
    && /tmp/build/bin/python -I -m pip install --no-cache-dir --require-hashes --no-deps -r /src/locks/build.lock \
    && /tmp/build/bin/python -I -m pip wheel --no-cache-dir --no-deps --no-build-isolation -w /tmp/build/wheel /src \
    && python -I -m pip install --no-cache-dir --compile --require-hashes --no-deps -r /src/locks/run.lock \
    && python -I -m pip install --no-cache-dir --compile --no-deps --no-index /tmp/build/wheel/*.whl \
    && rm -r /tmp/build
ENV HOME=/tmp
ENV XDG_CACHE_HOME=/tmp
EXPOSE 8443 8080
USER 65532:65532
ENTRYPOINT ["archfit"]
