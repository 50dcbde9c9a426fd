"""What records and checkpoints say: long tail, exact explanations, figures. `open_checkpoint` is the way in."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.notebook import open_checkpoint

__all__ = ["open_checkpoint"]


def __getattr__(name: str) -> Any:
    """Only on demand: what shows counts alone should not wait for torch."""
    if name == "open_checkpoint":
        from analysis.notebook import open_checkpoint

        return open_checkpoint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
