"""The column of times, its format as all rows decide it, and the time zone."""

from contextlib import closing
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.coordinates import LONGITUDE_ZONE, propose_zone
from recap.data.parsing.column_names import field_of, says
from recap.data.parsing.options import FIELDS
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock
from recap.data.parsing.time_column import join_clock
from recap.data.parsing.times import EARLIEST, LATEST, detect_layout, iso_offsets, strptime_layout
from recap.data.understanding.columns import Column, determines
from recap.data.understanding.draft import Draft
from recap.data.understanding.proposal import TimeLayout, ZoneProposal

_Candidate = tuple[float, dict[str, str], Column]
_CLOSE: Final = 0.5
_LONGEST_STAY: Final = 2 * 86_400
_NIGHT: Final = (2, 3, 4, 5)
"""Local hours with the fewest check-ins."""
_QUIETER: Final = 0.6
_ENOUGH_TIMES: Final = 200


def choose_time(draft: Draft) -> Column | None:
    """The column of times, or of days and clocks; of the two ends of a stay the first.

    Returns:
        its values in the sample, days and clocks joined.
    """
    if "time" in draft.taken:
        return _joined(draft, draft.taken["time"], draft.taken.get("date"))
    found = _candidates(draft)
    reasons = [_compared(found[0], item) for item in found[1:]]
    if not found or None in reasons:
        which = {" and ".join(mapping.values()): mapping for _, mapping, _ in found[:4]}
        draft.ask_which("time", FIELDS["time"], which)
        return None
    _, mapping, column = found[0]
    for field, name in mapping.items():
        draft.take(field, draft.sample[name], next(filter(None, reasons), ""))
    return column


def _candidates(draft: Draft) -> list[_Candidate]:
    """Columns of times, or pairs of days and clocks, the most likely first."""
    clocks = [name for name, column in draft.sample.items() if column.is_clock and field_of(name)[1] >= 0]
    owners = [draft.spots, *(draft.sample[name].codes for field, name in draft.taken.items() if field == "user")]
    found: list[_Candidate] = []
    for column in draft.times:
        belongs = draft.can_tell and any(determines(owner, column.codes) >= 0.95 for owner in owners)
        if column.name in draft.taken.values() or field_of(column.name)[1] < 0 or belongs:
            continue  # a birthday, the day a shop opened
        seconds = column.seconds
        has_clock = bool((seconds.astype("datetime64[D]") != seconds)[~np.isnat(seconds)].any())
        pairs = [{"date": column.name, "time": clock} for clock in clocks if not has_clock]
        for mapping in pairs or [{"time": column.name}]:
            names, both = list(mapping.values()), _joined(draft, mapping["time"], mapping.get("date"))
            points = max(field_of(name)[1] for name in names) - 2 * (not has_clock and not pairs)
            points += 0.6 * (says(column.name, "utc") - says(column.name, "local"))
            found.append((points - 3 * any(says(name, "end") for name in names), mapping, both))
    return sorted(found, key=lambda item: (-item[0], np.nanmedian(item[2].seconds.astype(np.float64))))


def _compared(first: _Candidate, other: _Candidate) -> str | None:
    """Why the first of two columns is the time; None if either may be."""
    later = (other[2].seconds - first[2].seconds).astype("timedelta64[s]")
    later = later[~np.isnat(later)].astype(np.int64)
    steps = np.unique(later)
    if len(steps) > 8 and (later >= 0).mean() > 0.98 and 0 < np.median(later) < _LONGEST_STAY:
        return f"before {other[1]['time']}"
    is_same = len(steps) <= 4 and bool((steps % 900 == 0).all())
    if is_same and ((steps == 0).all() or first[0] >= other[0] + _CLOSE):
        return ""
    return "" if first[0] > other[0] + _CLOSE else None


def _joined(draft: Draft, time: str, date: str | None) -> Column:
    if date is None:
        return draft.sample[time]
    columns = {name: draft.sample[name].values for name in (time, date)}
    return Column(time, join_clock(RowBlock("", columns, np.arange(draft.rows)), time, date), draft.options.time_format)


