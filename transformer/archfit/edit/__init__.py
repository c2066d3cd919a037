"""A patch as edits of the text, and the proof that the edits apply the patch."""
