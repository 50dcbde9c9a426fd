"""Step 2 of Open your data: what each column contains, where the check-ins are, what will be kept."""

import shlex
from pathlib import Path
from typing import Final
from zoneinfo import available_timezones

import numpy as np
import streamlit as st

from analysis.figures.palette import Theme, palette_of
from analysis.figures.points_image import draw_points
from app import state
from app.components.text import quiet, section
from app.uploads import Upload, save_dataset
from recap import columns as c
from recap.data.card import dataset_card
from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, describe_read, preview_rows, read_for_inspection
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins, understand
from recap.data.understanding import Understanding
from recap.data.understanding.proposal import ColumnProposal, Question, option_text
from recap.printable import markdown_text

LEAST: Final = (3, 5, 10)
MOST_POINTS: Final = 1_000
SHOWN_COLUMNS: Final = 12
NOT_USED: Final = "not used"
FIELD_NAMES: Final = {
    "user": "User",
    "poi": "Place",
    "time": "Time",
    "date": "Day",
    "lat": "Latitude",
    "lon": "Longitude",
    "category": "Category",
    "category_id": "Category id",
    "name": "Place name",
    "tz": "Time zone",
    "split": "Split",
    "trajectory": "Trajectory",
}


def show_check(upload: Upload) -> Path | None:
    """Ask whether the file was understood; the folder of the dataset once it was prepared."""
    with st.spinner("Reading the file"):
        found = _understand(upload, _version(upload.path))
    question = found.question
    if question is not None and question.about != "timezone":
        st.title("One thing is unclear", anchor=False)
        _ask(upload, question)
        _show_columns(upload, found)
        _show_way_out(upload)
        return None
    options = found.options if question is None else question.choices[0].options
    with st.spinner("Reading every row"):
        read = _read(found, _version(upload.path))
    config = DataConfig().override([f"min_poi_checkins={upload.least}", f"min_user_checkins={upload.least}"])
    inspection = describe_read(read, config)
    facts = inspection.facts
    st.title(
        f"{facts['check-ins']:,} check-ins of {facts['users']:,} users at {facts['places']:,} places. Is this right?",
        anchor=False,
    )
    dropped = sum(item.rows for item in read.account.reported.values())
    rows = f"{dropped:,} rows cannot be used." if dropped else "Every row was read."
    st.markdown(f"{rows} Please confirm the time zone: the file does not name one." if question else rows)
    _show_columns(upload, found)
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        _show_map(read)
    with halves.cell():
        if question is not None:
            options = _choose_zone(found, options)
        _show_kept(upload, inspection, config)
        prepared = _prepare(upload, found, options, config, inspection)
        _show_problems(inspection)
    _show_way_out(upload)
    return prepared


