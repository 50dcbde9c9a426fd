"""The cases that exactly one side finds, with both sides' predictions of one."""

from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.compare import words
from analysis.compare.cells import HitSelection, both_in_sentence, cell_label
from analysis.compare.comparison import Comparison
from analysis.formatting import ordinal, rank_number, rank_word
from app import address, state
from app.cached import comparisons
from app.cached.figures import TWO_LINES_PX, short_way
from app.cached.workspace import Ranker, open_workspace, read_lists
from app.components.text import pick, quiet, section
from app.components.toolbar import open_case_button
from app.pages import EXPLAIN, WALK
from app.sources import Source
from recap import columns as c
from recap.history.moments import link_number
from recap.machine.printable import markdown_text

FLIPPED: Final = ("only_b", "only_a")
_FIELDS: Final = ("a", "b", "cell")
"""Fields of the address that define the list."""
_LISTED: Final = 7
_CLICKED: Final = "_flipped_row"
_HEIGHT: Final = 317


def show_flipped_cases(source: Source, a: Ranker, b: Ranker, result: Comparison, cell: str, num_cases: int) -> None:
    """The list, and next to it the clicked case or the first one."""
    listed = comparisons.cell_cases(a, b, result.k, cell)
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        section("Cases that flipped")
        with st.container(horizontal=True, vertical_alignment="center"):
            _cell_control(result, cell)
            st.space("stretch")
            _open_all(source, a, b, result, cell, listed)
        if listed.empty:
            quiet(words.no_flipped_case(cell_label(cell, result.a, result.b)))
        else:
            title = words.ranks_title(result.a, result.b)
            _show_list(source, listed, title, f"flipped-{a.token[:12]}-{b.token[:12]}-{result.k}-{cell}")
    case = _current_open(num_cases)
    if case is None and not listed.empty:
        case = int(listed[c.CASE].iloc[0])
    if case is not None:
        with halves.cell():
            _show_case(source, a, b, case)


def _cell_control(result: Comparison, cell: str) -> None:
    row, names = result.row("all"), dict(zip(("only_a", "only_b"), both_in_sentence(result.a, result.b), strict=True))

    def choose() -> None:
        address.choose("cell", st.session_state["cell_control"])
        st.session_state["open"] = None

    look: dict[str, Any] = {"required": True, "format_func": lambda name: words.only_label(names[name], int(row[name]))}
    pick(st.segmented_control, "Found by", FLIPPED, choose, *_FIELDS, key="cell_control", value=cell, **look)


def _open_all(source: Source, a: Ranker, b: Ranker, result: Comparison, cell: str, listed: pd.DataFrame) -> None:
    if len(listed) and st.button(
        "All in Walk", icon=":material/arrow_forward:", icon_position="right", type="tertiary", key="cell-walk"
    ):
        chosen = HitSelection(a.token, b.token, result.k, cell)
        case = str(listed[c.CASE].iloc[0])
        address.go(WALK, state.link_to(b.shown or a.shown or source, cases=chosen.text, case=case))


def _show_list(source: Source, listed: pd.DataFrame, title: str, key: str) -> None:
    labels, cases = open_workspace(source).labels, listed[c.CASE].to_numpy()
    ways, ranks = (zip(listed[x], listed[y], strict=True) for x, y in ((c.SOURCE, c.TARGET), ("rank_a", "rank_b")))
    rows = pd.DataFrame(
        {
            "Transition": [short_way(f"{labels[start]} → {labels[end]}") for start, end in ways],
            "Seen": listed[c.TRANSITION_COUNT].to_numpy(),
            title: [f"{rank_number(first)} → {rank_number(second)}" for first, second in ranks],
        }
    )

    is_wide = state.window_width() == "wide"
    event = st.dataframe(
        rows,
        hide_index=True,
        height=_HEIGHT,
        row_height=None if is_wide else TWO_LINES_PX,
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        column_config={
            "Transition": st.column_config.TextColumn(width=290 if is_wide else 185),
            "Seen": st.column_config.NumberColumn(width=60, help=words.SEEN_HELP),
            title: st.column_config.TextColumn(width=160, help=words.RANKS_HELP),
        },
        alt=words.FLIPPED_ALT,
    )
    cells = event["selection"]["cells"]
    clicked = int(cells[0][0]) if cells else None
    if clicked != st.session_state.get(_CLICKED):
        st.session_state[_CLICKED] = clicked
        if clicked is not None and clicked < len(cases):
            st.session_state["open"] = int(cases[clicked])


def _current_open(num_cases: int) -> int | None:
    """The case that a link or a row opened, or None."""
    link = address.linked("open")
    if link is not None:
        number = link_number(link["open"], num_cases)
        st.session_state["open"] = None if number < 0 else number
        if number < 0 and link["open"] is not None:
            address.refuse(words.OTHER_CASE)
    case = st.session_state.get("open")
    case = case if case is not None and case < num_cases else None
    address.write(open=None if case is None else str(case))
    return case


def _show_case(source: Source, a: Ranker, b: Ranker, case: int) -> None:
    opened = open_workspace(source)
    row = opened.case(case)
    places = [markdown_text(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET)]
    section(f"{places[0]} → :orange[{places[1]}]")
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(words.case_line(case, int(row[c.TRANSITION_COUNT])), width="content")
        st.space("stretch")
        shown = b.shown or a.shown or source
        for page in (WALK, EXPLAIN):
            if page is WALK or b.shown or a.shown:
                open_case_button(page, shown, case, key=f"flipped-{page.name}", type="tertiary")
    columns = {option.label: _best_places(source, option, case) for option in (a, b)}
    st.dataframe(
        pd.DataFrame({"Rank": [*map(ordinal, range(1, _LISTED + 1)), "True place"], **columns}),
        hide_index=True,
        key="flipped-both",
        height="content",
        column_config={"Rank": st.column_config.TextColumn(width=90)},
        alt=words.both_alt(a.label, b.label),
    )


def _best_places(source: Source, option: Ranker, case: int) -> list[str]:
    """The first places of a side, then the rank of the true one."""
    opened, record = open_workspace(source), read_lists(option.source, option.model).iloc[case]
    best = [int(poi) for poi in record[c.TOP_POIS][:_LISTED]]
    names = [f"{'◎ ' if poi == record[c.TARGET] else ''}{opened.labels[poi]}" for poi in best]
    rank = rank_word(float(comparisons.read_side(option).ranks()[case]))
    return [*(names + [""] * _LISTED)[:_LISTED], rank]
