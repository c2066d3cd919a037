"""A patch as edits of the text, and the proof that the edits apply the patch.

render ──── values as text                        targets ─── paths as nodes, through aliases
insert ──── additions of a patch as edits         changes ─── cuts and additions as one list of edits
remove ──── removals of a patch as edits
prove ───── the edited text, read again, is the original with the patch applied
added_keys  the same for the usual edit, from the lines that it touches
"""
