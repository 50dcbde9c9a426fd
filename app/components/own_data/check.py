"""Step 2 of Open your data: what each column contains, where the check-ins are, what will be kept."""

import shlex
from pathlib import Path
from typing import Final
from zoneinfo import available_timezones

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.figures.palette import Theme, palette_of
from analysis.figures.points_image import draw_points
from analysis.formatting import capitalised
from app import state
from app.components.own_data import words
from app.components.own_data.next_file import keep_answers
from app.components.text import choose_one, quiet, section
from app.uploads import Upload, new_dataset_folder
from recap import columns as c
from recap.data.inspection import Inspection, describe_read, look_at
from recap.data.intake import READING, choose_protocol, prepare_input
from recap.data.parsing.options import ONE_PERSON, ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.understanding import Understanding, option_text
from recap.data.understanding.proposal import ColumnProposal
from recap.machine.printable import count_of, markdown_text, shortened

_LEAST: Final = (1, 3, 5, 10)
_MOST_POINTS: Final = 1_000
_MOST_NAMES: Final = 8
_SHOWN_COLUMNS: Final = 12


def show_check(upload: Upload) -> Path | None:
    """Ask whether the file was understood; the folder of the dataset once it was prepared."""
    file = str(upload.path), upload.path.stat().st_mtime_ns, upload.options
    with st.spinner(READING):
        understood, read = _read(*file)
    if read is None:
        _ask(upload, understood)
        _show_columns(upload, understood)
        return None
    table = read.table
    inspection = _describe(*file, upload.changes, read)
    names = ("check-in", "user", "place")
    checkins, users, places = (count_of(int(inspection.facts[f"{name}s"]), name) for name in names)
    unused = sum(item.rows for item in read.account.reported.values())
    st.title(words.IS_THIS_RIGHT.format(checkins=checkins, users=users, places=places), anchor=False)
    rows = words.UNUSED_ROWS.format(rows=unused) if unused else words.EVERY_ROW
    is_open = understood.question is not None or read.proposed_zone is not None
    st.markdown(f"{rows} {words.CONFIRM_ZONE}" if is_open else rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):  # in sight before the columns
        options = _choose_zone(upload, understood, read.proposed_zone)
        actions = st.container(horizontal=True, vertical_alignment="center", width="content")
    if understood.question is not None:
        quiet(markdown_text(understood.question.text))
    state_of_it = st.container()
    _show_columns(upload, understood)
    halves = st.grid(2, min_column_width=380, gap="medium")
    with halves.cell():
        called = table[c.POI_NAME if c.POI_NAME in table else c.POI_ID]
        show_points(*table[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64).T, names=called)
    with halves.cell():
        _show_kept(upload, inspection)
        _show_problems(upload, inspection)
    with state_of_it:
        return _prepare(upload, understood.source_format, options, inspection, actions)


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs={ReadOptions: ReadOptions.model_dump_json})
def _read(path: str, version: int, options: ReadOptions) -> tuple[Understanding, RawRead | None]:
    """`look_at`; ``version`` changes when the file does."""
    return look_at(Path(path), "auto", options)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs={ReadOptions: ReadOptions.model_dump_json})
def _describe(path: str, version: int, options: ReadOptions, changes: list[str], _read: RawRead) -> Inspection:
    return describe_read(_read, choose_protocol(_read.account.source_format, changes=changes)[1])


@st.cache_data(max_entries=4, show_spinner=False)
def _picture(
    latitude: np.ndarray, longitude: np.ndarray, theme: Theme, names: list[tuple[float, float, str]]
) -> tuple[bytes, bool]:
    return draw_points(latitude, longitude, palette_of(theme), names)


