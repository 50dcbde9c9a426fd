"""Understand the user's own table: its columns, how its times are written, and open questions."""

from pathlib import Path

from recap.data.parsing.options import ReadOptions
from recap.data.parsing.workbook import read_sheets
from recap.data.understanding.draft import Draft
from recap.data.understanding.fields import (
    ask_about_groups,
    choose_coordinates,
    choose_needed,
    choose_optional,
    tell_other_places,
)
from recap.data.understanding.proposal import Question, Understanding, option_text, say
from recap.data.understanding.times import choose_time, choose_zone
from recap.data.understanding.trips import choose_trip

__all__ = ["Understanding", "option_text", "understand_table"]


def understand_table(path: Path, source_format: str, options: ReadOptions, why: str = "") -> Understanding:
    """Propose what each column of a csv, json or parquet file contains; columns named by options are fixed. Raises
    DataError: no such table, one of more than 300 columns of which not all needed are named, or a column named that it
    does not have.
    """
    understood = Understanding(path=str(path), source_format=source_format, why=why, options=options)
    sheets = read_sheets(path) if source_format == "xlsx" and path.is_file() and options.sheet is None else {}
    if len(sheets) > 1:
        answers = {name: options.model_copy(update={"sheet": name}) for name in sheets}
        names = ", ".join(map(repr, [*sheets][:8]))
        question = Question(about="sheet", text=say("sheet", names=names), answers=answers)
        return understood.model_copy(update={"question": question})
    draft = Draft(path, source_format, options)
    choose_trip(draft)
    choose_coordinates(draft)
    draft.place_rows()
    choose_needed(draft, "poi")
    draft.place_rows()
    choose_needed(draft, "user")
    ask_about_groups(draft)
    tell_other_places(draft)
    times = choose_time(draft)
    for field in ("tz", "split", "trajectory", "category", "category_id", "name"):
        choose_optional(draft, field)
    is_settled = draft.question() is None
    draft.options = draft.with_answer({"is_settled": is_settled})
    if times is not None and is_settled:
        choose_zone(draft, times)
    return understood.model_copy(
        update={"columns": draft.columns(), "question": draft.question(), "options": draft.options}
    )
