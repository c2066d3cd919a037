"""Patches into text, and the proof that the text says what the patch says."""
