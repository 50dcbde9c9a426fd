"""Overview: how many rare transitions the model finds next to other models, the long tail, three cases."""

from functools import partial

import pandas as pd
import streamlit as st

from analysis.figures.overview import overview_bars, plot_distribution, plot_lollipops
from analysis.formatting import ordinal
from analysis.long_tail import overview_headlines as words
from analysis.long_tail.accuracy_tables import tail_share
from analysis.long_tail.notable_cases import NotableCase
from app import state
from app.cached import tables
from app.cached.figures import drawn
from app.cached.workspace import checkpoints_of, kept_causes, model_label, open_workspace
from app.components.chart_table import show_figure
from app.components.empty import open_data_button, source_with_cases, train_button
from app.components.error_boundary import error_boundary
from app.components.present.add import Said, bar_picture, slides_button
from app.components.text import late_popover, quiet, section
from app.components.toolbar import downloads, metric_control, open_case_button, save_button, source_picker
from app.pages import EXPLAIN, OVERVIEW, WALK
from app.sources import Source
from recap import columns as c
from recap.machine.printable import markdown_text

BADGE_COLOURS = {"past_visits": "violet", "two_hop_paths": "green", "missed": "gray"}


@error_boundary
def view() -> None:
    source, opened = source_with_cases()
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source, width=310)
        metric = metric_control(opened)
        st.space("stretch")
        open_data_button()
        data = st.container(width="content")
    title = st.container()
    halves = st.grid(2, min_column_width=400, gap="medium")
    accuracy, long_tail = halves.cell(), halves.cell()
    with long_tail:  # needs no model, so it appears at once
        distribution = tables.distribution(source)
        heading = words.distribution_title(distribution)
        section(heading)
        show_figure(drawn(plot_distribution, distribution), "distribution", heading)
    groups = tables.by_group(source, metric)
    headline = words.overview_headline(groups, metric)
    curves, line = tables.curves_lines(source, metric)
    with title:
        st.title(markdown_text(headline), anchor=False)
        rare = tail_share(distribution, 1, "case_share")
        sentence = words.overview_sentence(groups, metric, rare, opened.places_known)
        facts = opened.dataset.num_users, opened.dataset.num_pois, len(opened.cases)
        described = words.describe_data(*facts, invented=state.consume_synthetic_notice())
        below = markdown_text(f"{sentence} {curves}".strip())
        st.markdown(f"{below}  \n:small[:gray[{described}]]")  # one block, so that the picture is on the first screen
        if all(model.checkpoint_folder is None for model in checkpoints_of(source)):
            with st.container(horizontal=True, vertical_alignment="center"):
                quiet(words.NO_MODEL, width="content")
                train_button()
    lead = tables.lead_groups(source, metric, groups)

    def say() -> Said:
        picture = bar_picture(overview_bars(lead, metric))
        return Said(headline, f"{words.panels_title(metric)}. {sentence} {words.BAR_INTERVALS}", picture)

    with accuracy:
        section(words.panels_title(metric))
        show_figure(drawn(plot_lollipops, lead), "lollipops", headline)
        with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall"):
            with st.container(width="content"):
                show_all_models(source, metric, groups)
            with st.container(width="content"):
                slides_button(source, OVERVIEW, metric, say)
            quiet(markdown_text(words.intervals_line(line)), width="content")
    _show_cards(source)
    with data:
        downloads(
            lambda: {"Accuracy by model": groups, "Sorted transition counts": distribution},
            source=source,
            key="overview",
            below=partial(_card_button, source),
        )


def _card_button(source: Source) -> None:
    """Save the checkpoint's card: its training, accuracy and limits."""
    folder = source.checkpoint_folder
    if folder is None:
        return

    def read() -> bytes:
        from recap.checkpoint import MODEL_CARD  # here, so that the button alone does not load torch

        return (folder / MODEL_CARD).read_bytes()

    save_button("Model card", read, "model-card.md", key="model-card", icon=":material/description:", width="stretch")


@st.fragment
def show_all_models(source: Source, metric: str, groups: pd.DataFrame) -> None:
    """A button that opens the table of all models, which is sent only then."""
    number = groups["model"].nunique()
    button = late_popover(f"All {number} models", "all-models", type="tertiary", width="content")
    if not button:
        return
    with button:
        table = words.models_table(groups)
        st.dataframe(table, hide_index=True, height="content", width="content", key="models", alt=words.MODELS_ALT)
        quiet(words.groups_line(groups))
        records = tables.next_records(source)
        if records:
            table = words.next_table(records, metric)
            st.dataframe(table, hide_index=True, height="content", width="content", key="next", alt=words.NEXT_ALT)
            quiet(words.next_line(records))


def _show_cards(source: Source) -> None:
    cards = tables.notable(source)
    if cards:
        section(words.cards_title(len(cards)))
        grid = st.grid(3, min_column_width=300, border=True)
        for card in cards:
            with grid.cell():
                show_card(source, card)
    absent = words.absent_line(cards, ablated=kept_causes(source) is not None)
    if absent:
        quiet(absent)


def show_card(source: Source, card: NotableCase) -> None:
    opened = open_workspace(source)
    case = opened.case(card.case)
    page = WALK if source.checkpoint_hash is None else EXPLAIN
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":{BADGE_COLOURS[card.kind]}-badge[{words.card_badge(card)}]", width="content")
        st.space("stretch")
        open_case_button(page, source, card.case, key=f"open-{card.kind}", type="tertiary")
    places = [markdown_text(opened.labels[int(case[name])]) for name in (c.SOURCE, c.TARGET)]
    st.markdown(f"**{places[0]} → {places[1]}**")
    first = card.counter_rank if card.rank_without is None else card.rank_without
    with st.container(horizontal=True):
        st.metric(words.card_label(card), _large(first), width="content")
        st.metric(markdown_text(model_label(source)), _large(card.rank), width="content")
    quiet(words.card_sentence(card))


def _large(rank: float) -> str:
    """A rank in large letters, with both ranks of a tie."""
    return ordinal(rank).removeprefix("tied ")


view()
