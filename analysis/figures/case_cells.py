"""Rank against step count: all cases as discs on a grid of bins, so that 25,000 are as quick to brush as 100."""

from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import styled
from analysis.figures.palette import Palette
from recap import columns as c

Bin = tuple[int, int | None]
RANK_BINS: Final[tuple[Bin, ...]] = (
    (1, 1),
    (2, 5),
    (6, 10),
    (11, 20),
    (21, 50),
    (51, 100),
    (101, 200),
    (201, 500),
    (501, 1000),
    (1001, None),
)
STEP_BINS: Final[tuple[Bin, ...]] = (*((count, count) for count in range(10)), (10, 19), (20, 49), (50, None))
_STEP_PLACES: Final = (*range(10), 10.5, 12.0, 13.3)
"""Where the step bins stand on their axis: the wide ones have wide names."""
LARGEST_DISC: Final = 24
SMALLEST_DISC: Final = 5


def bin_cases(table: pd.DataFrame) -> pd.DataFrame:
    """How many cases fall into each pair of bins: ``rank_low, rank_high, steps_low, steps_high, n``; empty pairs not.

    Bins run to ``high`` included; None is open. A mean rank over ties falls into the bin of its rounded-down value.

    Args:
        table: any table with ``rank`` and ``transition_count``.
    """
    ranks = np.searchsorted([low for low, _ in RANK_BINS], np.floor(table[c.RANK].to_numpy(float)), side="right") - 1
    steps = np.searchsorted([low for low, _ in STEP_BINS], table[c.TRANSITION_COUNT].to_numpy(), side="right") - 1
    counts = np.zeros((len(RANK_BINS), len(STEP_BINS)), dtype=np.int64)
    np.add.at(counts, (np.maximum(ranks, 0), steps), 1)
    rows = [
        (*RANK_BINS[i], *STEP_BINS[j], int(counts[i, j]))
        for i in range(len(RANK_BINS))
        for j in range(len(STEP_BINS))
        if counts[i, j]
    ]
    return pd.DataFrame(rows, columns=["rank_low", "rank_high", "steps_low", "steps_high", "n"], dtype=object)


def plot_case_cells(cells: pd.DataFrame, *, found_within: int, palette: Palette) -> go.Figure:
    """The cells as discs, area as the number of cases; drag a box to choose some.

    Discs carry ``[rank_low, rank_high, steps_low, steps_high]`` as customdata, -1 for an open end.

    Args:
        cells: from `bin_cases`.
        found_within: cases up to this rank count as found and stand above a line.
    """
    rank_of = {bounds: at for at, bounds in enumerate(RANK_BINS)}
    step_of = dict(zip(STEP_BINS, _STEP_PLACES, strict=True))
    rows = [tuple(row) for row in cells.to_numpy().tolist()]
    x = [step_of[row[2:4]] for row in rows]
    y = [rank_of[row[:2]] for row in rows]
    n = cells["n"].to_numpy(float)
    size = LARGEST_DISC * np.sqrt(n / n.max()) if len(n) else n
    bounds = cells[["rank_low", "rank_high", "steps_low", "steps_high"]].fillna(-1).astype(int)
    figure = go.Figure(
        go.Scatter(
            x=x,
            y=y,
            mode="markers",
            marker={
                "size": np.maximum(size, SMALLEST_DISC),
                "color": palette.model.fill,
                "opacity": 0.85,
                "line_width": 0,
            },
            customdata=bounds.to_numpy().tolist(),
            hovertext=[
                f"{row[4]:,} cases: rank {name_bin(*row[:2])}, step seen {name_bin(*row[2:4])} times" for row in rows
            ],
            hoverinfo="text",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 0.25}},
        )
    )
    styled(figure, palette, height=330, margin={"l": 76, "b": 44})
    figure.update_layout(dragmode="select")
    figure.update_xaxes(
        title_text="Step seen in training",
        tickvals=list(_STEP_PLACES),
        ticktext=[name_bin(*bounds) for bounds in STEP_BINS],
        range=[-0.7, _STEP_PLACES[-1] + 0.7],
    )
    figure.update_yaxes(
        title_text="Rank of the truth",
        tickvals=list(range(len(RANK_BINS))),
        ticktext=[name_bin(*bounds) for bounds in RANK_BINS],
        range=[len(RANK_BINS) - 0.3, -0.7],
    )
    line = next((at for at, (low, _) in enumerate(RANK_BINS) if low > found_within), None)
    if line is not None:
        figure.add_hline(y=line - 0.5, line={"color": palette.quiet, "width": 1, "dash": "dot"})
    return figure


def name_bin(low: int, high: int | None) -> str:
    """A bin in words.

    >>> name_bin(0, 0), name_bin(10, 19), name_bin(50, None)
    ('0', '10–19', '50+')
    """
    return str(low) if low == high else f"{low:,}+" if high is None else f"{low:,}–{high:,}"
