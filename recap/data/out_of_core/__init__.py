"""`recap prepare` for files beyond memory: rows stay on disk, DuckDB sorts them, users are read one by one.

The rules are those of the readers and of `recap.data.cleaning`; the engine numbers ids and sorts, nothing else.
"""
