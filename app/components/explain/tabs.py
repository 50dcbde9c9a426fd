"""The tabs of Explain below the score: paths, past visits, curves, map, stability."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final, Literal

import pandas as pd
import streamlit as st

from analysis.explain import case_words, sentences
from analysis.explain.case_words import describe_paths, describe_visits
from analysis.explain.edits import CutPath, RemoveVisit, SwitchOff
from analysis.explain.explanation import CaseExplanation
from analysis.explain.robustness import EXPLAINED, describe_checks
from analysis.explain.types import PathTerms, Role
from analysis.figures.curves import describe_curves, plot_curves
from analysis.figures.explain import VISITS_PX, draw_paths, draw_visits, paths_height
from analysis.figures.explain_map import explain_deck
from analysis.formatting import day, days, moved_rank, signed, signed_points
from analysis.records.ablations import HOPS_ABLATIONS, part_label, slug
from app import state
from app.cached import explanations, maps
from app.cached.figures import drawn
from app.cached.workspace import open_workspace
from app.components.chart_table import show_figure
from app.components.explain.what_if import PAST_VISITS, TAB, TAB_CHOSEN, Edits, cut_paths, ticked_rows, visits_table
from app.components.picture import show_picture
from app.components.text import quiet
from app.sources import Source
from recap.features.catalogue import PATHS
from recap.machine.printable import markdown_text

COLOURS: Final[dict[Role, str]] = {"truth": "orange", "model": "blue", "other": "gray"}
"""Colour of a place's name in Markdown."""
_HALF: Final = 330
"""Where a column would be narrower, the table is below the picture."""
_MAP_HEIGHT: Final = 340
_TABLE_HEIGHT: Final = 248
_MOST_ROWS: Final = 5
_CURVES_SHOWN: Final = 8
_CURVES_A_ROW: Final = {"wide": 3, "narrow": 2, "phone": 1}
Choose = Callable[..., None]
"""Called with the middle places of the cut paths, and whether all paths are left out."""
_HOPS: Final = "Two-hop paths"
_PATHS_TABLE: Final = "paths-table"


