"""The column of times, its layout as all rows decide it, and the time zone."""

from contextlib import closing
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.checks import ENOUGH_TIMES, LEAST_SHIFT_MINUTES, NIGHT_SHARE, QUIETER
from recap.data.coordinates import LONGITUDE_ZONE, propose_zone
from recap.data.parsing.clocks import join_clock
from recap.data.parsing.column_names import EXACT, says, words_of
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import NOTHING, RowBlock, decoded
from recap.data.parsing.times import (
    NAMED_LAYOUTS,
    detect_layout,
    is_plausible,
    iso_offsets,
    read_spelled,
    strptime_layout,
)
from recap.data.understanding.columns import Column, determines
from recap.data.understanding.draft import Candidate, Draft
from recap.data.understanding.missing import why_no_time
from recap.data.understanding.proposal import say
from recap.machine.printable import shortened

_LONGEST_STAY: Final = 2 * 86_400
_QUIETER: Final = 0.6
_DECIDES: Final = 0.03
"""Least difference between shares of times at night that tells local times from UTC."""
_FEW_ROWS: Final = 20
_MINUTES: Final = {"min", "mins", "minute", "minutes", "minuten", "minuto", "minutos", "minuti"}


def choose_time(draft: Draft) -> Column | None:
    """The column of times, or of days and clocks, and how they are written; of the two ends of a stay the first.
    Returns its values in the sample, days and clocks joined; None if it is unsure.
    """
    if "time" not in draft.taken:
        why_not = " ".join(why_no_time(column) for column in _named(draft) if column.distinct)
        draft.decide("time", _candidates(draft), _replaces, why_not=why_not)
    if "time" not in draft.taken:
        return None
    times = _joined(draft, draft.taken["time"], draft.taken.get("date"))
    read = is_plausible(times.seconds)
    is_unread = read.mean() < 0.5 if draft.rows >= _FEW_ROWS and not times.layouts else not read.any()
    if draft.options.time_format is None and is_unread and not pa.types.is_temporal(times.values.type):
        draft.ask("time", say("unread_times", why=why_no_time(times) if times.distinct else ""))
    _choose_layout(draft, times)
    _ask_about_others(draft, times)
    _mention_unused(draft, times)
    minutes = [item for item in draft.sample.values() if _MINUTES & set(words_of(item.name)) and len(item.distinct) > 9]
    hours = times.seconds[~np.isnat(times.seconds)].astype(np.int64)
    if minutes and "time" not in draft.options.columns and "date" in draft.taken and not (hours % 3600).any():
        draft.ask("time", say("hours_alone", hours=times.name, minutes=minutes[0].name))
    return times


def _named(draft: Draft) -> list[Column]:
    """Columns called time that are not taken."""
    columns = (column for column in draft.sample.values() if column.name not in draft.taken.values())
    return [column for column in columns if column.meaning[0] == "time" and column.meaning[1] >= EXACT - 0.5]


def _ask_about_others(draft: Draft, times: Column) -> None:
    """Ask where more than a tenth of the values are no times of 1990 to 2099."""
    if draft.rows < _FEW_ROWS or draft.options.time_format is not None or "date" in draft.options.columns:
        return
    given = np.array([bool(text) and text not in NOTHING for text in times.text.to_pylist()])
    outside = np.flatnonzero(given & ~is_plausible(times.seconds))
    if len(outside) > 0.1 * draft.rows:
        first, layout = int(outside[0]), detect_layout(times.values)
        named = (name for name, layouts in NAMED_LAYOUTS.items() if layout in layouts)
        form = next(iter(times.layouts), None) or next(named, "iso")
        example = shortened(times.text[first].as_py(), 40)
        what = "others_unread" if np.isnat(times.seconds[first]) else "others_outside"
        text = say(what, count=len(outside), rows=draft.rows, column=times.name, example=example)
        draft.ask("time_format", text, {"leave those rows out": {"time_format": form}})


def _mention_unused(draft: Draft, times: Column) -> None:
    """Say why a column called time is not used; ask where the times are days alone."""
    is_open = not (times.has_clocks or {"time", "date"} & draft.options.columns.keys())
    for column in _named(draft):
        if column.meaning[1] < EXACT or says(column.name, "end"):
            continue
        draft.add_reason(column.name, "not used")
        if is_open and not column.layouts and column.distinct:
            clocks = {"time": column.name, "date": times.name}
            answers = {f"{column.name} has the clocks": clocks, f"{times.name} alone, without clocks": {}}
            few = ", ".join(shortened(text, 20) for text in column.distinct[:3])
            draft.ask("date", say("days_alone", days=times.name, column=column.name, few=few), answers)


