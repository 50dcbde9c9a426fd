"""Analysis of records and checkpoints: long tail, explanations, figures. Notebooks import `recap_notebook`."""
