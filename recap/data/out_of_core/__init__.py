"""`recap prepare` for files beyond memory: rows stay on disk, DuckDB numbers ids and sorts, users are read one by one.

The rules are those of the readers and of `recap.data.cleaning`.
"""
