"""One-sentence findings for headings, chosen by the numbers and their intervals, never by what one hoped for."""

import math
from typing import Final

import pandas as pd

from analysis.formatting import percent
from analysis.records.accuracy import METRIC_LABELS

ENOUGH_CASES: Final = 20
"""Bins with fewer cases say nothing about a trend."""
FLAT: Final = 0.1
"""A trend that changes accuracy by less is called flat."""


def overview_finding(table: pd.DataFrame, metric: str) -> str:
    """How well the model does, and whether it beats the best baseline.

    Args:
        table: from `accuracy_by_group`.
    """
    model = str(table["model"].iloc[0])
    mine = {row["group"]: row for row in table[table["model"] == model].to_dict(orient="records")}
    if mine["all"]["n"] == 0:
        return "There is no test case to judge the model by."
    value = mine["all"]["value"]
    if metric.startswith("hr"):
        k = int(metric.removeprefix("hr"))
        guesses = "first guess" if k == 1 else f"{k} guesses"
        first = f"{model} finds {100 * value:.0f} of 100 next places with its {guesses}."
    else:
        first = f"{model} reaches {METRIC_LABELS[metric]} {value:.3f}."
    return f"{first} {_verdict(mine)}".strip()


def _verdict(mine: dict[str, dict]) -> str:
    lead, low, high = (mine["all"].get(name, math.nan) for name in ("lead", "lead_lower", "lead_upper"))
    if lead is None or math.isnan(lead):
        return ""
    rival = mine["all"]["rival"]
    if high < 0:
        return f"{rival} finds more."
    if low <= 0:
        return f"It is level with {rival}."
    gains = {group: mine[group]["n"] * mine[group].get("lead", 0.0) for group in ("head", "tail") if mine[group]["n"]}
    if len(gains) == 2 and gains["tail"] > max(gains["head"], 0) and mine["tail"]["lead_lower"] > 0:
        return "It gains more tail cases than head cases."
    if len(gains) == 2 and mine["tail"]["lead_lower"] <= 0:
        return "Its lead is in the head."
    return f"It leads {rival} in head and tail."


def long_tail_finding(by_step: pd.DataFrame, by_place: pd.DataFrame) -> str:
    """Whether accuracy follows the step's frequency more than the place's.

    Args:
        by_step, by_place: from `accuracy_by_count`.
    """
    step, place = spread(by_step), spread(by_place)
    if step is None or place is None:
        return "There are too few cases to see a trend."
    rise, other = step[1] - step[0], place[1] - place[0]
    if rise <= 0.05:
        return "Accuracy hardly depends on how often the step was seen."
    if rise > 2 * abs(other) and abs(other) < FLAT:
        return "Accuracy follows how often the step was seen, not how popular the place is."
    if rise > abs(other):
        return "Accuracy follows how often the step was seen more than how popular the place is."
    return "Accuracy follows how popular the place is as much as how often the step was seen."


def spread(table: pd.DataFrame) -> tuple[float, float] | None:
    """Accuracy in the first and in the last bin with enough cases; None with fewer than two such bins."""
    known = table[table["n"] >= ENOUGH_CASES]["value"].tolist()
    return (known[0], known[-1]) if len(known) >= 2 else None


def trend_words(table: pd.DataFrame) -> str:
    """A panel's trend: climbs from 0.60 to 0.98, almost flat, falls from ... to ..."""
    ends = spread(table)
    if ends is None:
        return "too few cases for a trend"
    low, high = ends
    if abs(high - low) < FLAT:
        return f"almost flat, {low:.2f} to {high:.2f}"
    return f"{'climbs' if high > low else 'falls'} from {low:.2f} to {high:.2f}"


def hop_finding(hops: pd.DataFrame) -> str:
    """Which number of hops separates truth from noise best.

    Args:
        hops: rows of `recap.dataset_statistics.hop_statistics`.
    """
    usable = hops[hops["coverage"] > 0]
    if usable.empty:
        return "No unseen step is reached at any number of hops."
    best = usable.sort_values("snr_x1000", ascending=False, kind="stable").iloc[0]
    n, reached = int(best["n"]), float(best["coverage"])
    word = {1: "One hop has", 2: "Two hops have", 3: "Three hops have", 4: "Four hops have", 5: "Five hops have"}[n]
    return f"{word} the best signal to noise here and reach {percent(reached)} of unseen steps."


def lift_finding(lift: pd.DataFrame) -> str:
    """What remains of the two-hop lift given the user's own visits, and what is there among new places."""
    rows = {row["control"]: row for row in lift[lift["evidence"] == "two_hops"].to_dict(orient="records")}
    raw, own, new = rows["uniform"], rows["own_visits"], rows["unvisited"]
    if math.isnan(raw["lift"]) or math.isnan(own["lift"]):
        return "There are too few cases to compare two hops with chance."
    found = (
        f"Two hops hold {raw['lift']:.1f} times as often for the truth as for any rival; "
        f"given the walker's own visits, {own['lift']:.2f} times: {_beyond(own, 'habit explains', 'habit would give')}."
    )
    if math.isnan(new["lift"]):
        return f"{found} There are too few cases whose place is new to the walker."
    explained = _beyond(new, "popularity and distance explain", "popularity and distance would give")
    return (
        f"{found} Among places new to the walker, given popularity and distance, {new['lift']:.2f} times: {explained}."
    )


def _beyond(row: dict, explains: str, would_give: str) -> str:
    """Where a lift's interval lies beside 1."""
    if row["lower"] > 1:
        return f"more than {explains}"
    return f"less than {would_give}" if row["upper"] < 1 else f"no more than {explains}"