def _ask(upload: Upload, understood: Understanding) -> None:
    """The first question with its answers."""
    assert understood.question is not None
    st.title(words.UNCLEAR, anchor=False)
    text = understood.question.text  # without the command's advice: here a column is chosen
    st.markdown(markdown_text(text.partition(" I cannot tell")[0] if understood.question.about == "user" else text))
    if understood.question.about in words.FIELDS and understood.columns:
        fields = ("lat", "lon") if understood.question.about == "lat" else (understood.question.about,)
        st.markdown(words.CHOOSE.format(fields=" and ".join(f"**{words.FIELDS[field]}**" for field in fields)))
    row = st.container(horizontal=True)
    for number, (answer, options) in enumerate(understood.question.answers.items()):
        if row.button(markdown_text(answer), key=f"answer-{number}"):
            # What was only inferred stays open, so that the page does not say that it was named.
            changed = options.columns.items() - understood.options.columns.items()
            kept = options.model_copy(update={"columns": {**upload.options.columns, **dict(changed)}})
            upload.answer(options=kept.model_copy(update={"is_settled": False}))
            st.rerun()


def _show_columns(upload: Upload, understood: Understanding) -> None:
    """Each column with its likely content and why; a published format has none to choose."""
    if not understood.columns:
        quiet(words.READ_AS.format(format=understood.source_format, why=markdown_text(understood.why)))
        return
    asks_user = understood.question is not None and understood.question.about == "user" and understood.question.answers
    has_user = asks_user or any(column.field == "user" for column in understood.columns)
    one = [] if has_user else [ColumnProposal(name=ONE_PERSON, reason=words.ONE_PERSON)]
    used_first = [*one, *sorted(understood.columns, key=lambda column: column.field is None)]
    shown = [column for column in [*understood.columns, *one] if column in used_first[:_SHOWN_COLUMNS]]
    grid = st.grid(min(len(shown), 6), min_column_width=150)
    for column in shown:
        with grid.cell():
            _show_column(upload, understood, column)
    if len(understood.columns) + len(one) > len(shown):
        quiet(words.MORE_COLUMNS.format(count=len(understood.columns) + len(one) - len(shown)))


def _show_column(upload: Upload, understood: Understanding, column: ColumnProposal) -> None:
    st.markdown(f"**{markdown_text(column.name)}**")
    is_one = column.name == ONE_PERSON and column.reason == words.ONE_PERSON
    named = {field for field, name in understood.options.columns.items() if name == column.name}
    field = words.ID_AND_NAME if named == {"poi", "name"} else column.field
    is_free = column.field is None or column.name in upload.options.columns.values()
    fields = [item for item in ((None, "user") if is_one else words.FIELDS) if item or is_free]
    picked = st.selectbox(
        markdown_text(column.name),
        fields,
        index=fields.index(field),
        format_func=words.FIELDS.__getitem__,
        key=f"column-{upload.token}-{column.name}-{field}",
        label_visibility="collapsed",
    )
    quiet(markdown_text(column.reason) or "&nbsp;")
    values = [markdown_text(value[:24]) or "&nbsp;" for value in column.first[:3]]
    st.markdown("  \n".join(f":small[{value}]" for value in values))
    if picked != field:
        columns = {item: name for item, name in upload.options.columns.items() if name != column.name}
        columns |= dict.fromkeys(picked.split("+") if picked else [], column.name)
        upload.answer(options=upload.options.model_copy(update={"columns": columns, "is_settled": False}))
        st.rerun()


def _choose_zone(upload: Upload, understood: Understanding, proposed: str | None) -> ReadOptions:
    """Options with the picked zone, unless the file names one; a published format's is ``proposed``."""
    answers = [*understood.question.answers.values()] if understood.question else [understood.options]
    label, likely = words.FIELDS["tz"], answers[0].timezone or proposed
    if likely is None:
        return understood.options
    zones = sorted({*available_timezones(), likely})
    zone = st.selectbox(label, zones, index=zones.index(likely), width=240)
    local = [answer.local_times for answer in answers]
    is_local = choose_one("Times are", local, key=f"local-{understood.path}", named=words.TIMES_ARE.__getitem__)
    picked = {"timezone": zone, "local_times": is_local}
    if (understood.question is not None or proposed is not None) and st.button(words.CONFIRM, key="confirm"):
        upload.answer(options=upload.options.model_copy(update=picked))
        st.rerun()
    return answers[0].model_copy(update=picked)


