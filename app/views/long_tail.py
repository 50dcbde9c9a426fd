"""Long tail: which rare transitions are found, accuracy by how often a transition was seen, and the cases."""

from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.cases.case_table import REFERENCE_RANK, TRANSITION, WHY
from analysis.compare.comparison import found_within
from analysis.figures.long_tail import (
    CHART_PX,
    COUNT_AXES,
    cohort_bars,
    draw_accuracy_by_count,
    draw_cohorts,
    plot_ablations,
    plot_hops,
)
from analysis.long_tail import headlines
from analysis.long_tail.accuracy_tables import accuracy_by_cohort, accuracy_by_count, accuracy_rises, rare_accuracy
from analysis.records.accuracy import bounded
from analysis.records.causes import count_lost_hits
from analysis.records.evaluation_records import LISTS
from app import address, state
from app.cached import tables
from app.cached.figures import drawn
from app.cached.workspace import Ranker, kept_causes
from app.components.case_selection import current_selection, select_picked, selection_at, show_bins
from app.components.case_table import change_filter, show_case_table
from app.components.chart_table import chart_table, show_figure
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.misses import ask_for_ablations, show_misses
from app.components.picture import show_picture
from app.components.present.add import Said, bar_picture, slides_button
from app.components.ranker_picker import pick_rankers
from app.components.text import pick, quiet, section
from app.components.toolbar import SWITCHED, choice_control, downloads, metric_control
from app.headings import HOP_HEADINGS, USER_HEADINGS, WORTH_HEADINGS, accuracy_headings
from app.pages import EXPLAIN, LONG_TAIL, WALK
from recap import columns as c
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import markdown_text

CASES, WORTH, MISSES = "Cases", "What each part is worth", "Where it misses"
# By text in links; older ones have the title.
TABS: Final = {"cases": CASES, "worth": WORTH, "misses": MISSES} | {name: name for name in (CASES, WORTH, MISSES)}
BY: Final = {"transition": c.TRANSITION_COUNT, "place": c.DESTINATION_COUNT}
BY_LABELS: Final = {"transition": "Transition", "place": "Place"}


@error_boundary
def view() -> None:
    source, opened = source_with_cases()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls = st.container(horizontal=True, width="content", vertical_alignment="bottom")
        metric = metric_control(opened)
        eta = eta_slider()
        st.space("stretch")
        data = st.container(horizontal=True, wrap=False, width="content")
    with controls:
        model, reference = pick_rankers(source, tables.rankers(source, metric))
    selection = selection_at(eta)
    chosen = selection.text if selection else None
    cohorts = tables.of_records(accuracy_by_cohort, model, metric, eta=eta, reference=reference)
    rare = tables.of_records(rare_accuracy, model, metric, eta)
    headline = headlines.long_tail_headline(rare, tables.of_records(accuracy_rises, model, metric))
    sentence = headlines.rare_sentence(model.label, metric, rare)
    st.title(headline, anchor=False)
    st.markdown(markdown_text(sentence))
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        show_cohorts(cohorts, model, reference, metric, chosen, eta)
    with halves.cell():
        show_counts(model, reference, metric, chosen, eta)
    _show_tabs(model, reference, metric)

    def say() -> Said:
        caveat = headlines.slide_caveat(sentence, metric, eta)
        return Said(headline, caveat, bar_picture(cohort_bars(cohorts, model.label, reference.label, metric)))

    with data:
        slides_button(model.source, LONG_TAIL, (model.token, reference.token, metric, eta), say)
        downloads(partial(_files, model, reference, metric, eta), source=model.source, key="long-tail")


def eta_slider() -> int:
    eta = address.current_choice("eta", {str(n): n for n in range(10)}, TAIL_MAX_COUNT)

    def choose() -> None:
        address.choose("eta", st.session_state["pick_eta"])

    look: dict[str, Any] = {"value": eta, "max_value": 9, "width": 170, "label_visibility": "visible"}
    pick(st.slider, headlines.ETA_LABEL, 0, choose, "eta", key="pick_eta", **look)
    return eta


