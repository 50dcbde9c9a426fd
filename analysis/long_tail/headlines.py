"""One-sentence findings for headings, chosen by the numbers and their intervals, never by what one hoped for."""

import math
from typing import Final, Literal

import pandas as pd

from analysis.formatting import percent
from analysis.records.accuracy import METRIC_LABELS, metric_values

CURVES_LEAD: Final = 0.002
"""Lead in MRR from which the feature curves alone are said to rank better."""
FLAT: Final = 0.1
"""A trend whose whole interval is smaller is called flat."""


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


def curves_finding(model: str, records: pd.DataFrame, curves: pd.DataFrame) -> str:
    """That the feature curves alone rank better, where they are ahead by more than `CURVES_LEAD`; else empty."""
    mine, theirs = (float(metric_values(table, "mrr").mean()) for table in (records, curves))
    if not theirs > mine + CURVES_LEAD:
        return ""
    return f"The feature curves alone rank better than {model}: MRR {theirs:.3f}, against {mine:.3f}."


def _verdict(mine: dict[str, dict]) -> str:
    """Who is ahead over all cases, and head and tail where they differ from that; only what an interval holds."""
    whole = _standing(mine["all"])
    if whole is None:
        return ""
    baseline = mine["all"]["baseline"]
    told = {
        "ahead": f"It is ahead of {baseline}",
        "behind": f"{baseline} is ahead",
        "unclear": f"It and {baseline} are too close to tell apart",
    }[whole]
    parts = {group: _standing(mine[group]) for group in ("head", "tail") if mine[group]["n"]}
    if set(parts.values()) == {whole} and len(parts) == 2:
        return f"{told}, in head and tail alike." if whole == "ahead" else f"{told}."
    others = [
        {
            "ahead": f"in the {group} it is ahead of {mine[group]['baseline']}",
            "behind": f"in the {group} {mine[group]['baseline']} is ahead",
            "unclear": f"the {group} is too close to tell",
        }[standing]
        for group, standing in parts.items()
        if standing is not None and standing != whole
    ]
    return "; ".join([told, *others]) + "."


def _standing(row: dict) -> Literal["ahead", "behind", "unclear"] | None:
    """Where the interval of the lead over the best other model lies beside 0; None without one."""
    lead, low, high = (row.get(name, math.nan) for name in ("lead", "lead_lower", "lead_upper"))
    if lead is None or math.isnan(lead) or math.isnan(low) or math.isnan(high):
        return None
    return "ahead" if low > 0 else "behind" if high < 0 else "unclear"


def long_tail_finding(rises: pd.DataFrame) -> str:
    """Whether accuracy follows the step's frequency, and whether it does so more than the place's.

    Args:
        rises: from `analysis.long_tail.accuracy_tables.accuracy_rises`.
    """
    rows = {row["over"]: row for row in rises.to_dict(orient="records")}
    step, place, difference = rows["step"], rows["place"], rows["difference"]
    if math.isnan(step["rise"]) or math.isnan(place["rise"]):
        return "There are too few cases to see a trend."
    if within(step, FLAT):
        return "Accuracy hardly depends on how often the step was seen."
    if step["lower"] <= 0 <= step["upper"]:
        return "Whether accuracy follows how often the step was seen is too close to tell."
    if step["upper"] < 0:
        return "Accuracy falls with how often the step was seen."
    if difference["lower"] > 0:
        more = "not" if within(place, FLAT) else "more than"
        return f"Accuracy follows how often the step was seen, {more} how popular the place is."
    if difference["upper"] < 0:
        return "Accuracy follows how popular the place is more than how often the step was seen."
    return (
        "Accuracy follows how often the step was seen; whether more than the place's popularity is too close to tell."
    )


def within(row: dict, bound: float) -> bool:
    """Whether a rise's whole interval lies so near 0."""
    return bool(-bound < row["lower"] and row["upper"] < bound)


def trend_words(rise: dict) -> str:
    """A panel's trend as its interval has it: climbs from 0.60 to 0.98, almost flat, falls from ... to ...

    Args:
        rise: a row of `accuracy_rises`.
    """
    if math.isnan(rise["rise"]):
        return "too few cases for a trend"
    ends = f"{rise['first']:.2f} to {rise['last']:.2f}"
    if within(rise, FLAT):
        return f"almost flat, {ends}"
    if rise["lower"] > 0 or rise["upper"] < 0:
        return f"{'climbs' if rise['lower'] > 0 else 'falls'} from {ends}"
    return f"{ends}, too close to tell a trend"


def ablation_finding(table: pd.DataFrame) -> str:
    """Which parts the model does worse or better without, as their intervals have it.

    Args:
        table: from `analysis.long_tail.ablations.ablation_table`.
    """
    worse = [_changed(str(name)) for name in table.loc[table["lower"] > 0, "name"]]
    better = [_changed(str(name)) for name in table.loc[table["upper"] < 0, "name"]]
    open_ones = len(table) - len(worse) - len(better)
    told = []
    if worse:
        told.append(f"Worse {_listed(worse)}")
    if better:
        told.append(f"{'b' if told else 'B'}etter {_listed(better)}")
    if not told:
        return "What each part adds is too close to tell"
    rest = {0: "", 1: "; 1 more change is too close to tell"}
    return "; ".join(told) + rest.get(open_ones, f"; {open_ones} more changes are too close to tell")


def _changed(name: str) -> str:
    """A variant's name inside a sentence: "w/o Graph" is without Graph, "N = 3" with N = 3."""
    return f"without {name.removeprefix('w/o ')}" if name.startswith("w/o ") else f"with {name}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
    """Whether two-hop paths tell more about new places than popularity and distance do.

    Args:
        lift: from `analysis.long_tail.lift.two_hop_lift`.
    """
    row = lift[lift["control"] == "unvisited"].iloc[0]
    if math.isnan(row["lift"]):
        return "There are too few unseen transitions to new places to compare two hops with chance."
    span = f"{row['lower']:.2f} to {row['upper']:.2f}"
    than = "than other places as popular and as near"
    if row["lower"] <= 1 <= row["upper"]:
        times = f"{row['lift']:.2f} times as often, 95 % interval {span}"
        return f"Among new places, a true place lies within two hops about as often as chance would give ({times})."
    more = "more" if row["lower"] > 1 else "less"
    return (
        f"Among new places, a true place lies within two hops {more} often {than}: {row['lift']:.2f} times "
        f"(95 % interval {span})."
    )
