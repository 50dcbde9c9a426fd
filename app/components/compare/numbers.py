"""The table of a comparison: the same numbers as the figures, by group."""

import pandas as pd
import streamlit as st

from analysis.compare.comparison import GROUP_LABELS, Comparison
from analysis.compare.headline import p_value
from analysis.formatting import share, signed
from analysis.glossary import tooltip
from app.components.text import section


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
        alt="Differences by group with 95 % intervals over walkers, cases that only one finds, and two tests",
    )


def _row(row: dict, found: Comparison) -> dict[str, str]:
    known = row["n"] > 0
    indent = "\u2003" if row["group"] in ("once", "never") else ""
    return {
        "Cases": indent + GROUP_LABELS[row["group"]],
        "n": f"{row['n']:,}",
        found.a: share(row["a"]) if known else "–",
        found.b + (" " if found.a == found.b else ""): share(row["b"]) if known else "–",
        "Difference": signed(row["difference"]) if known else "–",
        "95 % over walkers": f"[{signed(row['low'])}, {signed(row['high'])}]" if known else "–",
        "Only A finds": f"{row['only_a']:,}",
        "Only B finds": f"{row['only_b']:,}",
        "McNemar p": p_value(row["mcnemar_p"]) if known else "–",
        "Sign-flip p": p_value(row["sign_flip_p"]),
    }
