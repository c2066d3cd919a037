"""Manifests as files: what the words of a command line name, and where what becomes of them is written.

input_files ────── files, folders, standard input as inputs        rendered_input ── a chart or a kustomization as one
surveyed_files ─── several inputs surveyed as one stream           output_files ──── one stream, a folder, or in place
source_roots ───── the file in the repository behind a document    repository_paths ─ paths as code hosts want them
"""
