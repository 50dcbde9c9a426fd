"""One case for both sides: where the user was and what each side predicts."""

import math

import pandas as pd
import streamlit as st

from analysis.figures.map_ground import draw_ground, to_png
from analysis.figures.map_image import draw_marks
from analysis.figures.palette import Theme, palette_of
from analysis.figures.walk_marks import walk_marks
from analysis.formatting import ordinal, times
from analysis.phrases import phrase
from analysis.trajectories.cameras import fit_predictions
from analysis.trajectories.predictions import CasePrediction, recorded_prediction
from analysis.trajectories.trajectory import Trajectory, read_trajectory
from app import state
from app.cached import comparisons, maps
from app.cached.comparisons import BY_OPTION, Option
from app.cached.workspace import open_workspace
from app.components.text import quiet, section
from app.pages import EXPLAIN, WALK
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

_LISTED = 8


def current_open(num_cases: int) -> int | None:
    """The case that a link or a row opened; None for none."""
    asked = state.incoming("open")
    if asked is not None and asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked) < num_cases:
        st.session_state["open"] = int(asked)
    elif asked is not None:
        st.warning("The link's case is not in this dataset, so none is opened.")
        st.session_state["open"] = None
    case = st.session_state.get("open")
    case = case if case is not None and case < num_cases else None
    state.write_param("open", None if case is None else str(case))
    return case


def show_side_by_side(source: Source, a: Option, b: Option, case: int) -> None:
    """Both sides' map and best places, with the ways to Walk and Explain."""
    opened = open_workspace(source)
    row = opened.case(case)
    names = [markdown_text(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET)]
    section(f"{names[0]} → :orange[{names[1]}]")
    with st.container(horizontal=True, vertical_alignment="center"):
        quiet(f"Case {case}. The step was seen {times(int(row[c.TRANSITION_COUNT]))} in training.", width="content")
        st.space("stretch")
        st.button("Close", icon=":material/close:", type="tertiary", key="close-case", on_click=_close)
    halves = st.grid(2, min_column_width=380, gap="medium", border=True)
    for name, option in (("a", a), ("b", b)):
        with halves.cell():
            rank = comparisons.read_side(source, option).ranks()[case]
            several = len(option.checkpoints) > 1 or option.kept_seeds
            of = " (the median over seeds; below, its first seed)" if several else ""
            colour = "blue" if name == "b" else "gray"
            label = markdown_text(option.label)
            told = "does not list it" if math.isnan(rank) else f"ranks it {ordinal(rank)}"
            st.markdown(f"**:{colour}[{label}]** {told}{of}.")
            _walk(source, a, b, option, name, case)


def _close() -> None:
    st.session_state["open"] = None


def _walk(source: Source, a: Option, b: Option, option: Option, name: str, case: int) -> None:
    image, prediction = _pictures(source, a, b, case, state.theme_palette().theme)[option.token]
    st.image(image, width="stretch")
    table, chips = prediction.candidates, ("Revisit", phrase("chip_two"))
    listed = table.head(_LISTED)
    if not listed["truth"].any():
        listed = pd.concat([listed, table[table["truth"]]])
    st.dataframe(
        pd.DataFrame(
            {
                "Rank": [ordinal(rank) if pd.notna(score) else "–" for rank, score in _ranks(listed)],
                "Place": [f"{'◎ ' if truth else ''}{label}" for label, truth in _names(listed)],
                "Reach": [
                    [chip for chip, there in zip(chips, pair, strict=True) if there]
                    for pair in zip(listed["revisit"], listed[c.WITHIN_TWO_HOPS], strict=True)
                ],
            }
        ),
        hide_index=True,
        key=f"beside-list-{name}",
        height="content",
        column_config={
            "Rank": st.column_config.TextColumn(width=70),
            "Reach": st.column_config.MultiselectColumn(options=list(chips), color=["violet", "green"]),
        },
        alt=f"The best predictions of {option.label}; ◎ is the true next place",
    )
    if option.shown is None:  # a counter has only what is shown here
        return
    with st.container(horizontal=True):
        for page in (WALK, EXPLAIN):
            if st.button(
                f"Open in {page.title}",
                icon=":material/arrow_forward:",
                icon_position="right",
                type="tertiary",
                key=f"beside-open-{page.name}-{name}",
            ):
                st.switch_page(page.path, query_params=state.link_to(option.shown, case=str(case)))


@st.cache_resource(
    max_entries=128, show_spinner=False, hash_funcs=BY_OPTION | {Trajectory: lambda trajectory: trajectory.number}
)
def _pictures(source: Source, a: Option, b: Option, case: int, theme: Theme) -> dict[str, tuple[bytes, CasePrediction]]:
    """Both sides' maps and predictions, by the side's token, on one stretch that holds the best of both."""
    opened = open_workspace(source)
    predictions = {
        side.token: recorded_prediction(opened, comparisons.listed_records(source, side), case) for side in (a, b)
    }
    trajectory = read_trajectory(opened, case)
    camera = fit_predictions(opened, list(predictions.values()))
    palette = palette_of(theme)
    ground, _ = draw_ground(maps.flat_ground(source), camera, palette)
    pictures = {}
    for token, prediction in predictions.items():
        image = ground.copy()
        draw_marks(image, walk_marks(opened, trajectory, prediction, camera=camera), palette)
        pictures[token] = to_png(image, quick=True), prediction
    return pictures


def _ranks(listed: pd.DataFrame) -> zip:
    return zip(listed[c.RANK], listed[c.SCORE], strict=True)


def _names(listed: pd.DataFrame) -> zip:
    return zip(listed["name"], listed["truth"], strict=True)
