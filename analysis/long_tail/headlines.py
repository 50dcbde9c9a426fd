"""The sentences of Long tail; numbers and their intervals decide which ones appear."""

import math
from typing import Final

import pandas as pd

from analysis.formatting import times
from analysis.long_tail.accuracy_tables import RareAccuracy, Rises
from analysis.long_tail.overview_headlines import BAR_INTERVALS
from analysis.records.ablations import part_label
from analysis.records.accuracy import METRIC_LABELS, finds_and, guesses
from analysis.records.bootstrap import MeanInterval
from analysis.records.causes import LostHits
from analysis.records.evaluation_records import label_as_subject, label_in_sentence
from recap.machine.printable import markdown_text

_FLAT: Final = 0.1
"""An interval entirely below this counts as no difference."""
KINDS_HELP: Final = (
    "Found without X: ranked again without X, the place is found. The other kinds are not causes; the first that "
    "applies counts: new place beyond two hops, near miss, same category."
)
ETA_LABEL: Final = "Rare: seen at most … times"
BY_COUNT: Final = "Accuracy by frequency in training"
BY_USER: Final = "Accuracy by user"
COHORTS_ALT: Final = "Accuracy on rare transitions by whether the place is known and within two hops"
HOPS_ALT: Final = "Unseen transitions reached, places reached and signal-to-noise ratio for one to five hops"
WITHOUT_PARTS: Final = "Ranked again without each part; lines are 95 % intervals over users."
LIFT_HELP: Final = "Chance: places as popular and as near as the true one."
NO_PART_MATTERS: Final = "Without any single part, accuracy changes by no more than chance."
RANK_HELP: Final = "Rank of the true place."
WHY_HELP: Final = "Needs X: without X the case would be lost."
HOUR_HELP: Final = "Local hour of the current check-in."
UNREADABLE_FILTER: Final = "The link's filter of cases cannot be read, so all cases are listed."
CASES_ALT: Final = "Cases with places, counts and ranks; the last column opens a case"
_PARTS: Final = {"past_visits": "past visits", "two_hop_paths": "two-hop paths", "graph_token": "the graph token"}
"""Ablations whose lost hits are named."""


def long_tail_headline(rare: RareAccuracy, rises: Rises) -> str:
    """When rare transitions are hard, or else what accuracy depends on."""
    if rare.new_behind.low > 0 and rare.new < rare.known / 2:
        if rare.known_behind.high < _FLAT:
            return "A rare transition is only hard when the place is new."
        if rare.known_behind.low > 0:
            return "Rare transitions are harder than frequent ones, above all to new places."
    return _trend(rises)


def _trend(rises: Rises) -> str:
    transition, place, difference = rises
    if math.isnan(transition.value) or math.isnan(place.value):
        return "There are too few cases to see a trend."
    if _is_flat(transition):
        return "Accuracy hardly depends on how rare the transition is."
    if transition.low <= 0 <= transition.high:
        return "These cases do not show whether rare transitions are harder."
    if transition.high < 0:
        return "Rare transitions are easier than frequent ones here."
    falls = "Accuracy falls with how rare the transition is"
    if difference.low > 0:
        more = "not" if _is_flat(place) else "more than"
        return f"{falls}, {more} with how unpopular the place is."
    if difference.high < 0:
        return "Accuracy falls with how unpopular the place is, more than with how rare the transition is."
    return f"{falls} and with how unpopular the place is."


def _is_flat(rise: MeanInterval) -> bool:
    return max(-rise.low, rise.high) < _FLAT


def rare_sentence(model: str, metric: str, rare: RareAccuracy) -> str:
    """The headline's numbers."""
    if not rare.n_known or not rare.n_new:
        return ""
    known, new = (rare.known, rare.n_known), (rare.new, rare.n_new)
    sentence = finds_and(label_as_subject(model), known, new, metric, short=True)
    return f"{sentence} Found means {guesses(metric)}." if guesses(metric) else sentence


def cohorts_caption(metric: str) -> str:
    measure = (
        f"Share found in the top {metric.removeprefix('hr')}" if metric.startswith("hr") else METRIC_LABELS[metric]
    )
    return f"{measure}. Select a cell or bar to list its cases."


