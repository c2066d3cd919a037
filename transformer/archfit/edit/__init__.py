"""A patch as edits of the text, and the proof that the edits apply the patch.

scalar ──── one value as text                     render ──── values in block or flow style
insert ──── additions of a patch as edits         targets ─── paths as nodes, through aliases
remove ──── removals of a patch as edits          changes ─── cuts and additions as one list of edits
prove ───── the edited text, read again, is the original with the patch applied
added_keys  the same for the usual edit, from the lines that it touches
"""
