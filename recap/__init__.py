"""RECAP: next-place prediction that rebuilds rare transitions from two-hop paths and the user's own revisits.

`prepare`, `train`, `load`, `Model` and `Dataset` are the library's front door; each is imported at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recap.api import Model as Model
    from recap.api import load as load
    from recap.api import prepare as prepare
    from recap.api import train as train
    from recap.data.dataset import Dataset as Dataset
else:  # type checkers would take every other name for one

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("recap.api"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = ["Dataset", "Model", "load", "prepare", "train"]
