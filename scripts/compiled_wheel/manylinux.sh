#!/bin/sh
# In a container of PyPA's manylinux image: the compiled wheel for every Python of pyproject.toml, into dist/compiled/.
set -eu
for minor in 11 12 13 14; do
  make compiled-wheel COMPILED="/opt/python/cp3$minor-cp3$minor/bin/python" DIST=dist/built
done
auditwheel repair --wheel-dir dist/compiled dist/built/compiled/*.whl
for minor in 11 12 13 14; do
  "/opt/python/cp3$minor-cp3$minor/bin/python" -m venv "dist/built/$minor"
  "dist/built/$minor/bin/pip" install --quiet --disable-pip-version-check dist/compiled/*-cp3$minor-*.whl
  "dist/built/$minor/bin/archfit" version --json | grep '"compiled": true'
  "dist/built/$minor/bin/python" -I tests/support/smoke.py
done
