"""`recap prepare` for files beyond memory: texts stay on disk."""
