"""Does it hold?: how much of the margin is exact, and a measured stamp for each row of the ledger."""

import pandas as pd
import streamlit as st

from analysis.explain.checks import CaseChecks
from analysis.explain.explanation import FullExplanation
from analysis.explain.stamp_table import stamp_finding, stamp_lines
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.exact_share import plot_exact_share
from analysis.formatting import percent
from analysis.records.score_rows import ROW_LABELS
from app import state
from app.components.text import quiet, section
from recap.printable import markdown_text

HELP = (
    "Measured for this case: whether a row's points have the same sign in models trained with other seeds, whether "
    "they lie beyond 95 % of 200 placebos, and whose trips they rest on. A stamp tells of stability, not of truth or "
    "cause."
)


def show_stamps(shown: FullExplanation, checks: CaseChecks) -> None:
    """The bar, the finding that the stamps hold, and the table."""
    section("Does it hold?", help=HELP)
    share, words = percent(checks.exact_share), state.words()
    renamed = {label: words.row(key, label) for key, label in ROW_LABELS.items()}
    finding = stamp_finding(checks)
    for label, name in renamed.items():
        finding = finding.replace(f"hold: {label},", f"hold: {name},")
    st.plotly_chart(
        plot_exact_share(checks.exact_share, state.theme_palette()),
        theme=None,
        config=PLOT_CONFIG,
        key="exact-share",
        alt=f"Explained exactly: {share} of the margin; the rest is opaque network",
    )
    quiet(f"Of the margin to {markdown_text(shown.contrast.b.name)}, signs aside. {finding}")
    lines = stamp_lines(checks, shown.target_rank, [path.name for path in shown.path_evidence])
    table = pd.DataFrame(
        [(renamed.get(line.label, line.label), line.points, line.rank, line.chips) for line in lines],
        columns=["Row", "Points", "Rank without", "Does it hold?"],
    )
    options = sorted({chip for line in lines for chip in line.chips})
    st.dataframe(
        table,
        hide_index=True,
        key="stamps",
        column_config={
            "Points": st.column_config.TextColumn(width=70, alignment="right"),
            "Rank without": st.column_config.TextColumn(width=130, alignment="right"),
            "Does it hold?": st.column_config.MultiselectColumn(options=options, color="gray"),
        },
    )
    quiet(
        "● holds in all seeds, beyond the placebos, more than one person's trips. ◐ partly. ○ not. Points: less the "
        "mean over all places. Ranks: with the row's evidence taken away for all places; own visits with their hours."
    )