def _candidates(draft: Draft) -> list[Candidate]:
    """Columns of times, or pairs of days and clocks, the earlier times first."""
    known = [item for item in draft.sample.values() if not draft.is_at_other_end(item.name)]
    clocks = [column for column in known if column.is_clock and column.meaning[1] >= 0]
    owners = [draft.spots, *(draft.sample[name].codes for field, name in draft.taken.items() if field == "user")]
    others = [item for item in known if item.layouts]
    candidates = []
    for column in known:
        belongs = draft.can_tell and any(determines(owner, column.codes) >= 0.95 for owner in owners)
        if not column.layouts or column.name in draft.taken.values() or column.meaning[1] < 0 or belongs:
            continue  # a birthday, the day a shop opened
        its_clocks = [] if column.has_clocks else clocks
        pairs = [{"date": column, "time": _joined(draft, one.name, column.name)} for one in its_clocks]
        for columns in pairs or [{"time": column}]:
            points = max(part.meaning[1] for part in columns.values()) - says(column.name, "record")
            points -= 2 * (not column.has_clocks and not pairs and _is_within(column, others))
            points += 0.6 * (says(column.name, "utc") - says(column.name, "local"))
            points -= 3 * any(says(part.name, "end") for part in columns.values())
            candidates.append(Candidate(points, columns))
    return sorted(candidates, key=lambda item: np.nanmedian(item.columns["time"].seconds.astype(np.float64)))


def _is_within(column: Column, others: list[Column]) -> bool:
    """Whether days are those of another time with a clock, so that this one says more."""
    days = column.seconds.astype("datetime64[D]")
    known = [other.seconds.astype("datetime64[D]") for other in others if other is not column]
    return not known or any((np.isnat(taken) | np.isnat(days) | (taken == days)).mean() > 0.9 for taken in known)


def _replaces(first: Candidate, other: Candidate) -> str | None:
    """Why the first of two columns is the time; None if either may be."""
    later = other.columns["time"].seconds - first.columns["time"].seconds
    later = later[~np.isnat(later)].astype(np.int64)
    is_stay = len(np.unique(later)) > 8 and (later >= 0).mean() > 0.98 and 0 < np.median(later) < _LONGEST_STAY
    return f"before {other.columns['time'].name}" if is_stay else None if later.any() else ""


def _joined(draft: Draft, time: str, date: str | None) -> Column:
    if date is None:
        return draft.sample[time]
    columns = {name: draft.sample[name].values for name in (time, date)}
    form = draft.options.time_format
    return Column(time, join_clock(RowBlock("", columns, np.arange(draft.rows)), time, date, time_format=form), form)


def _choose_layout(draft: Draft, column: Column) -> None:
    """How times are written: of several layouts the one that reads all rows of the file; a question where two do."""
    if draft.options.time_format is not None or not any(column.layouts):
        return  # ISO times, epochs and the like need none
    times = {layout: read_spelled(strptime_layout(layout), column.text)[0] for layout in column.layouts if layout}
    parts = {layout: [pc.count_distinct(part(read)) for part in (pc.year, pc.day)] for layout, read in times.items()}
    # With more distinct years than days of the month, such as of 13/04/12, the year was wrongly read first.
    times = {layout: times[layout] for layout, (years, days) in parts.items() if years.as_py() <= days.as_py()} or times
    seconds = np.array([read.to_numpy(zero_copy_only=False) for read in times.values()])
    kept = np.sort(np.unique(seconds.view(np.int64), axis=0, return_index=True)[1])
    layouts, seconds = [[*times][place] for place in kept], seconds[kept]
    known = ~np.isnat(seconds).any(axis=0)
    row = int(np.argmax(known + 2 * (known & (seconds != seconds[0]).any(axis=0))))
    orders, unread = [_order(layout) for layout in layouts], _count_unread(draft, layouts)
    best, *others = np.argsort(unread, kind="stable")
    close = [best, *(place for place in others if unread[place] <= 10 * unread[best])]
    if len(close) > 1:
        answers = {}
        for place in close:
            reading = f"{column.text[row]} is {pd.Timestamp(seconds[place, row]):%d %b %Y %H:%M}"
            answers[f"{orders[place]}, {reading}"] = {"time_format": layouts[place]}
        text = say("order", column=column.name, orders=" or ".join(orders[place] for place in close))
        draft.ask("time_format", text, answers)
    else:
        draft.options = draft.options.model_copy(update={"time_format": layouts[best]})
        fails = [f"{orders[place]} fails on {unread[place]:,} rows" for place in others]
        draft.add_reason(draft.taken.get("date", column.name), "; ".join([orders[best], *fails]))


