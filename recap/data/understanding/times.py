"""When: the column of times, its layout as all rows decide it, and the zone that the file does not name."""

import re
from contextlib import closing
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.column_names import field_of, is_end, is_local, words_of
from recap.data.parsing.options import FIELDS, LONGITUDE_ZONE
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded
from recap.data.parsing.time_column import join_clock
from recap.data.parsing.times import detect_layout, iso_offsets, strptime_layout
from recap.data.parsing.zone_proposal import propose_zone
from recap.data.understanding.columns import Column, determines
from recap.data.understanding.draft import Draft
from recap.data.understanding.proposal import TimeLayout, ZoneProposal

_Candidate = tuple[float, dict[str, str], Column]
_CLOSE: Final = 0.5
_STAY: Final = 2 * 86_400
_QUARTER: Final = 900
_NIGHT: Final = (2, 3, 4, 5)
"""Hours in which people check in least, by local clocks."""
_QUIETER: Final = 0.6


def choose_time(draft: Draft) -> Column | None:
    """The column of times, or of days and clocks; of the two ends of a stay the first.

    Returns:
        its values in the sample, days and clocks joined.
    """
    if "time" in draft.taken:
        return _joined(draft, draft.taken["time"], draft.taken.get("date"))
    found = _candidates(draft)
    if not found:
        draft.ask_name("time", FIELDS["time"])
        return None
    verdicts = [_compared(found[0], item) for item in found[1:]]
    if None in verdicts:
        draft.ask(
            "time",
            f"which column is {FIELDS['time']}?",
            {" and ".join(item[1].values()): item[1] for item in found[:4]},
        )
        return None
    _, mapping, column = found[0]
    for field, name in mapping.items():
        draft.take(field, draft.sample[name], next(filter(None, verdicts), ""))
    return column


def _candidates(draft: Draft) -> list[_Candidate]:
    """Columns of times, or pairs of days and clocks, the most likely first."""
    used = set(draft.taken.values())
    order = list(draft.sample)
    clocks = [name for name, column in draft.sample.items() if column.is_clock and field_of(name)[1] >= 0]
    owners = [draft.spots, *(draft.sample[draft.taken[field]].codes for field in ("user",) if field in draft.taken)]
    found: list[_Candidate] = []
    for name, column in draft.times.items():
        points = field_of(name)[1]
        belongs = draft.can_tell and any(determines(owner, column.codes) >= 0.95 for owner in owners)
        if name in used or points < 0 or belongs:  # a birthday, the day a shop opened
            continue
        seconds = column.seconds
        has_clock = bool((seconds.astype("datetime64[D]") != seconds)[~np.isnat(seconds)].any())
        mapping = {"time": name}
        if not has_clock and clocks:
            clock = min(clocks, key=lambda clock: abs(order.index(clock) - order.index(name) - 0.5))
            mapping, column = {"date": name, "time": clock}, _joined(draft, clock, name)
            points = max(points, field_of(clock)[1])
            has_clock = True
        is_utc = bool({"utc", "gmt"} & set(words_of(name)))
        points += 0.6 * is_utc - 0.6 * is_local(name) - is_end(name) - 2 * (not has_clock)
        found.append((points, mapping, column))
    return sorted(found, key=lambda item: (-item[0], np.nanmedian(item[2].seconds.astype(np.float64))))


def _compared(first: _Candidate, other: _Candidate) -> str | None:
    """Why the first of two is the time; None where either may be."""
    apart = (other[2].seconds - first[2].seconds).astype("timedelta64[s]")
    apart = apart[~np.isnat(apart)].astype(np.int64)
    steps = np.unique(apart)
    if len(apart) and (apart >= 0).mean() > 0.98 and 0 < np.median(apart) <= _STAY and len(steps) > 8:
        return f"before {other[1]['time']}"
    is_same = len(steps) <= 4 and bool((steps % _QUARTER == 0).all())
    if is_same and ((steps == 0).all() or first[0] >= other[0] + _CLOSE or is_local(other[1]["time"])):
        return ""
    return "" if first[0] > other[0] + _CLOSE else None


def _joined(draft: Draft, time: str, date: str | None) -> Column:
    if date is None:
        return draft.sample[time]
    columns = {name: draft.sample[name].values for name in (time, date)}
    return Column(time, join_clock(RowBlock("", columns, np.arange(draft.rows)), time, date))


