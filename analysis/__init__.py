"""Analysis of records and checkpoints: long tail, explanations, figures. Start with `Workspace.open`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.notebook import compare_models, explain_case
    from analysis.workspace import Workspace

__all__ = ["Workspace", "compare_models", "explain_case"]


def __getattr__(name: str) -> Any:
    """Import on demand, so that counters need not wait for torch."""
    if name in __all__:
        from analysis import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
