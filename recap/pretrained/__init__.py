"""The model that needs no training: its file of curves, what is fitted to a dataset, the checkpoint they make."""
