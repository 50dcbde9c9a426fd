"""Explain: one prediction as an exact sum, its paths and visits, in words, and what edits would change."""

import pandas as pd
import streamlit as st

from analysis.edits import write_edits
from analysis.full_explanation import FullExplanation
from analysis.report import render_page
from analysis.sentences import PieceKind, Sentence
from analysis.words import ordinal, points
from app import cache, explaining, state, words
from app.components.deeper import show_deeper
from app.components.empty import no_source
from app.components.evidence import show_ledger, show_left_out, show_map, show_paths, show_visits
from app.components.guard import guarded
from app.components.toolbar import downloads, source_picker
from app.components.what_if import current_edits, tray
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
        show_ledger(shown)
        show_left_out(shown)
    with grid.cell(), st.container(border=True):
        tray(source, case, before, shown, sequence)
    halves = st.grid(2, min_column_width=480)
    with halves.cell():
        show_paths(source, shown)
    with halves.cell():
        show_visits(shown)
    lower = st.grid(2, min_column_width=480)
    with lower.cell():
        show_map(source, shown)
    with lower.cell():
        show_deeper(source, shown)


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


view()
