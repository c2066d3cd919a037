"""In-place runs with `--stamp`: an earlier run's additions are recorded, taken back and written anew.

annotation ───────── the text that records them on the object
state ────────────── what of them can be taken back, and what the user changed since
decisions ────────── decisions for the object without them, as decisions for the object as it is
document_stamps ──── all of it for the documents of a stream, and the edits of their text
"""
