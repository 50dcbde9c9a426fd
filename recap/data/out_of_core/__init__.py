"""`recap prepare` for files beyond memory: rows stay on disk, where DuckDB numbers ids and sorts."""
