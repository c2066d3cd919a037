"""The Pod that `setup helm|kpt --check` sends through a renderer: archfit changes it without asking a registry."""

from __future__ import annotations

CHECK_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: archfit-check
  annotations:
    archfit.dev/image-platforms: linux/amd64
spec:
  containers:
    - name: check
      image: registry.invalid/archfit/check:1
"""