def slide_caveat(sentence: str, metric: str, eta: int) -> str:
    """What a slide says next to the headline: its numbers, the metric, and what rare means."""
    rare = f"seen at most {times(eta)} in training" if eta else "never seen in training"
    return f"{sentence} {METRIC_LABELS[metric]}; rare: {rare}. {BAR_INTERVALS}".strip()


def bars_caption(reference: str) -> str:
    return f"Small numbers are cases; **–** marks {reference}."


def counts_alt(model: str, axis: str) -> str:
    return f"{model}: accuracy by {axis.lower()}"


def no_parts(model: str) -> str:
    return f"{markdown_text(model)} has no parts to leave out."


def no_kinds(model: str) -> str:
    return f"{markdown_text(model)} has no contributions, so its misses have no kinds."


def no_cell(min_users: int) -> str:
    return f"No cell of the city has test cases of {min_users} users or more."


def miss_map_alt(cells: int) -> str:
    return f"Map of {cells} cells; the table has the same numbers"


def listed_of(listed: int, of: int) -> str:
    return f"{listed:,} of {of:,} cases"


def list_line(model: str, reference: str, k: int) -> str:
    return (
        f"Cases that only {model} finds in the top {k} come first, by ranks gained over {label_in_sentence(reference)}."
    )


def kinds_line(missed: int, k: int) -> str:
    return f"In {missed:,} test cases the true place ranks below {k}. Tick a row to list its cases."


def map_line(min_users: int) -> str:
    return f"The stronger the colour, the more cases are missed. Cells of fewer than {min_users} users are left out."


def worth_metric(metric: str) -> str:
    return METRIC_LABELS[metric] if metric.startswith("hr") else METRIC_LABELS["mrr"]


def worth_rows(worth: pd.DataFrame, metric: str) -> pd.DataFrame:
    """``name, drop, lower, upper`` of each part, largest loss first: hit rate for hit rates, otherwise MRR.

    From `analysis.records.causes.ablation_worth`, at the K of the metric.
    """
    column = "hr" if metric.startswith("hr") else "mrr"
    named = {column: "drop", f"{column}_low": "lower", f"{column}_high": "upper"}
    rows = worth[list(named)].rename(columns=named)
    rows.insert(0, "name", worth["ablation"].map(part_label))
    return rows.sort_values("drop", ascending=False, ignore_index=True)


def is_beyond_chance(rows: pd.DataFrame) -> bool:
    return bool(((rows["lower"] > 0) | (rows["upper"] < 0)).any())


def lost_hits_line(hits: LostHits) -> str:
    named = [(words, hits.lost[name]) for name, words in _PARTS.items() if name in hits.lost][:2]
    if not hits.found or not named:
        return "What each part is worth"
    (first, lost), *others = named
    line = f"{lost:,} of {hits.found:,} hits are lost without {first}"
    return "; ".join([line, *(f"{also:,} without {words}" for words, also in others)])


def hop_line(hops: pd.DataFrame) -> str:
    """The number of hops with the best signal-to-noise ratio, as a title, from `hop_statistics`."""
    usable = hops[hops["coverage"] > 0]
    if usable.empty:
        return "No unseen transition is reached at any number of hops"
    best = usable.sort_values("snr_x1000", ascending=False, kind="stable").iloc[0]
    n = int(best["n"])
    word = {1: "One hop has", 2: "Two hops have", 3: "Three hops have", 4: "Four hops have", 5: "Five hops have"}[n]
    return f"{word} the best signal-to-noise ratio"


def lift_line(lift: pd.DataFrame) -> str:
    """Whether two hops predict new places better than popularity and distance."""
    row = lift[lift["control"] == "unvisited"].iloc[0]
    if math.isnan(row["lift"]):
        return "Too few unseen transitions lead to new places to compare two hops with chance."
    often = f"{row['lift']:.2f} times as often as by chance"
    span = f"(95 % interval {row['lower']:.2f} to {row['upper']:.2f})"
    if row["lower"] <= 1 <= row["upper"]:
        return f"Two hops do not reach true new places more often than chance: {row['lift']:.2f} times {span}."
    return f"Two hops reach true new places {often} {span}."
