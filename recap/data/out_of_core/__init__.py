"""`recap prepare` for files beyond memory: rows are on disk, an engine orders them, users pass one by one.

The rules are those of the readers and of `recap.data.cleaning`; the engine numbers ids and sorts, nothing else.
"""
