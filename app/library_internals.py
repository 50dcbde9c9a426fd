"""What the app takes from inside its libraries, where they have no public way.

`tests/app/test_library_internals.py` names the versions that each was seen with.
"""

from typing import Any

import plotly.graph_objects as go
import pydeck as pdk
from streamlit.runtime.scriptrunner import get_script_run_ctx


def tooltip_of(deck: pdk.Deck) -> Any:
    """The tooltip that a deck was made with."""
    return deck._tooltip


def take_over(mine: go.Figure, figure: go.Figure) -> None:
    """Make one figure the other; plotly would copy it, which takes longer than drawing it."""
    mine.__dict__.update(figure.__dict__)


def current_run() -> object | None:
    """Something that differs between two runs of a visitor's page and is the same within one; None outside."""
    context = get_script_run_ctx()
    return None if context is None else context.cursors
