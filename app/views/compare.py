"""Compare: two scorers on the same cases, by how often the step was seen, case by case, and beside their seeds."""

import streamlit as st

from analysis.compare import headline
from analysis.compare.comparison import METRICS, found_within
from analysis.records.accuracy import METRIC_LABELS
from app import state
from app.cached import comparisons
from app.cached.comparisons import Option, default_pair, side_options
from app.components.compare.case_list import current_cell, show_case_list
from app.components.compare.findings import show_differences, show_numbers, show_seeds
from app.components.compare.side_by_side import current_open, show_side_by_side
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.text import quiet
from app.components.toolbar import downloads, source_picker
from app.sources import Source
from recap.printable import markdown_text

_NAMES = ("a", "b")


@error_boundary
def view() -> None:
    there = source_with_cases("so there is nothing to compare")
    if there is None:
        return
    source, opened = there
    a, b = _current_sides(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        _pick_sides(source)
        metric = _metric()
        st.space("stretch")
        with st.popover("More", icon=":material/tune:", type="tertiary", key="compare-more"):
            source_picker(source)
            quiet("Predictions from elsewhere: `recap import-predictions FILE --data DATA`.")
        data = st.container(horizontal=True, width="content", vertical_alignment="center")
    found = comparisons.compared(source, a, b, metric, found_within(metric))
    st.title(markdown_text(headline.comparison_finding(found)), anchor=False)
    both = f"Both on the same {found.n:,} cases of {found.users:,} users."
    st.markdown(markdown_text(" ".join([both, *headline.sentences(found)])))
    cell = current_cell()
    grid = st.grid(3, min_column_width=330, gap="medium")
    with grid.cell(column_span=2):
        show_differences(source, found)
    with grid.cell():
        show_seeds(found)
    show_numbers(found)
    quiet(headline.strictness_sentence(found))
    show_case_list(source, a, b, found, cell)
    case = current_open(len(opened.cases))
    if case is not None:
        show_side_by_side(source, a, b, case)
    with data:
        tables = {"Groups": found.rows, "Bins": found.bins, "Cohorts": found.cohorts}
        if found.seeds is not None:
            tables["Seeds"] = found.seeds.drop(columns="each")
        tables["Cases of the list"] = comparisons.cell_cases(source, a, b, found.k, cell)
        downloads(lambda: tables, source=source, key="compare")


def _current_sides(source: Source) -> tuple[Option, Option]:
    """The sides that a link or the selectors name; a link's unknown one gets a sentence and the default."""
    options = side_options(source)
    for name, default in zip(_NAMES, default_pair(source, options), strict=True):
        asked = state.incoming(name)
        if asked is not None and asked in options:
            st.session_state[f"side_{name}"] = asked
        elif asked is not None:
            st.warning(
                f"The link's side {name.upper()} is not here, so another one is shown: {markdown_text(asked[:60])}"
            )
            st.session_state[f"side_{name}"] = default
        if st.session_state.get(f"side_{name}") not in options:
            st.session_state[f"side_{name}"] = default
        state.write_param(name, st.session_state[f"side_{name}"])
    a, b = (options[st.session_state[f"side_{name}"]] for name in _NAMES)
    return a, b


def _pick_sides(source: Source) -> None:
    """Choose A and B."""
    options = side_options(source)
    _pick("a", "A, the one it is held against", options)
    st.button("Exchange", icon=":material/swap_horiz:", type="tertiary", key="exchange", on_click=_exchange)
    _pick("b", "B, the one in question", options)


def _pick(name: str, label: str, options: dict[str, Option]) -> None:
    key = f"pick_{name}"
    st.session_state[key] = st.session_state[f"side_{name}"]
    st.selectbox(
        label,
        list(options),
        key=key,
        format_func=lambda token: options[token].label if token in options else token,
        label_visibility="collapsed",
        width=205,
        on_change=state.unless_late(lambda: st.session_state.update({f"side_{name}": st.session_state[key]}), *_NAMES),
        help="Checkpoints, counters and imported predictions of this dataset. Grey in figures is A, blue is B.",
    )


def _exchange() -> None:
    first, second = st.session_state["side_a"], st.session_state["side_b"]
    st.session_state["side_a"], st.session_state["side_b"] = second, first


def _metric() -> str:
    chosen = st.segmented_control(
        "Metric",
        METRICS,
        default="hr20",
        required=True,
        format_func=METRIC_LABELS.__getitem__,
        key="compared_metric",
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen or "hr20"


view()
