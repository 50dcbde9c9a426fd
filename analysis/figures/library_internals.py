"""What figures take from inside plotly, where it has no public way.

`tests/analysis/figures/test_library_internals.py` names the version that it was seen with.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import plotly.graph_objects as go


def unchecked_figure(data: Iterable[Mapping[str, Any]], layout: Mapping[str, Any]) -> go.Figure:
    """A figure of plain dictionaries that plotly does not validate, which would take twenty times as long."""
    return go.Figure(data=[dict(trace) for trace in data], layout=dict(layout), _validate=False)
