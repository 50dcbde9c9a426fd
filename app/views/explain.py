"""Explain: one prediction as an exact sum, its paths and visits, in words, and what edits would change."""

import pandas as pd
import streamlit as st

from analysis.edits import write_edits
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.explain import describe_ledger, plot_ledger, plot_paths, plot_visits
from analysis.figures.explain_map import explain_deck
from analysis.full_explanation import FullExplanation
from analysis.report import render_page
from analysis.sentences import PieceKind, Sentence
from analysis.words import clock, ordinal, percent, points, share, signed_points
from app import cache, explaining, state, words
from app.components.empty import no_source
from app.components.guard import guarded
from app.components.toolbar import downloads, source_picker
from app.components.what_if import WEEKDAY_NAMES, current_edits, cut_edge, tray
from app.sources import Source

_COLOURS: dict[PieceKind, str] = {"target": "orange", "rival": "blue"}


@guarded
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    if source.checkpoint_folder is None:
        st.title("No model to explain yet", anchor=False)
        st.markdown("A counting baseline has no parts to take apart. Train a checkpoint first:")
        st.code("recap train DATA --preset quick --out CHECKPOINT", language="bash")
        return
    opened = cache.open_dataset(source)
    case = state.current_case(len(opened.cases))
    sequence = current_edits(source, case)
    original = explaining.explain(source, case, None, "")
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source, width=260)
        _case_input(len(opened.cases))
        against = _rival_picker(source, original)
        register = st.segmented_control(
            "Words",
            ("stakeholder", "researcher"),
            default="stakeholder",
            required=True,
            format_func={"stakeholder": "Plain words", "researcher": "The paper's words"}.__getitem__,
            key="register",
            bind="query-params",
            label_visibility="collapsed",
        )
        st.space("stretch")
        exports = st.container(horizontal=True, width="content")
    before = original if against is None else explaining.explain(source, case, against, "")
    edits = write_edits(sequence.done)
    shown = explaining.explain(source, case, before.rival, edits) if edits else before
    with exports:
        _export(shown)
    _answer(shown, register or "stakeholder")
    grid = st.grid(3, min_column_width=380)
    with grid.cell(column_span=2):
        _ledger(shown)
    with grid.cell(), st.container(border=True):
        tray(source, case, before, shown, sequence)
    halves = st.grid(2, min_column_width=480)
    with halves.cell():
        _paths(source, shown)
    with halves.cell():
        _visits(shown)
    lower = st.grid(2, min_column_width=480)
    with lower.cell():
        _left_out(shown)
    with lower.cell():
        _map(source, shown)


def _case_input(total: int) -> None:
    st.session_state["explained_case"] = st.session_state["case"]
    st.number_input(
        "Case",
        0,
        total - 1,
        key="explained_case",
        label_visibility="collapsed",
        width=150,
        on_change=lambda: state.set_case(int(st.session_state["explained_case"])),
        help=f"Test cases 0 to {total - 1:,}; Walk and Long tail open them here.",
    )


def _rival_picker(source: Source, original: FullExplanation) -> int | None:
    """Any two candidates: the truth is held against the chosen place; a link may name any place."""
    num_pois = original.num_places
    asked = state.incoming("against")
    if asked is not None:
        valid = asked.isdigit() and len(asked) < 10 and int(asked) < num_pois and int(asked) != original.target
        st.session_state["rival"] = (original.case, int(asked)) if valid else None
        if not valid:
            st.warning("The link's second place is not in this dataset, so the first one is shown.")
    ranks = {entry.poi: f"vs {entry.name}, {ordinal(entry.rank)}" for entry in original.candidates}
    options = [poi for poi in ranks if poi != original.target]
    owner, chosen = st.session_state.get("rival") or (None, None)
    if owner != original.case or chosen == original.target:
        chosen = None
    if chosen is not None and chosen not in options:
        options.append(chosen)
        ranks[chosen] = f"vs {cache.open_dataset(source).labels[chosen]}"
    default = original.rival
    st.session_state["rival_pick"] = default if chosen is None else chosen
    st.selectbox(
        "Held against",
        options,
        key="rival_pick",
        format_func=lambda poi: ranks.get(poi, str(poi)),
        label_visibility="collapsed",
        width=250,
        on_change=lambda: st.session_state.update(rival=(original.case, st.session_state["rival_pick"])),
    )
    state.write_param("against", None if chosen is None else str(chosen))
    return chosen


