"""What `setup ... --check` sends through a renderer: it needs archfit, and no registry."""

from __future__ import annotations

POD = """\
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
