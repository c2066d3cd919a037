"""Manifests as files: what the words of a command line name, and where what becomes of them is written.

input_files ────── files, folders, standard input as inputs        renderer_command ─ a chart or a kustomization as one
manifests ──────── several inputs read as one stream               output_files ──── one stream, a folder, or in place
"""