def _export(shown: FullExplanation) -> None:
    tables = {
        "Ledger": pd.DataFrame([entry.model_dump() for entry in shown.candidates]),
        "Paths": pd.DataFrame([path.model_dump() for path in shown.paths]),
        "Without": pd.DataFrame(
            [entry.item.model_dump() | entry.outcome.model_dump() for entry in shown.leave_one_out or []]
        ),
    }
    downloads(tables, key="explain")
    st.download_button(
        "Report",
        data=lambda: render_page([shown]).encode(),
        file_name=f"recap-case-{shown.case}.html",
        mime="text/html",
        icon=":material/description:",
        on_click="ignore",
        help="One page with everything below; opens offline.",
    )
    st.download_button(
        "JSON",
        data=lambda: shown.model_dump_json().encode(),
        file_name=f"recap-case-{shown.case}.json",
        mime="application/json",
        icon=":material/data_object:",
        on_click="ignore",
    )


def _answer(shown: FullExplanation, register: str) -> None:
    margin = shown.contrast.margin
    verdict = f"wins by {points(-margin)}" if margin < 0 else f"is behind by {points(margin)}"
    target, rival = words.plain(shown.target_name), words.plain(shown.contrast.b.name)
    rank = f"comes {ordinal(shown.target_rank)} of {shown.num_places:,}"
    st.title(f":orange[{target}] {rank}. :blue[{rival}] {verdict}.", anchor=False)
    st.markdown(" ".join(_coloured(sentence) for sentence in shown.sentences[register]))
    if shown.inactive_terms:
        names = ", ".join(name.replace("_", " ") for name in shown.inactive_terms)
        st.caption(f"Inactive at this epoch or switched off: {words.plain(names)}.")


def _coloured(sentence: Sentence) -> str:
    pieces = []
    for piece in sentence.pieces:
        text = words.plain(piece.text)
        lead, tail = (" " if piece.text[:1] == " " else ""), (" " if piece.text[-1:] == " " else "")
        colour = _COLOURS.get(piece.kind)
        pieces.append(f"{lead}:{colour}[{text}]{tail}" if colour else f"{lead}{text}{tail}")
    return "".join(pieces)


def _ledger(shown: FullExplanation) -> None:
    st.subheader("Where the points come from", anchor=False)
    st.plotly_chart(
        plot_ledger(shown, state.theme_palette()),
        theme=None,
        config=PLOT_CONFIG,
        key="ledger",
        alt=describe_ledger(shown),
    )
    residual = max(abs(entry.residual) for entry in shown.candidates)
    clipped = [entry.name for entry in (shown.contrast.a, shown.contrast.b) if entry.is_clipped]
    clip = f"Clipped: {words.plain(', '.join(clipped))}." if clipped else "Prior not clipped."
    identity = f"Total = core + prior + correction, rounded; largest residual {residual:.0e}."
    st.caption(f"{identity} {clip} The graph acts inside core.")