def _version(path: Path) -> tuple[int, int]:
    """A value that changes when the file does."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs={Upload: lambda one: (one.path, one.options)})
def _understand(upload: Upload, version: tuple[int, int]) -> Understanding:
    return understand(upload.path, "auto", upload.options)


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs={Understanding: lambda found: found.model_dump_json()})
def _read(found: Understanding, version: tuple[int, int]) -> RawRead:
    return read_for_inspection(found)


@st.cache_data(max_entries=4, show_spinner=False)
def _picture(latitude: np.ndarray, longitude: np.ndarray, theme: Theme) -> tuple[bytes, bool]:
    return draw_points(latitude, longitude, palette_of(theme))


def _ask(upload: Upload, question: Question) -> None:
    """One question with its answers."""
    st.markdown(markdown_text(question.text[:1].upper() + question.text[1:]))
    for number, choice in enumerate(question.choices):
        if st.button(markdown_text(choice.label), key=f"answer-{number}"):
            upload.answer(choice.options, upload.least)
            st.rerun()


def _show_columns(upload: Upload, found: Understanding) -> None:
    """Each column with its likely content and why; a published format has none to choose."""
    shown = sorted(found.columns, key=lambda column: column.field is None)[:SHOWN_COLUMNS]
    if not shown:
        quiet(f"Read as {found.source_format}, because {markdown_text(found.why)}.")
        return
    in_order = [column for column in found.columns if column in shown]
    grid = st.grid(min(len(in_order), 6), min_column_width=150)
    for column in in_order:
        with grid.cell():
            _show_column(upload, found, column)
    if len(found.columns) > len(shown):
        quiet(f"{len(found.columns) - len(shown)} more columns are not used.")
    if len(found.layouts) > 1:
        labels = {layout.time_format: layout.label for layout in found.layouts}
        first, *_ = labels
        chosen = st.segmented_control(
            "Times are written", list(labels), default=first, format_func=lambda key: labels[key], width="content"
        )
        if chosen is not None and chosen != first:
            upload.answer(upload.options.model_copy(update={"time_format": chosen}), upload.least)
            st.rerun()


def _show_column(upload: Upload, found: Understanding, column: ColumnProposal) -> None:
    st.markdown(f"**{markdown_text(column.name)}**")
    names = [*FIELD_NAMES] if column.field else [NOT_USED, *FIELD_NAMES]
    picked = st.selectbox(
        markdown_text(column.name),
        names,
        index=names.index(column.field or NOT_USED),
        format_func=lambda name: FIELD_NAMES.get(name, "Not used"),
        key=f"column-{upload.token}-{column.name}-{column.field}",
        label_visibility="collapsed",
    )
    quiet(markdown_text(column.reason) or "&nbsp;")
    values = [markdown_text(value[:24]) or "&nbsp;" for value in column.first[:3]]
    st.markdown("  \n".join(f":small[{value}]" for value in values))
    if picked != (column.field or NOT_USED):
        others = {item.field: item.name for item in found.columns if item.field and item.name != column.name}
        mapping = {**others, picked: column.name}
        given = upload.options.model_copy(update={"columns": mapping, "is_settled": False})
        upload.answer(given, upload.least)
        st.rerun()


def _choose_zone(found: Understanding, options: ReadOptions) -> ReadOptions:
    """The time zone that the coordinates propose, or another."""
    section("Time zone")
    assert found.zone is not None
    zones = sorted({*available_timezones(), found.zone.timezone})
    with st.container(horizontal=True, vertical_alignment="center"):
        zone = st.selectbox(
            "Time zone", zones, index=zones.index(found.zone.timezone), label_visibility="collapsed", width=240
        )
        is_local = st.segmented_control(
            "Times are",
            [True, False],
            default=options.local_times,
            required=True,
            format_func=lambda local: "local times" if local else "UTC",
            label_visibility="collapsed",
        )
    quiet(markdown_text(found.zone.reason))
    return options.model_copy(update={"timezone": zone, "local_times": bool(is_local)})


def _show_map(read: RawRead) -> None:
    section("Where they are")
    every = max(1, len(read.table) // MOST_POINTS)
    points = read.table[[c.LATITUDE, c.LONGITUDE]].iloc[::every].to_numpy(np.float64)
    picture, is_on_land = _picture(points[:, 0], points[:, 1], state.theme_palette().theme)
    st.image(picture, width="stretch", alt="A sample of the check-ins on a map")
    shown = f"{len(points):,} of {len(read.table):,} check-ins."
    quiet(shown if is_on_land else f"{shown} They are not on land: are latitude and longitude swapped?")


def _show_kept(upload: Upload, inspection: Inspection, config: DataConfig) -> None:
    section("What will be kept")
    rows = {"Check-ins kept": inspection.preview.checkins}
    for name, count in preview_rows(inspection, config).items():
        said = name.replace("dropped: ", "left out: ")
        rows[said[:1].upper() + said[1:]] = count
    table = {"What": list(rows), "Rows": [f"{count:,}" for count in rows.values()]}
    st.dataframe(
        table,
        hide_index=True,
        column_config={"Rows": st.column_config.TextColumn(width=80, alignment="right")},
        height="content",
    )
    least = st.segmented_control(
        "Keep places and users with at least … check-ins", LEAST, default=upload.least, required=True, key="least"
    )
    if least is not None and least != upload.least:
        upload.answer(upload.options, least)
        st.rerun()


def _prepare(
    upload: Upload, found: Understanding, options: ReadOptions, config: DataConfig, inspection: Inspection
) -> Path | None:
    stem = Path(found.path).stem.removeprefix("table-")
    name = st.text_input("Name", value=stem[:40], max_chars=40, key=f"name-{upload.token}")
    words = ["recap", "prepare", found.path, "--format", found.source_format]
    fields = [f"min_poi_checkins={upload.least}", f"min_user_checkins={upload.least}"]
    sizes = [word for field in fields for word in ("--set", field)] if upload.least != LEAST[-1] else []
    with st.container(horizontal=True, vertical_alignment="center"):
        go = st.button("Prepare", icon=":material/check:", disabled=not inspection.preview.checkins, key="prepare")
        with st.popover("Copy as command", type="tertiary"):
            st.code(f"{shlex.join([*words, *sizes])} --out data/mine {option_text(options)}", language=None)
    if inspection.preview.refusal:
        st.warning(markdown_text(inspection.preview.refusal))
    if not go:
        return None
    with st.status("Preparing", expanded=True) as status:
        status.write("Reading every row")
        read = read_checkins(Path(found.path), found.source_format, options.model_copy(update={"skip_bad_rows": True}))
        status.write(f"Cleaning and splitting {len(read.table):,} check-ins")
        dataset = prepare_dataset(
            read.table, config, name=name or stem, source_format=found.source_format, reading=read.account
        )
        status.write("Writing the dataset")
        folder = save_dataset(dataset, dataset_card(dataset))
    upload.discard()
    return folder


def _show_problems(inspection: Inspection) -> None:
    """The largest problems first; a line each."""
    problems = sorted(inspection.problems, key=lambda problem: -problem.count)
    if problems:
        with st.expander(f"{len(problems)} things to know"):
            for problem in problems:
                quiet(f"{problem.count:,} {markdown_text(problem.title)}. {markdown_text(problem.advice)}")


def _show_way_out(upload: Upload) -> None:
    if st.button("Open another file", icon=":material/close:", type="tertiary"):
        upload.discard()
        state.write_param("upload", None)
        st.rerun()