def _order(layout: str) -> str:
    first = min("dmbyY", key=lambda letter: layout.find(f"%{letter}") % 1000)
    return {"d": "day first", "m": "month first", "b": "month first"}.get(first, "year first")


def _count_unread(draft: Draft, layouts: list[str]) -> np.ndarray:
    """For each layout the rows of the file that it does not read and another does."""
    time, date = draft.taken["time"], draft.taken.get("date")
    unread = np.zeros(len(layouts), np.int64)
    if len(layouts) > 1:
        with closing(draft.source.rows([time, date] if date else [time], RowReport(skip_bad_rows=True))) as blocks:
            for rows in blocks:
                counts = pc.value_counts(join_clock(rows, time, date) if date else rows.text(time))
                texts, times = counts.field("values"), counts.field("counts").to_numpy()
                read = (read_spelled(strptime_layout(layout), texts)[0] for layout in layouts)
                is_read = np.array([column.is_valid().to_numpy(zero_copy_only=False) for column in read])
                unread += (is_read.any(axis=0) & ~is_read) @ times
    return unread


def choose_zone(draft: Draft, column: Column) -> None:
    """Ask for the zone, and whether times are local, if neither the file nor an option says so.

    Where only the second is open, it is taken from the hours, and the column's reason says so.
    """
    layout = detect_layout(column.values, draft.options.time_format)
    times, spelled = read_spelled(layout, decoded(column.values))
    carries = layout.zone is not None or (layout.is_utc and iso_offsets(spelled) is not None)
    is_known = draft.options.zone is not None or "tz" in draft.taken
    is_said = says(column.name, "utc") or says(column.name, "local") or draft.options.local_times
    if carries or (is_known and (layout.is_utc or is_said)):
        return
    zone = draft.options.zone or propose_zone(*draft.where.to_numpy().T)
    as_local, as_utc, shift = _at_night(times, zone, draft.where["lon"])
    nights = say("nights", as_local=as_local, as_utc=as_utc)
    if is_known:
        is_quieter = len(times) >= ENOUGH_TIMES and as_utc > 0 and as_local <= _QUIETER * as_utc
        draft.options = draft.options.model_copy(update={"local_times": is_quieter and "tz" in draft.taken})
        draft.add_reason(column.name, nights)
        return
    unknown = next((item for item in draft.sample.values() if item.meaning[0] == "tz" and item.distinct), None)
    known = unknown and say("unknown_zone", column=unknown.name, example=shortened(unknown.distinct[0], 40))
    where = "several zones" if zone == LONGITUDE_ZONE else zone
    text = say("utc" if layout.is_utc else "no_zone", zone=where, unknown=known or "")
    answers: dict[str, dict[str, Any]] = {zone: {"timezone": zone}}
    looks_local = shift >= LEAST_SHIFT_MINUTES and as_utc >= NIGHT_SHARE and as_local <= QUIETER * as_utc
    if not is_said and (looks_local or not layout.is_utc):
        text += say("are_local_all_the_same" if layout.is_utc else "are_local")
        text += f" {nights}." * (abs(as_local - as_utc) >= _DECIDES)
        answers = {"local times": {**answers[zone], "local_times": True}, "UTC": answers[zone]}
        answers = answers if as_local <= as_utc and not layout.is_utc else dict(reversed(answers.items()))
    draft.ask("timezone", text, answers)


def _at_night(times: pa.Array, zone: str, longitude: pd.Series) -> tuple[float, float, float]:
    """The share of times from 2 to 6 o'clock, when few people check in, if they are local, and if they are UTC, and the
    minutes between both.
    """
    seconds = times.to_numpy(zero_copy_only=False).astype("datetime64[s]")
    seconds[~is_plausible(seconds)] = np.datetime64("NaT")
    wall = pd.Series(seconds)
    if zone == LONGITUDE_ZONE:
        moved = wall + pd.to_timedelta((longitude.fillna(0) / 15).round(), unit="h")
    else:
        moved = wall.dt.tz_localize("UTC").dt.tz_convert(zone)
    as_local, as_utc = (float(clock.dropna().dt.hour.between(2, 5).mean()) for clock in (wall, moved))
    shift = (moved.dt.tz_localize(None) - wall).abs().median() / pd.Timedelta(minutes=1)
    return as_local, as_utc, float(shift)