def choose_layout(draft: Draft, column: Column) -> list[TimeLayout]:
    """How times are written: of layouts that differ the one that reads all rows of the file; a question where two do.

    Returns:
        strptime layouts, the one taken first; none where ISO times, epochs and the like need none.
    """
    if draft.options.time_format is not None or None in column.layouts or not column.layouts:
        return []
    readings = {layout: strptime_layout(layout).parse(column.text) for layout in column.layouts if layout}
    different = [
        layout
        for place, layout in enumerate(readings)
        if not any(readings[layout].equals(readings[other]) for other in list(readings)[:place])
    ]
    likely = [layout for layout in different if not _has_more_years(readings[layout])]
    different = likely or different
    unread = _count_unread(draft, different)
    shown = [
        TimeLayout(
            time_format=layout, label=_order(layout), unread=unread[layout], first=_example(readings, layout, column)
        )
        for layout in sorted(different, key=lambda layout: unread[layout])
    ]
    close = [item for item in shown if item.unread <= 10 * shown[0].unread]
    if len(close) > 1:
        answers = {f"{item.label}, {item.first}": {"time_format": item.time_format} for item in close}
        draft.ask("time_format", f"{column.name} can be read in {len(close)} ways", answers)
    else:
        draft.options = draft.options.model_copy(update={"time_format": shown[0].time_format})
        others = [f"{item.label} fails on {item.unread:,} rows" for item in shown[1:]]
        days = draft.taken.get("date", column.name)
        draft.reasons[days] = "; ".join(filter(None, [draft.reasons.get(days), shown[0].label, *others]))
    return shown


def _has_more_years(times: pa.Array) -> bool:
    """Whether times lie in more years than days of the month: 13/04/12 was read year first, and should not be."""
    return pc.count_distinct(pc.year(times)).as_py() > pc.count_distinct(pc.day(times)).as_py()


def _count_unread(draft: Draft, layouts: list[str]) -> dict[str, int]:
    """For each layout the rows of the file that it does not read and another does."""
    time, date = draft.taken["time"], draft.taken.get("date")
    unread = dict.fromkeys(layouts, 0)
    if len(layouts) < 2:
        return unread
    with closing(draft.source.rows([time, *([date] if date else [])], RowReport(skip_bad_rows=True))) as source:
        for rows in source:
            values = join_clock(rows, time, date) if date else rows.text(time)
            counts = pc.value_counts(values)
            texts, times = counts.field("values"), counts.field("counts").to_numpy()
            read = {layout: strptime_layout(layout).parse(texts).is_valid().to_numpy(False) for layout in layouts}
            by_any = np.any(list(read.values()), axis=0)
            for layout in layouts:
                unread[layout] += int(times[by_any & ~read[layout]].sum())
    return unread


def _order(layout: str) -> str:
    letters = re.findall(r"%([dmbByY])", layout)
    return f"{'day' if letters[0] == 'd' else 'year' if letters[0] in 'yY' else 'month'} first"


def _example(readings: dict[str, pa.Array], layout: str, column: Column) -> str:
    """A value that the layouts read differently, as this one reads it."""
    known = [np.asarray(times.to_numpy(zero_copy_only=False)).astype("datetime64[s]") for times in readings.values()]
    mine = known[list(readings).index(layout)]
    differ = np.any([other != mine for other in known], axis=0) & ~np.any([np.isnat(other) for other in known], axis=0)
    rows = np.flatnonzero(differ) if differ.any() else np.flatnonzero(~np.isnat(mine))
    time = pd.Timestamp(mine[rows[0]])
    return f"{column.text[int(rows[0])]} is {time.day} {time:%b %Y %H:%M}"


def propose(draft: Draft, column: Column) -> ZoneProposal | None:
    """The zone of the coordinates and whether times are local, where neither the file nor an option names a zone."""
    if draft.options.zone is not None or "tz" in draft.taken:
        return None
    form = draft.options.time_format
    layout = strptime_layout(form) if form else detect_layout(column.values)
    values = decoded(column.values)
    by_name = is_local(column.name)
    carries = pa.types.is_string(values.type) and layout.is_utc and form is None and iso_offsets(values) is not None
    if layout.zone is not None or carries:
        return None
    zone = propose_zone(draft.latitude, draft.longitude)
    where = "from the coordinates" if zone != LONGITUDE_ZONE else "check-ins lie in several zones"
    if draft.options.local_times or layout.is_utc or by_name:
        return ZoneProposal(timezone=zone, is_local=not layout.is_utc or by_name, is_written=True, reason=where)
    if {"utc", "gmt"} & set(words_of(column.name)):
        return ZoneProposal(timezone=zone, is_local=False, is_written=True, reason=where)
    seconds = layout.parse(values).to_numpy(zero_copy_only=False).astype("datetime64[s]")
    as_local, as_utc = _night(seconds), _night(_local(seconds, zone, draft.longitude))
    reason = f"{where}; {as_local:.0%} at night if local, {as_utc:.0%} if UTC"
    low, high = sorted((as_local, as_utc))
    return ZoneProposal(timezone=zone, is_local=as_local < as_utc if low <= _QUIETER * high else None, reason=reason)


def _local(seconds: np.ndarray, zone: str, longitude: np.ndarray) -> np.ndarray:
    """UTC times by local clocks."""
    if zone == LONGITUDE_ZONE:
        return seconds + np.round(np.nan_to_num(longitude) / 15).astype("timedelta64[h]")
    return pd.Series(seconds).dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None).to_numpy("datetime64[s]")


def _night(seconds: np.ndarray) -> float:
    """Share of times from 2 to 6 o'clock; 0 where all are midnights, which are days of the local calendar."""
    hours = pd.Series(seconds).dropna().dt.hour
    return float(hours.isin(_NIGHT).mean()) if len(hours) else 0.0
