"""The parts of Explain: ledger, paths, visits, leave-one-out and map of one explanation."""

import pandas as pd
import streamlit as st
from analysis.records.score_rows import ROW_LABELS, row_of_term

from analysis.explain.clues import clues, evidence_label, points_of
from analysis.explain.evidence_items import item_label
from analysis.explain.explanation import FullExplanation
from analysis.explain.revisits import RevisitEvidence
from analysis.figures.case_layout import part_is_active, shown_parts
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.explain import plot_paths, plot_visits
from analysis.formatting import MINUS, chance, ordinal, share, signed_points, time_of_day
from analysis.phrases import phrase
from app import state
from app.cached import maps
from app.cached.figures import drawn
from app.components.chart_table import ticked_row
from app.components.explain.more_edits import pick_place
from app.components.explain.score_panels import show_score_panels
from app.components.explain.what_if import WEEKDAY_NAMES, cut_edge
from app.components.text import quiet, section
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

MAP_HEIGHT = 330


def show_score_parts(shown: FullExplanation) -> None:
    """The ledger, its residual, and whether the clip binds."""
    section("Where the points come from")
    show_score_panels(shown, "ledger")
    residual = max(abs(entry.residual) for entry in shown.candidates)
    clipped = [entry.name for entry in (shown.contrast.a, shown.contrast.b) if entry.is_clipped]
    told = []
    more = phrase("identity_evidence") if "evidence" in shown_parts(shown) else ""
    left = f"{residual:.0e}".replace("-", MINUS)
    if shown.weighs_evidence_alone:
        told.append(phrase("identity_clues", residual=left))
    else:
        told.append(phrase("identity", evidence=more, residual=left))
    if part_is_active("prior", shown):
        if shown.weighs_evidence_alone:
            told.append(phrase("habit_in_rows"))
        told.append(phrase("clipped", names=markdown_text(", ".join(clipped))) if clipped else phrase("not_clipped"))
    if "graph_token" not in shown.inactive_terms and not shown.weighs_evidence_alone:
        told.append(phrase("graph_in_core"))
    quiet(" ".join(told))
    _evidence_terms(shown)


def _evidence_terms(shown: FullExplanation) -> None:
    """The evidence of both places, clue by clue, largest first; nothing in a model without evidence."""
    a, b = shown.contrast.a.evidence_terms, shown.contrast.b.evidence_terms
    if not a and not b:
        return
    in_rows = shown.weighs_evidence_alone  # its ledger adds terms up already: here each stands alone
    told = {name: (name,) for name in {**a, **b}} if in_rows else clues({**a, **b})
    both = [(label, points_of(a, clue), points_of(b, clue)) for label, clue in told.items()]
    rows = [
        {
            phrase("terms_column"): evidence_label(label) if in_rows else label,
            **({"Row": ROW_LABELS[row_of_term(label)]} if in_rows else {}),
            "A": signed_points(mine),
            "B": signed_points(theirs),
            "Difference": signed_points(mine - theirs),
        }
        for label, mine, theirs in sorted(both, key=lambda clue: -max(abs(clue[1]), abs(clue[2])))
    ]
    with st.expander(phrase("terms_title_rows" if in_rows else "terms_title"), icon=":material/table_rows:"):
        first, second = (markdown_text(entry.name) for entry in (shown.contrast.a, shown.contrast.b))
        has_habit = in_rows and part_is_active("prior", shown)
        added = phrase("terms_and_habit" if has_habit else "terms_add_up")
        quiet(f"A is {first}, B is {second}. {added}")
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="evidence-terms")


def show_paths(source: Source, shown: FullExplanation) -> None:
    """The clickable graph and the ranks if a path is cut."""
    section(phrase("paths_title"))
    if not shown.path_evidence:
        quiet(phrase("no_path"))
        return
    in_token = shown.num_hops == 2 and "graph_token" not in shown.inactive_terms
    has_addends = shown.path_evidence[0].addend is not None
    badge = phrase("in_token" if in_token else "only_addends" if has_addends else "not_in_token")
    quiet(phrase("paths_note", share=share(shown.a2_source_target), badge=badge))
    event = st.plotly_chart(
        drawn(plot_paths, shown),
        theme=None,
        config=PLOT_CONFIG,
        key="paths-graph",
        on_select="rerun",
        selection_mode="points",
        alt=f"{phrase('two_hop_path')}s: "
        + "; ".join(f"via {path.name}, share {path.share:.3f}" for path in shown.path_evidence),
    )
    clicked = [point.get("customdata") for point in event["selection"]["points"]] if event else []
    middles = [value[0] if isinstance(value, list) else value for value in clicked if value is not None]
    if middles:
        cut = next((path for path in shown.path_evidence if path.middle == int(middles[0])), None)
        if cut is not None:
            if pick_place("paths-graph", cut.middle):
                st.rerun()  # the tray stands above
            _cut_card(source, shown, cut.middle)
    rows = [
        {
            "Through": path.name,
            "Steps": f"{path.count_in:,} and {path.count_out:,}",
            "Share": share(path.share),
            **({} if path.addend is None else {phrase("path_addend"): signed_points(path.addend)}),
            phrase("rank_frozen"): _moved(shown, path.frozen.rank if path.frozen else None),
            phrase("rank_recounted"): _moved(shown, path.recounted_in.rank if path.recounted_in else None),
        }
        for path in shown.path_evidence
    ]
    row_event = st.dataframe(
        pd.DataFrame(rows), hide_index=True, key="paths-table", on_select="rerun", selection_mode="single-row"
    )
    row = ticked_row(row_event, len(shown.path_evidence))
    if row is not None and not middles:
        middle = shown.path_evidence[row].middle
        if pick_place("paths-table", middle):
            st.rerun()
        _cut_card(source, shown, middle)
    num_cut = sum(path.recounted_in is not None for path in shown.path_evidence)
    if 0 < num_cut < len(shown.path_evidence):
        quiet(f"Cut were the {num_cut} strongest: among {shown.num_places:,} places every cut takes long.")
    quiet(phrase("cuts_note"))