def choose_layout(draft: Draft, column: Column) -> list[TimeLayout]:
    """How times are written: of layouts that differ the one that reads all rows of the file; a question where two do.

    Returns:
        strptime layouts, the one taken first; none where ISO times, epochs and the like need none.
    """
    if draft.options.time_format is not None or None in column.layouts or not column.layouts:
        return []
    read = {layout: strptime_layout(layout).parse(column.text) for layout in column.layouts if layout}
    layouts = [one for place, one in enumerate(read) if not any(read[one].equals(read[a]) for a in list(read)[:place])]
    layouts = [layout for layout in layouts if not _has_more_years(read[layout])] or layouts
    unread = _count_unread(draft, layouts)
    times = np.array([read[layout].to_numpy(zero_copy_only=False) for layout in layouts]).astype("datetime64[s]")
    known = ~np.isnat(times).any(axis=0)
    row = int(np.argmax(known + 2 * (known & (times != times[0]).any(axis=0))))
    shown = [
        TimeLayout(
            time_format=layout,
            label={"d": "day first", "y": "year first", "Y": "year first"}.get(_first_letter(layout), "month first"),
            unread=unread[layout],
            first=f"{column.text[row]} is {pd.Timestamp(times[place, row]):%d %b %Y %H:%M}" if known[row] else "",
        )
        for place, layout in sorted(enumerate(layouts), key=lambda item: unread[item[1]])
    ]
    first, *others = shown
    close = [item for item in shown if item.unread <= 10 * first.unread]
    if len(close) > 1:
        answers = {f"{item.label}, {item.first}": {"time_format": item.time_format} for item in close}
        draft.ask("time_format", f"{column.name} can be read in {len(close)} ways", answers)
    else:
        draft.options = draft.options.model_copy(update={"time_format": first.time_format})
        days = draft.taken.get("date", column.name)
        fails = [f"{item.label} fails on {item.unread:,} rows" for item in others]
        draft.reasons[days] = "; ".join(filter(None, [draft.reasons.get(days), first.label, *fails]))
    return shown


def _first_letter(layout: str) -> str:
    return min("dmbByY", key=lambda letter: layout.find(f"%{letter}") % 1000)


def _has_more_years(times: pa.Array) -> bool:
    """Whether times have more distinct years than days of the month: then 13/04/12 was wrongly read year first."""
    return bool(pc.count_distinct(pc.year(times)).as_py() > pc.count_distinct(pc.day(times)).as_py())


def _count_unread(draft: Draft, layouts: list[str]) -> dict[str, int]:
    """For each layout the rows of the file that it does not read and another does."""
    time, date = draft.taken["time"], draft.taken.get("date")
    unread = dict.fromkeys(layouts, 0)
    if len(layouts) > 1:
        with closing(draft.source.rows([time, date] if date else [time], RowReport(skip_bad_rows=True))) as source:
            for rows in source:
                counts = pc.value_counts(join_clock(rows, time, date) if date else rows.text(time))
                texts, times = counts.field("values"), counts.field("counts").to_numpy()
                read = np.array([np.asarray(strptime_layout(layout).parse(texts).is_valid()) for layout in layouts])
                for layout, misses in zip(layouts, read.any(axis=0) & ~read, strict=True):
                    unread[layout] += int(times[misses].sum())
    return unread


def propose(draft: Draft, column: Column) -> ZoneProposal | None:
    """Ask for the zone, and whether times are local, if neither the file nor an option says so.

    Where only the second is open, it is taken from the hours, and the column's reason says so.
    """
    form, values = draft.options.time_format, column.values
    layout = strptime_layout(form) if form else detect_layout(values)
    carries = layout.is_utc and form is None and pa.types.is_string(values.type) and iso_offsets(values) is not None
    if layout.zone is not None or carries:
        return None
    zone = draft.options.zone or propose_zone(draft.latitude, draft.longitude)
    reason = "from the coordinates" if zone != LONGITUDE_ZONE else "check-ins are in several zones"
    is_local: bool | None = not layout.is_utc and not says(column.name, "utc")
    answers: dict[str, dict[str, Any]] = {zone: {"timezone": zone}}
    if is_local and not draft.options.local_times and not says(column.name, "local"):
        seconds = layout.parse(values).to_numpy(zero_copy_only=False).astype("datetime64[s]")
        seconds[~((seconds >= EARLIEST) & (seconds < LATEST))] = np.datetime64("NaT")
        as_local, as_utc = _night(seconds), _night(_local(seconds, zone, draft.longitude))
        nights = f"{as_local:.0%} at night if local, {as_utc:.0%} if UTC"
        is_clear = len(seconds) >= _ENOUGH_TIMES and min(as_local, as_utc) <= _QUIETER * max(as_local, as_utc)
        is_local = as_local < as_utc if is_clear else None
        if is_local and "tz" in draft.taken:
            draft.options = draft.options.model_copy(update={"local_times": True})
        if "tz" in draft.taken or (is_local and draft.options.zone):
            draft.reasons[column.name] += f"; {nights}"
        reason += f"; {nights}"
        answers = {"times are local": {**answers[zone], "local_times": True}, "times are UTC": answers[zone]}
        answers = answers if as_local <= as_utc else dict(reversed(answers.items()))
    if draft.options.zone is not None or "tz" in draft.taken:
        return None
    draft.ask("timezone", f"it names no time zone; {zone} is likely ({reason})", answers)
    return ZoneProposal(timezone=zone, is_local=is_local, reason=reason)


def _local(seconds: np.ndarray, zone: str, longitude: np.ndarray) -> np.ndarray:
    """UTC times by local clocks."""
    if zone == LONGITUDE_ZONE:
        return seconds + np.round(np.nan_to_num(longitude) / 15).astype("timedelta64[h]")
    return pd.Series(seconds).dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None).to_numpy("datetime64[s]")


def _night(seconds: np.ndarray) -> float:
    """Share of times from 2 to 6 o'clock."""
    return float(pd.Series(seconds).dropna().dt.hour.isin(_NIGHT).mean())
