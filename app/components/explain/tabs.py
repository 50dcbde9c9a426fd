"""What Explain shows below the score, one part at a time: paths, past visits, curves, map, stability."""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.explain.explanation import CaseExplanation
from analysis.explain.robustness import EXPLAINED, describe_checks
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.curves import describe_curves, plot_curves
from analysis.figures.explain import plot_paths, plot_visits
from analysis.formatting import ordinal, signed, signed_points
from app import state
from app.cached import explanations, maps
from app.cached.figures import drawn
from app.components.chart_table import ticked_row
from app.components.explain.more_edits import pick_place
from app.components.explain.what_if import cut_path, remove_visit
from app.components.text import quiet
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

MAP_HEIGHT: Final = 330
_NARROWEST: Final = 260
_CURVES_SHOWN: Final = 8


def show_tabs(source: Source, shown: CaseExplanation) -> None:
    """The chosen part alone is drawn."""
    parts = {
        "Two-hop paths": _paths,
        "Past visits": _visits,
        "Curves": _curves,
        "Map": _map,
        "Is it stable?": _stability,
    }
    names = list(parts)
    chosen = st.segmented_control(
        "Show", names, default=names[0], required=True, key="explain-tab", label_visibility="collapsed"
    )
    with st.container(key="explain-tab-content"):
        parts[chosen if chosen in names else names[0]](source, shown)


def moved(shown: CaseExplanation, rank: float | None) -> str:
    """A rank next to the one as it is."""
    if rank is None:
        return "–"
    return f"stays {ordinal(rank)}" if rank == shown.target_rank else ordinal(rank)


def _paths(source: Source, shown: CaseExplanation) -> None:
    if not shown.paths:
        quiet(f"No two-hop path leads to {markdown_text(shown.target_name)}.")
        return
    halves = st.grid(2, min_column_width=_NARROWEST)
    with halves.cell():
        event = st.plotly_chart(
            drawn(plot_paths, shown),
            theme=None,
            config=PLOT_CONFIG,
            key="paths-graph",
            on_select="rerun",
            selection_mode="points",
            alt="Two-hop paths: " + "; ".join(f"through {path.name}" for path in shown.paths),
        )
    has_points = shown.paths[0].points is not None
    rows = [
        {
            "Through": path.name,
            **({"Points": signed(path.points, 3)} if path.points is not None else {}),
            "Rank without it": moved(shown, path.rank_without),
        }
        for path in shown.paths
    ]
    with halves.cell():
        row_event = st.dataframe(
            pd.DataFrame(rows), hide_index=True, key="paths-table", on_select="rerun", selection_mode="single-row"
        )
        whose = "other users' transitions" if has_points else "transitions"
        first = shown.paths[0]
        quiet(
            f"{first.count_in:,} of the {first.total_in:,} {whose} from {markdown_text(shown.source_name)} went to "
            f"{markdown_text(first.name)}. Each path is removed alone; removals need not add up."
        )
    clicked = [point.get("customdata") for point in event["selection"]["points"]] if event else []
    middles = [value[0] if isinstance(value, list) else value for value in clicked if value is not None]
    row = ticked_row(row_event, len(shown.paths))
    middle = int(middles[0]) if middles else None if row is None else shown.paths[row].middle
    path = next((path for path in shown.paths if path.middle == middle), None)
    if path is not None and path.rank_without is not None:
        label = f"Remove the path through {markdown_text(path.name)}"
        st.button(label, key="cut-path", on_click=cut_path, args=(source, shown.case, path.middle, shown.target))
        if pick_place("paths", path.middle):
            st.rerun()


def _visits(source: Source, shown: CaseExplanation) -> None:
    if not any(place.visits for place in shown.visits):
        quiet("The user had been to neither place before.")
        return
    st.plotly_chart(
        drawn(plot_visits, shown),
        theme=None,
        config=PLOT_CONFIG,
        key="visits",
        alt="; ".join(f"{place.name}: {len(place.visits)} visits" for place in shown.visits),
    )
    listed = [
        (place, visit) for place in shown.visits for visit in place.visits[::-1] if visit.rank_without is not None
    ]
    rows = [
        {
            "Place": place.name,
            "When": visit.local_time.replace("T", " ")[:16],
            "Points": "–" if visit.points is None else signed_points(visit.points),
            "Rank without it": moved(shown, visit.rank_without),
        }
        for place, visit in listed
    ]
    if not rows:
        return
    event = st.dataframe(
        pd.DataFrame(rows), hide_index=True, key="visits-table", on_select="rerun", selection_mode="single-row"
    )
    quiet(f"Points and rank are those of {markdown_text(shown.target_name)}; each visit is removed alone.")
    row = ticked_row(event, len(rows))
    if row is not None:
        label = f"Remove the visit of {rows[row]['When']}"
        st.button(label, key="remove-visit", on_click=remove_visit, args=(source, shown.case, listed[row][1].visit))


def _curves(source: Source, shown: CaseExplanation) -> None:
    learned = explanations.learned(source)
    curves = [curve for curve in learned.curves if curve.name in shown.a.terms]
    curves.sort(key=lambda curve: -abs(shown.a.terms[curve.name] - shown.b.terms[curve.name]))
    curves = curves[:_CURVES_SHOWN]
    values = explanations.feature_values(source, shown.case, shown.edits, (shown.target, shown.runner_up))
    figure = drawn(plot_curves, curves, marks=values, roles=shown.roles, others=learned.others)
    st.plotly_chart(figure, theme=None, config=PLOT_CONFIG, key="curves", alt=describe_curves(curves))
    quiet("The curves on which the two places differ most, on one scale. Bars: how candidates' values are spread.")


def _map(source: Source, shown: CaseExplanation) -> None:
    online = bool(st.session_state.get("tiles"))
    deck = maps.explain_map(source, shown, state.theme_palette().theme, online=online)
    through = ", ".join(path.name for path in shown.paths) or "no place"
    event = st.pydeck_chart(
        deck,
        height=MAP_HEIGHT,
        key="explain-map",
        on_select="rerun",
        alt=f"Map from {shown.source_name} to {shown.target_name}, two hops through {through}; and {shown.b.name}",
    )
    credit = maps.attribution(source, online=online)
    if credit:
        quiet(markdown_text(credit))
    clicked = event["selection"]["objects"].get("places", []) if event else []
    if clicked and clicked[0].get(c.POI) is not None:
        pick_place("map", int(clicked[0][c.POI]))


def _stability(source: Source, shown: CaseExplanation) -> None:
    with st.spinner("Running the robustness checks"):
        checks = explanations.check(source, shown)
    st.markdown(describe_checks(checks))
    st.dataframe(pd.DataFrame([check.cells for check in checks]), hide_index=True, key="robustness", height="content")
    quiet("  \n".join(f"{name}: {sentence}" for name, sentence in EXPLAINED.items()))