def show_tabs(source: Source, before: CaseExplanation, shown: CaseExplanation, edits: Edits) -> None:
    """Draw only the open tab, of the case without and with the edits."""
    parts = {
        _HOPS: partial(_paths, source, before, shown, edits),
        PAST_VISITS: partial(_visits, source, before, shown, edits),
        "Curves": partial(_curves, source, shown),
        "Map": partial(_map, source, shown),
        "Is it stable?": partial(_stability, source, shown),
    }
    if not st.session_state.get(TAB_CHOSEN):
        st.session_state[TAB] = _HOPS if before.paths else PAST_VISITS
    opened = st.tabs(list(parts), key=TAB, on_change=lambda: st.session_state.update({TAB_CHOSEN: True}))
    for tab, draw in zip(opened, parts.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _paths(source: Source, before: CaseExplanation, shown: CaseExplanation, edits: Edits) -> None:
    there = {path.middle: path for path in shown.paths}
    cut = tuple(path for path in before.paths if path.middle not in there)
    paths = sorted([*shown.paths, *cut], key=lambda path: -path.product)
    part = next((entry.name for name in HOPS_ABLATIONS for entry in before.without if slug(entry.name) == name), None)
    if not paths or part is None:
        quiet(sentences.no_path(shown.target_name))
        return

    def choose(middles: set[int], *, off: bool) -> None:
        cut_paths(source, shown.moment, shown.target, middles, part, off=off)

    def click(middle: str) -> None:
        choose(gone ^ {int(middle)}, off=is_off)

    can_cut = "paths" in shown.supported_edits
    is_off = any(isinstance(edit, SwitchOff) and slug(edit.name) == slug(part) for edit in edits)
    gone = {edit.middle for edit in edits if isinstance(edit, CutPath) and edit.destination == shown.target}
    halves = st.grid(2, min_column_width=_HALF)
    with halves.cell():
        show_picture(
            draw_paths(shown, state.theme_palette(), cut=cut),
            "paths-picture",
            height=paths_height(len(paths)),
            alt="Two-hop paths: " + "; ".join(f"through {path.name}" for path in paths),
            on_pick=click if can_cut else None,
        )
    with halves.cell():
        st.session_state[_PATHS_TABLE] = ticked_rows(
            [row for row, path in enumerate(paths) if path.middle in gone] + [len(paths)] * is_off
        )
        st.dataframe(
            _path_table(shown, paths, cut, part, is_off=is_off),
            hide_index=True,
            key=_PATHS_TABLE,
            on_select=partial(_cut_ticked, choose, [path.middle for path in paths]) if can_cut else "ignore",
            selection_mode="multi-row",
            height=_height(len(paths)),
            column_config={"Through": st.column_config.TextColumn(width=140), **_RIGHT},
        )
        quiet(markdown_text(describe_paths(shown, part)))


_WIDTHS: Final = {"Points": 58, "Rank without it": 112, "Ago": 64}
_RIGHT: Final = {name: st.column_config.TextColumn(alignment="right", width=px) for name, px in _WIDTHS.items()}


def _height(rows: int) -> int | Literal["content"]:
    return _TABLE_HEIGHT if rows > _MOST_ROWS else "content"


def _path_table(
    shown: CaseExplanation, paths: list[PathTerms], cut: tuple[PathTerms, ...], part: str, *, is_off: bool
) -> pd.DataFrame:
    """One row per path, and one for the part that reads them all."""
    without = next((entry.rank for entry in shown.without if entry.name == part), None)
    ranks = ["cut" if path in cut else moved_rank(path.rank_without, shown.target_rank) for path in paths]
    points, whole = [path.points for path in paths], shown.a.groups.get(part)
    table = pd.DataFrame(
        {
            "Through": [*(path.name for path in paths), "All paths" if part == PATHS else part_label(part)],
            "Points": ["–" if added is None else signed(added, 2) for added in (*points, whole)],
            "Rank without it": [*ranks, "out" if is_off else moved_rank(without, shown.target_rank)],
        }
    )
    return table if whole is not None else table.drop(columns="Points")


def _cut_ticked(choose: Choose, middles: list[int]) -> None:
    rows = set(st.session_state[_PATHS_TABLE]["selection"]["rows"])
    choose({middle for row, middle in enumerate(middles) if row in rows}, off=len(middles) in rows)


def _visits(source: Source, before: CaseExplanation, shown: CaseExplanation, edits: Edits) -> None:
    if not any(place.visits for place in before.visits):
        quiet(sentences.NO_VISIT)
        return
    show_picture(
        draw_visits(shown, state.theme_palette()), "visits", height=VISITS_PX, alt=case_words.visits_alt(shown)
    )
    removed = {edit.visit for edit in edits if isinstance(edit, RemoveVisit)}
    now = {visit.visit: visit for place in shown.visits for visit in place.visits}
    listed = [
        (place.name, now.get(visit.visit, visit))
        for place in before.visits
        for visit in place.visits[::-1]
        if visit.rank_without is not None or visit.visit in removed
    ]
    if not listed:
        return
    rows = [
        {
            "Place": name,
            "When": f"{day(moment)}, {moment:%H:%M}",
            "Ago": days(visit.days_ago),
            "Points": "–" if visit.points is None else signed_points(visit.points),
            "Rank without it": "removed"
            if visit.visit in removed
            else moved_rank(visit.rank_without, shown.target_rank),
        }
        for name, visit in listed
        for moment in [datetime.fromisoformat(visit.local_time)]
    ]
    points = st.column_config.TextColumn(alignment="right", width=58, help=sentences.VISIT_POINTS_HELP)
    widths = {name: st.column_config.TextColumn(width=px) for name, px in (("Place", 150), ("When", 124))}
    look = {"height": _height(len(rows)), "column_config": {**widths, **_RIGHT, "Points": points}}
    numbers = [visit.visit for _, visit in listed]
    visits_table(source, shown.moment, edits, numbers, rows, "visits-table", **look)
    quiet(markdown_text(describe_visits(shown)))


def _curves(source: Source, shown: CaseExplanation) -> None:
    learned = explanations.learned(source)
    curves = [curve for curve in learned.curves if curve.name in shown.a.terms]
    curves.sort(key=lambda curve: -abs(shown.a.terms[curve.name] - shown.b.terms[curve.name]))
    curves = curves[:_CURVES_SHOWN]
    values = explanations.feature_values(source, shown.moment, shown.edits, (shown.target, shown.runner_up))
    columns = _CURVES_A_ROW[state.window_width()]
    figure = drawn(plot_curves, curves, marks=values, roles=shown.roles, others=learned.others, columns=columns)
    show_figure(figure, "curves", describe_curves(curves))
    marks = [
        f":{COLOURS[role]}[{'◯' if role == 'truth' else '●'} {markdown_text(entry.name)}]"
        for entry, role in zip((shown.a, shown.b), shown.roles, strict=True)
    ]
    st.markdown(sentences.curves_line("  ".join(marks)))


def _map(source: Source, shown: CaseExplanation) -> None:
    st.pydeck_chart(
        maps.draw_map(source, explain_deck, shown, open_workspace(source).at(shown.moment)),
        height=_MAP_HEIGHT,
        key="explain-map",
        alt=case_words.case_map_alt(shown),
    )


def _stability(source: Source, shown: CaseExplanation) -> None:
    with st.spinner("Running the robustness checks"):
        checks = explanations.check(source, shown)
    explained = "  \n".join(f"**{name}**: {sentence}" for name, sentence in EXPLAINED.items())
    st.markdown(describe_checks(checks), help=explained)
    table = pd.DataFrame([check.cells for check in checks]).set_index("Contribution")
    if state.window_width() == "phone":
        table = table[["Without it", "Is it stable?"]]
    st.table(table, border="horizontal")  # a plain table wraps