def show_points(
    latitude: np.ndarray, longitude: np.ndarray, *, names: pd.Series | None = None, invented: bool = False
) -> None:
    """A sample of check-ins (degrees) on a map, with the most visited places; an invented city lies anywhere."""
    section(words.WHERE)
    sample = slice(None, None, max(1, -(-len(latitude) // _MOST_POINTS)))
    shown_names = []
    for name in [] if names is None else names[names.astype(str) != ""].value_counts().index[:_MOST_NAMES]:
        row = int(np.argmax((names == name).to_numpy()))
        shown_names.append((float(latitude[row]), float(longitude[row]), shortened(str(name), 30)))
    picture, is_on_land = _picture(latitude[sample], longitude[sample], state.theme_palette().theme, shown_names)
    st.image(picture, width="stretch", alt=words.ON_A_MAP)
    shown = words.POINTS.format(shown=len(latitude[sample]), all=len(latitude))
    quiet(shown if is_on_land or invented else f"{shown} {words.AT_SEA}")


def _show_kept(upload: Upload, inspection: Inspection) -> None:
    section(words.KEPT)
    rows = {words.CHECKINS_KEPT: inspection.preview.checkins, **inspection.preview.left_out}
    st.table({capitalised(name): f"{count:,}" for name, count in rows.items()}, border="horizontal")
    quiet(words.GETS_WORSE)
    kept = inspection.preview.config.min_user_checkins
    least = st.segmented_control(words.LEAST, _LEAST, default=kept, required=True, key="least")
    if least is not None and least != kept:
        upload.answer(least=least)
        st.rerun()


def _prepare(
    upload: Upload, source_format: str, options: ReadOptions, inspection: Inspection, actions: DeltaGenerator
) -> Path | None:
    """The button and the same as a command, in ``actions``; the folder of the dataset once it was prepared."""
    path, config, is_empty = upload.path, inspection.preview.config, not inspection.preview.checkins
    go = actions.button("Prepare", icon=":material/check:", type="primary", disabled=is_empty, key="prepare")
    theirs = path.name if path.is_relative_to(upload.folder) else str(path)
    sizes = [f"--set={name}={getattr(config, name)}" for name in ("min_poi_checkins", "min_user_checkins")]
    skip = ["--skip-bad-rows"] * bool(inspection.account.reported)
    line = shlex.join(["recap", "prepare", theirs, "--format", source_format, *sizes, *skip, "--out", "data/mine"])
    with actions, st.popover("Copy as command", type="tertiary"):
        st.code(f"{line} {option_text(options)}", language=None)
    if inspection.preview.refusal:
        st.warning(markdown_text(inspection.preview.refusal))
    if not go:
        return None
    options = options.model_copy(update={"skip_bad_rows": True})
    with (
        st.status("Preparing", expanded=True) as status,
        new_dataset_folder(path.name.partition(".")[0]) as folder,
    ):
        _, dataset = prepare_input(path, source_format, options, out=folder, changes=upload.changes, say=status.write)
    keep_answers(dataset.hash, options)
    upload.discard()
    return folder


def _show_problems(upload: Upload, inspection: Inspection) -> None:
    """The largest problems first, with the names concerned, and what can be done about them here."""
    problems = sorted(inspection.problems, key=lambda problem: -problem.count)
    if problems:
        with st.expander(words.PROBLEMS.format(count=len(problems))):
            for problem in problems:
                quiet(markdown_text(f"{problem.line} {'; '.join(problem.examples)}".strip()))
                if problem.kind in words.ANSWERS and upload.options.ids is None:
                    answer, ids = words.ANSWERS[problem.kind]
                    if st.button(answer, key=f"ids-{ids}"):
                        upload.answer(options=upload.options.model_copy(update={"ids": ids}))
                        st.rerun()
