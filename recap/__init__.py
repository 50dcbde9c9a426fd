"""RECAP: next-place prediction that rebuilds rare transitions from two-hop paths and the user's own revisits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recap.api import Model, load, prepare, train
    from recap.data.dataset import Dataset
else:  # imported at the first use; a type checker would take any name for one

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("recap.api"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = ["Dataset", "Model", "load", "prepare", "train"]
