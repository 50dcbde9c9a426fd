"""What Compare finds: differences by transition count, whose marks open cases; seeds; and the table of groups."""

import pandas as pd
import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import GROUP_LABELS, Comparison
from analysis.compare.headline import p_value
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.compare import plot_differences, plot_seeds
from analysis.formatting import share, signed
from analysis.glossary import tooltip
from analysis.phrases import phrase
from analysis.records.accuracy import METRIC_LABELS
from analysis.records.case_selection import CaseSelection
from app.cached.figures import drawn
from app.components.chart_table import chart_table
from app.components.text import quiet, section
from app.components.toolbar import legend
from app.components.walk.open_cases import open_cases
from app.sources import Source
from recap import columns as c


def show_differences(source: Source, found: Comparison) -> None:
    """B minus A in each bin of the transition count."""
    section(f"Difference in {METRIC_LABELS[found.metric]}")
    a, b = found.names
    event = st.plotly_chart(
        drawn(plot_differences, found.bins, a=a, b=b, metric=found.metric),
        theme=None,
        config=PLOT_CONFIG,
        key="differences",
        on_select="rerun",
        selection_mode="points",
        alt=f"{found.b} minus {found.a} by how often the transition occurred in training, with 95 % intervals",
    )
    points = event["selection"]["points"] if event else []
    chosen = next((point["customdata"] for point in points if point.get("customdata")), None)
    if chosen is not None:
        open_cases(source, CaseSelection.of_bin(*chosen))
    legend(
        ":blue[●] :gray[interval excludes 0]",
        ":gray[○ interval holds 0]",
        ":gray[Paired by case; lines are 95 % intervals over users. One in twenty excludes 0 by chance.]",
    )
    chart_table({"Bins": found.bins}, "differences", lambda _, row: _open_bin(source, found.bins, row))


def show_seeds(found: Comparison) -> None:
    """The difference beside that of two seeds of one model."""
    section(phrase("seeds_title"))
    if found.seeds is None:
        quiet(phrase("seeds_unmeasured" if found.unmeasured_seeds else "seeds_none"))
        return
    st.plotly_chart(
        drawn(plot_seeds, found.seeds, metric=found.metric, each=phrase("each_seed")),
        theme=None,
        config=PLOT_CONFIG,
        key="seeds",
        alt=headline.seeds_sentence(found),
    )
    quiet(phrase("seeds_note"))
    chart_table({phrase("form_seeds"): found.seeds.drop(columns="each")}, "seeds")


def show_numbers(found: Comparison) -> None:
    """One row for each group, with interval and both tests."""
    section("The same in numbers", help=tooltip("mcnemar_p", "sign_flip_p", "too_close"))
    table = pd.DataFrame([_row(row, found) for row in found.rows.to_dict(orient="records")])
    right = {name: st.column_config.TextColumn(alignment="right") for name in table.columns[1:]}
    st.dataframe(
        table,
        hide_index=True,
        key="compare-numbers",
        height="content",
        column_config={"Cases": st.column_config.TextColumn(width=190), **right},
        alt="Differences by group with 95 % intervals over users, cases that only one finds, and two tests",
    )


def _open_bin(source: Source, bins: pd.DataFrame, row: int) -> None:
    chosen = bins.iloc[row]
    open_cases(source, CaseSelection.of_bin(c.TRANSITION_COUNT, int(chosen["low_count"]), int(chosen["high_count"])))


def _row(row: dict, found: Comparison) -> dict[str, str]:
    known = row["n"] > 0
    indent = "\u2003" if row["group"] in ("once", "never") else ""
    return {
        "Cases": indent + GROUP_LABELS[row["group"]],
        "n": f"{row['n']:,}",
        found.a: share(row["a"]) if known else "–",
        found.b + (" " if found.a == found.b else ""): share(row["b"]) if known else "–",
        "Difference": signed(row["difference"]) if known else "–",
        "95 % over users": f"[{signed(row['low'])}, {signed(row['high'])}]" if known else "–",
        "Only A finds": f"{row['only_a']:,}",
        "Only B finds": f"{row['only_b']:,}",
        "McNemar p": p_value(row["mcnemar_p"]) if known else "–",
        "Sign-flip p": p_value(row["sign_flip_p"]),
    }