def _cut_card(source: Source, shown: FullExplanation, middle: int) -> None:
    """What one clicked path rests on, and a way to cut it for good."""
    path = next(item for item in shown.path_evidence if item.middle == middle)
    with st.expander(f"Through {markdown_text(path.name)}: {phrase('cut_rows')}", expanded=True):
        for rows, title in ((path.rows_in, "Into it"), (path.rows_out, "Out of it")):
            quiet(title)
            table = pd.DataFrame({"Walker": rows.walkers, "Trajectory": rows.trajectories, "Time (UTC)": rows.times})
            st.dataframe(table, hide_index=True, height=min(38 * (len(table) + 1), 200))
        st.button(
            phrase("cut_button"),
            icon=":material/content_cut:",
            on_click=cut_edge,
            args=(source, shown.case, shown.source, middle),
        )


def _moved(shown: FullExplanation, rank: float | None) -> str:
    if rank is None:
        return "–"
    return f"stays {ordinal(rank)}" if rank == shown.target_rank else f"{ordinal(shown.target_rank)} → {ordinal(rank)}"


def show_visits(shown: FullExplanation) -> None:
    """The timeline and the statistics behind the prior and the gate."""
    section("Visits before this moment")
    has_gate = part_is_active("correction", shown)
    acts_as_clue = "evidence" in shown_parts(shown) and part_is_active("evidence", shown)
    off = "prior_off_clues" if acts_as_clue else "prior_off"
    quiet(phrase("visits_note" if part_is_active("prior", shown) else off))
    st.plotly_chart(
        drawn(plot_visits, shown),
        theme=None,
        config=PLOT_CONFIG,
        key="visits",
        alt="; ".join(f"{evidence.name}: {evidence.count} visits" for evidence in shown.revisits),
    )
    rows = [
        {
            "Place": evidence.name,
            "Visits": f"{evidence.count:,}",
            "Last, steps ago": "–" if evidence.recency_steps is None else f"{evidence.recency_steps:,}",
            "Last at": _moment(evidence.last_weekday, evidence.last_hour),
            "Now": _moment(evidence.now_weekday, evidence.now_hour),
            phrase("in_window"): "yes" if evidence.in_recent_window else "no",
            **(_gate(evidence) if has_gate else {}),
        }
        for evidence in shown.revisits
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def _gate(evidence: RevisitEvidence) -> dict[str, str]:
    gate = "–" if evidence.gate is None else signed_points(evidence.gate)
    return {phrase("gate"): gate, phrase("gate_effect"): signed_points(evidence.correction)}


def _moment(weekday: int | None, hour: float | None) -> str:
    return "–" if weekday is None or hour is None else f"{WEEKDAY_NAMES[weekday]} {time_of_day(hour)}"


def show_left_out(shown: FullExplanation) -> None:
    """Every item alone taken away."""
    section(phrase("left_out_title"))
    rows = [
        {
            "Without": item_label(entry.item),
            "Score": signed_points(entry.outcome.logit_change),
            "Model share": chance(entry.outcome.probability),
            "Rank": _moved(shown, entry.outcome.rank),
            phrase("masked"): "" if entry.masked is None else _moved(shown, entry.masked.rank),
        }
        for entry in shown.leave_one_out or []
    ]
    table = pd.DataFrame(rows)
    if not any(entry.masked for entry in shown.leave_one_out or []):
        table = table.drop(columns=phrase("masked"), errors="ignore")
    st.dataframe(table, hide_index=True, height=300)
    quiet(phrase("left_out_note"))


def show_map(source: Source, shown: FullExplanation) -> None:
    """Paths and places on the map."""
    section("On the map")
    deck = maps.explain_map(source, shown, state.theme_palette().theme, online=bool(st.session_state.get("tiles")))
    through = ", ".join(path.name for path in shown.path_evidence) or "no place"
    event = st.pydeck_chart(
        deck,
        height=MAP_HEIGHT,
        key="explain-map",
        on_select="rerun",
        alt=f"Map from {shown.source_name} to {shown.target_name}, two hops through {through}; "
        f"{shown.contrast.b.name} beside it",
    )
    credit = maps.attribution(source, online=bool(st.session_state.get("tiles")))
    if credit:
        quiet(markdown_text(credit))
    clicked = event["selection"]["objects"].get("places", []) if event else []
    if clicked and clicked[0].get(c.POI) is not None:
        pick_place("map", int(clicked[0][c.POI]))