def _paths(source: Source, shown: FullExplanation) -> None:
    st.subheader("Two hops that reach it", anchor=False)
    if not shown.path_evidence:
        st.caption("No two-hop path leads there in training.")
        return
    in_token = shown.num_hops == 2 and "graph_token" not in shown.inactive_terms
    badge = "They are in the token." if in_token else "The token does not hold them at this checkpoint."
    st.caption(
        f"Line width is the share of the two-hop probability, {share(shown.a2_source_target)} in all. {badge} "
        "Click a middle place to cut it."
    )
    picked = st.session_state.get("cut_middle")
    event = st.plotly_chart(
        plot_paths(shown, state.theme_palette(), picked),
        theme=None,
        config=PLOT_CONFIG,
        key="paths-graph",
        on_select="rerun",
        selection_mode="points",
        alt="Two-hop paths: " + "; ".join(f"via {path.name}, share {path.share:.3f}" for path in shown.path_evidence),
    )
    clicked = [point.get("customdata") for point in event["selection"]["points"]] if event else []
    middles = [value[0] if isinstance(value, list) else value for value in clicked if value is not None]
    if middles:
        cut = next((path for path in shown.path_evidence if path.middle == int(middles[0])), None)
        if cut is not None:
            _cut_card(source, shown, cut.middle)
    rows = [
        {
            "Through": path.name,
            "Steps": f"{path.count_in:,} and {path.count_out:,}",
            "Share": share(path.share),
            "Rank if cut, frozen": _moved(shown, path.frozen.rank if path.frozen else None),
            "Recounted": _moved(shown, path.recounted_in.rank if path.recounted_in else None),
        }
        for path in shown.path_evidence
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption("Counterfactual ranks. Frozen takes one product out; recounted removes the first edge and renormalises.")


def _cut_card(source: Source, shown: FullExplanation, middle: int) -> None:
    """What one clicked path rests on, and a way to cut it for good."""
    path = next(item for item in shown.path_evidence if item.middle == middle)
    with st.expander(f"Through {words.plain(path.name)}: training rows", expanded=True):
        for rows, title in ((path.rows_in, "Into it"), (path.rows_out, "Out of it")):
            st.caption(title)
            table = pd.DataFrame({"Walker": rows.walkers, "Trajectory": rows.trajectories, "Time (UTC)": rows.times})
            st.dataframe(table, hide_index=True, height=min(38 * (len(table) + 1), 200))
        st.button(
            "Cut it: remove the first edge",
            icon=":material/content_cut:",
            on_click=cut_edge,
            args=(source, shown.case, shown.source, middle),
        )


def _moved(shown: FullExplanation, rank: float | None) -> str:
    if rank is None:
        return "–"
    return f"stays {ordinal(rank)}" if rank == shown.target_rank else f"{ordinal(shown.target_rank)} → {ordinal(rank)}"


def _visits(shown: FullExplanation) -> None:
    st.subheader("Visits before this moment", anchor=False)
    if "prior" in shown.inactive_terms:
        st.caption("The revisit prior is inactive here, so these visits do not act on the scores.")
    else:
        st.caption("One dot per visit, stronger when fresher; a rim marks the recent window.")
    st.plotly_chart(
        plot_visits(shown, state.theme_palette()),
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
            "In window": "yes" if evidence.in_recent_window else "no",
            "Gate": "–" if evidence.gate is None else signed_points(evidence.gate),
            "Its effect": signed_points(evidence.correction),
        }
        for evidence in shown.revisits
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def _moment(weekday: int | None, hour: float | None) -> str:
    return "–" if weekday is None or hour is None else f"{WEEKDAY_NAMES[weekday]} {clock(hour)}"


def _left_out(shown: FullExplanation) -> None:
    st.subheader("Without one piece of evidence", anchor=False)
    rows = [
        {
            "Without": entry.item.label,
            "Score": signed_points(entry.outcome.logit_change),
            "Chance": percent(entry.outcome.probability),
            "Rank": _moved(shown, entry.outcome.rank),
        }
        for entry in shown.leave_one_out or []
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption("Each row is a forward pass without that item alone; the changes need not add up.")


def _map(source: Source, shown: FullExplanation) -> None:
    st.subheader("On the map", anchor=False)
    palette = state.theme_palette()
    style = cache.map_style(source.dataset_hash, palette.theme, source)
    st.pydeck_chart(
        explain_deck(shown, cache.open_dataset(source), map_style=style, palette=palette), height=330, key="explain-map"
    )


view()
