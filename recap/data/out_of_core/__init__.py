"""`recap prepare` for files beyond memory: rows lie on disk, an engine orders them, users pass one by one.

The rules are those of the readers and of `recap.data.cleaning`; the engine numbers ids and sorts, nothing else.
"""
