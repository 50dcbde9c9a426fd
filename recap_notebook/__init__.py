"""What notebooks use of the analysis, under a name that no file next to a notebook has."""

import sys
from pathlib import Path

_HOME = str(Path(__file__).parents[1])
sys.path.insert(0, _HOME)  # before a notebook's folder, which may hold an `analysis.py`
try:
    from analysis.notebook import Workspace, compare_models, explain_case
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("analysis"):
        raise
    raise ImportError("another module `analysis` is loaded; restart and import `recap_notebook` first") from error
finally:
    sys.path.remove(_HOME)

__all__ = ["Workspace", "compare_models", "explain_case"]