def show_cohorts(
    cohorts: pd.DataFrame, model: Ranker, reference: Ranker, metric: str, chosen: str | None, eta: int
) -> None:
    section("Which rare transitions are found")
    show_picture(
        draw_cohorts(cohorts, reference.label, eta, chosen=chosen, palette=state.theme_palette()),
        "cohorts",
        height=CHART_PX,
        alt=headlines.COHORTS_ALT,
        on_pick=select_picked,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(headlines.cohorts_caption(metric), width="content")
        show_bins("Cells", cohorts, "cohorts", eta, _headings(model, reference, metric))


def show_counts(model: Ranker, reference: Ranker, metric: str, chosen: str | None, eta: int) -> None:
    section(headlines.BY_COUNT)
    picture, below = st.container(), st.container(horizontal=True, vertical_alignment="center")
    with below:
        by = choice_control("by", {name: name for name in BY}, "transition", BY_LABELS)
    bins = tables.of_records(accuracy_by_count, model, BY[by], metric, reference=reference)
    tail = eta if by == "transition" else None
    palette = state.theme_palette()
    with picture:
        show_picture(
            draw_accuracy_by_count(
                bins, by=BY[by], tail_up_to=tail, reference=reference.label, chosen=chosen, palette=palette
            ),
            by,
            height=CHART_PX,
            alt=headlines.counts_alt(model.label, COUNT_AXES[BY[by]]),
            on_pick=select_picked,
        )
    with below:
        quiet(headlines.bars_caption(markdown_text(reference.label)), width="content")
        show_bins("Bins", bins, BY[by], eta, _headings(model, reference, metric))


def _headings(model: Ranker, reference: Ranker, metric: str) -> dict[str, str]:
    return accuracy_headings(*(bounded(one.label, one.records, metric) for one in (model, reference)))


@st.fragment
def _show_tabs(model: Ranker, reference: Ranker, metric: str) -> None:
    """Draw only the open tab."""
    st.session_state["pick_tab"] = address.current_choice("tab", TABS, CASES)
    cases, worth, misses = st.tabs(
        [CASES, WORTH, MISSES],
        key="pick_tab",
        on_change=address.unless_late(lambda: address.choose("tab", st.session_state["pick_tab"]), "tab"),
    )
    k = found_within(metric)
    if cases.open:
        with cases:
            show_cases(model, reference, k)
    if worth.open:
        with worth:
            show_worth(model, metric, k)
    if misses.open:
        with misses:
            show_misses(model, k, _list_kind)


def _list_kind(kind: str | None) -> None:
    change_filter(reasons=() if kind is None else (kind,))
    address.choose("tab", CASES)


def show_cases(model: Ranker, reference: Ranker, k: int) -> None:
    chosen = current_selection()
    table = tables.listed_table_of(model, reference, k, chosen.text if chosen else "")
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    is_wide = state.window_width() == "wide"
    columns: dict[str, Any] = {
        c.CASE: number("Case", width=64, format="localized"),
        TRANSITION: text("Transition", width=290 if is_wide else 200),
        c.TRANSITION_COUNT: number("Seen", width=64, help="In training."),
        c.RANK: text(model.label[:18], width=96, alignment="right", help=headlines.RANK_HELP),
        REFERENCE_RANK: text(reference.label[:18], width=96, alignment="right", help=headlines.RANK_HELP),
        WHY: text("Why", width=410 if is_wide else 240, help=headlines.WHY_HELP),
    }
    hides_truth = not address.current_choice("truth", SWITCHED, True)
    has_model = model.source.checkpoint_hash is not None
    page = EXPLAIN if has_model or model.model is None else WALK

    def open_case(case: int) -> None:
        address.go(page, state.link_to(model.source, case=str(case)))

    show_case_table(table, open_case=open_case, opens=f"{page.title} →", columns=columns, show_truth=not hides_truth)
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(markdown_text(headlines.list_line(model.label, reference.label, k)), width="content")
        headings = {**USER_HEADINGS, "mrr": bounded(USER_HEADINGS["mrr"], model.records, "mrr")}
        chart_table({"Users": tables.by_user(model)}, "by-user", headings=headings, label=headlines.BY_USER)


def show_worth(model: Ranker, metric: str, k: int) -> None:
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        _show_parts(model, metric, k)
    with halves.cell():
        hops = tables.hops(model.source)
        section(headlines.hop_line(hops), help=headlines.LIFT_HELP)
        show_figure(drawn(plot_hops, hops), "hops", headlines.HOPS_ALT)
        quiet(headlines.lift_line(tables.lift(model.source)))
        chart_table({"Hops": hops}, "hops", headings=HOP_HEADINGS)


def _show_parts(model: Ranker, metric: str, k: int) -> None:
    worth = tables.worth(model.source, k) if model.model is None else None
    causes = kept_causes(model.source) if worth is not None else None
    section("What each part is worth" if causes is None else headlines.lost_hits_line(count_lost_hits(causes, k)))
    if model.model is not None or not model.source.has_parts:
        quiet(headlines.no_parts(model.label))
        return
    if worth is None:
        ask_for_ablations(model.source)
        return
    shown = headlines.worth_rows(worth, metric)
    if headlines.is_beyond_chance(shown):
        figure = drawn(plot_ablations, shown, metric_label=headlines.worth_metric(metric))
        show_figure(figure, "worth", "Accuracy lost without each part")
    else:
        quiet(headlines.NO_PART_MATTERS)
    quiet(headlines.WITHOUT_PARTS)
    chart_table({"Parts": worth}, "worth", headings=WORTH_HEADINGS)


def _files(model: Ranker, reference: Ranker, metric: str, eta: int) -> dict[str, pd.DataFrame]:
    by_count = partial(tables.of_records, accuracy_by_count, model, reference=reference)
    return {
        "Accuracy by transition count": by_count(c.TRANSITION_COUNT, metric),
        "Accuracy by place count": by_count(c.DESTINATION_COUNT, metric),
        "Accuracy by cohort": tables.of_records(accuracy_by_cohort, model, metric, eta=eta, reference=reference),
        "Accuracy by user": tables.by_user(model),
        "Hop sweep": tables.hops(model.source),
        "Evaluation records": model.records.drop(columns=list(LISTS), errors="ignore"),
    }


view()
