"""What one operator alone does: a file for each, which its files of `kinds` name (`module: kserve`).

KINDS of a module has what is done with the pods of each kind, beyond what its rows say; see `operator_hooks`.
"""
