"""Compare two models on the same cases, by transition count, by seed, and case by case."""

from functools import partial

import streamlit as st

from analysis.compare import words
from analysis.compare.comparison import found_within
from analysis.figures.compare import comparison_bars
from app import address
from app.cached import comparisons
from app.cached.comparisons import default_pair, side_options
from app.cached.workspace import Ranker
from app.components.compare.findings import (
    save_all_models,
    show_differences,
    show_numbers,
    show_reliability,
    show_seeds,
)
from app.components.compare.flipped_cases import FLIPPED, show_flipped_cases
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.present.add import Said, bar_picture, slides_button
from app.components.ranker_picker import list_rankers, side_key
from app.components.text import act_button, quiet
from app.components.toolbar import downloads, metric_control, source_picker
from app.pages import COMPARE
from app.sources import Source
from recap.machine.printable import markdown_text

_NAMES = ("a", "b")


@error_boundary
def view() -> None:
    source, opened = source_with_cases()
    options = side_options(source)
    a, b = _current_sides(source, options)
    with st.container(horizontal=True, vertical_alignment="center"):
        _pick("a", words.A_LABEL, options)
        act_button("", "exchange", _exchange, icon="swap_horiz", type="tertiary", help="Exchange")
        _pick("b", words.B_LABEL, options)
        metric = metric_control(opened)
        st.space("stretch")
        more = st.popover("More", icon=":material/tune:", type="tertiary", key="compare-more")
        with more:
            source_picker(source)
            quiet(words.IMPORT_HINT)
        data = st.container(horizontal=True, wrap=False, width="content", vertical_alignment="center")
    result = comparisons.compared(a, b, metric, found_within(metric))
    st.title(markdown_text(words.comparison_headline(result)), anchor=False)
    st.markdown(markdown_text(words.finds_sentence(result)))
    cell = address.current_choice("cell", {name: name for name in FLIPPED}, FLIPPED[0])
    grid = st.grid(3, min_column_width=330, gap="medium")
    with grid.cell(column_span=2):
        show_differences(source, result)
    with grid.cell():
        show_seeds(result)
    show_numbers(result)
    with more:
        show_reliability(a, b)
    show_flipped_cases(source, a, b, result, cell, len(opened.cases))

    def say() -> Said:
        picture = bar_picture(comparison_bars(result.rows, metric, a=result.a, b=result.b))
        return Said(words.comparison_headline(result), words.caveat(result), picture)

    with data:
        slides_button(source, COMPARE, (a.token, b.token, metric), say)
        tables = {"Groups": result.rows, "Bins": result.bins}
        if result.seeds is not None:
            tables["Seeds"] = result.seeds.drop(columns="each")
        tables["Cases that flipped"] = comparisons.cell_cases(a, b, result.k, cell)
        downloads(lambda: tables, source=source, key="compare", below=partial(save_all_models, source, metric, a.label))


def _current_sides(source: Source, options: dict[str, Ranker]) -> tuple[Ranker, Ranker]:
    """The sides of a link or the selectors; an unknown one gives a message and the default."""
    link = address.linked(*_NAMES)
    for name, default in zip(_NAMES, default_pair(source), strict=True):
        chosen = st.session_state.get(side_key(name)) if link is None else link[name]
        if link is not None and chosen not in (None, *options):
            address.refuse(words.other_side(name, str(chosen)))
        st.session_state[side_key(name)] = chosen if chosen in options else default
    a, b = (options[st.session_state[side_key(name)]] for name in _NAMES)
    sides = comparisons.same_question(a, b, source)
    for name, side in zip(_NAMES, sides, strict=True):
        st.session_state[side_key(name)] = side.token
    address.write(a=sides[0].token, b=sides[1].token)
    return sides


def _pick(name: str, label: str, options: dict[str, Ranker]) -> None:
    key = f"pick_{name}"

    def choose() -> None:
        st.session_state[side_key(name)] = st.session_state[key]

    value = st.session_state[side_key(name)]
    list_rankers(label, options, choose, *_NAMES, key=key, value=value, width=205, help=words.SIDES_HELP)


def _exchange() -> None:
    first, second = st.session_state[side_key("a")], st.session_state[side_key("b")]
    st.session_state[side_key("a")], st.session_state[side_key("b")] = second, first


view()
