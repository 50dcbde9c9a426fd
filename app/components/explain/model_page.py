"""Explain, "The model": how RECAP scores, its curves, and what each part is worth."""

from typing import Final

import streamlit as st

from analysis.explain import model_words as words
from analysis.explain.model_flow import ModelFlow
from analysis.figures.curves import Gates, describe_curves, plot_curves
from analysis.figures.model_flow import FLOW_PX, describe_flow_picture, plot_flow
from analysis.figures.model_worth import describe_worth, plot_worth
from analysis.records.causes import deciding_part
from app.cached import explanations, tables
from app.cached.figures import drawn
from app.cached.workspace import read_ablations
from app.components.chart_table import show_figure, show_wide
from app.components.text import choose_one, quiet
from app.sources import Source
from recap.history.moments import Moment
from recap.machine.printable import markdown_text

_NARROW: Final = 225
_PART: Final = "model-part"
_PLACE: Final = "model-place"
_PICTURE: Final = "model-picture"


def show_model_page(
    source: Source, moment: Moment, *, about: int | None, against: int | None, hide_truth: bool = False
) -> None:
    """The page below the selectors.

    Args:
        about, against: the two places; None for the true next place or the best one, and for the best other one.
    """
    flow = explanations.flow(source, moment, about=about, against=against, hide_truth=hide_truth)
    title, lost = words.count_inputs(len(flow.parts)), tables.worth(source)
    if lost is not None:
        title = words.headline(*(deciding_part(lost, kind) for kind in ("known", "new")))
    st.title(title, anchor=False)
    st.markdown(words.INTRO)
    _page(source, moment, flow)


@st.fragment
def _page(source: Source, moment: Moment, flow: ModelFlow) -> None:
    """The picture, the open part, and the curves; opening a part redraws only this."""
    names = [words.SCORE_PART, *(part.name for part in flow.parts)]
    if st.session_state.get(_PART) not in names:
        st.session_state[_PART] = words.SCORE_PART
    halves = st.grid(4, min_column_width=_NARROW)
    with halves.cell(column_span=3):
        names_of = [f"{words.GLYPHS[flow.roles[which]]} {markdown_text(flow.places[which].name)}" for which in (0, 1)]
        place = choose_one("Place", [0, 1], key=_PLACE, named=names_of.__getitem__)
        figure = drawn(plot_flow, flow, place=place, opened=st.session_state[_PART])
        alt = describe_flow_picture(flow, place)
        show_wide(figure, _PICTURE, alt, FLOW_PX, on_select=_open_clicked, selection_mode="points")
    with halves.cell():
        opened = st.selectbox("Part", names, key=_PART, format_func=words.title, label_visibility="collapsed")
        _detail(flow, opened, place)
    tab = choose_one("Show", [words.prior_tab(flow.numbers), words.WORTH_TAB], key="model-tab", named=str)
    with st.container(key="model-tab-content"):
        if tab == words.WORTH_TAB:
            _worth(source)
        else:
            _curves(source, moment, flow, opened)


def _open_clicked() -> None:
    points = st.session_state[_PICTURE]["selection"]["points"]
    name = points[0].get("customdata") if points else None
    if name is not None:
        st.session_state[_PART] = name[0] if isinstance(name, list) else name


def _detail(flow: ModelFlow, name: str, place: int) -> None:
    part_text = flow.explain(name)
    st.markdown(part_text.does)
    st.latex(part_text.equation)
    part = flow.part(name)
    if part is not None:
        rank = flow.places[place].rank
        st.markdown(words.without_line(rank, None if part.without is None else part.without[place]))


def _curves(source: Source, moment: Moment, flow: ModelFlow, opened: str) -> None:
    learned = explanations.learned(source)
    curves = learned.of_group(opened)
    gates = Gates(learned.gates, flow.gates) if learned.gates else None
    values = explanations.feature_values(source, moment, "", flow.pois)
    figure = drawn(plot_curves, curves, marks=values, roles=flow.roles, others=learned.others, gates=gates)
    show_wide(figure, "model-curves", describe_curves(curves))
    group = opened if curves and all(curve.group == opened for curve in curves) else None
    quiet(words.curves_note(group, flow.numbers, seeds=len(learned.others), learned_on=learned.learned_on))


def _worth(source: Source) -> None:
    read_ablations(source)
    worth = tables.worth(source)
    assert worth is not None
    show_figure(drawn(plot_worth, worth), "model-worth", describe_worth(worth))
    quiet(words.worth_note(worth))
