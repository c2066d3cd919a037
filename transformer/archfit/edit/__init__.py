"""A patch as edits of the text, and the proof that the edits apply the patch.

render ──── values as text
insert ──── additions of a patch as edits
remove ──── removals of a patch as edits, and paths as nodes, through aliases
prove ───── the edited text, read again, is the original with the patch applied
"""
