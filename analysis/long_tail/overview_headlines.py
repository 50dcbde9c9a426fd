"""The sentences of Overview: headline, lines and cards."""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.formatting import signed, times
from analysis.long_tail.accuracy_tables import paired_difference, table_of_models, tail_share
from analysis.long_tail.notable_cases import FOUND_WITHIN, NotableCase
from analysis.records.accuracy import (
    METRIC_LABELS,
    are_hundreds,
    finds,
    finds_and,
    found_of,
    guesses,
    metric_values,
    simple_fraction,
)
from analysis.records.bootstrap import MeanInterval, UserBootstrap
from analysis.records.evaluation_records import MODEL_LABELS, label_as_subject, label_in_sentence
from recap import columns as c
from recap.baselines import AT_TIME
from recap.features.catalogue import LONG_GAP_HOURS
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import count_of

CURVES_LEAD: Final = 0.002
"""Lead in MRR from which the feature curves alone are said to rank better, where it is clear."""
PANEL_TITLES: Final = {"tail_known": "Rare, place known", "tail_new": "Rare, place new", "head": "Frequent"}
_NEXT_TITLES: Final = ("Every next check-in", "Within 24 hours", "After more than 24 hours")
_TITLES: Final = {"all": "All", **PANEL_TITLES}
_ACTIONS: Final = {
    "Visit count": "Counting past visits",
    MODEL_LABELS[AT_TIME]: "Counting past visits with the time given",
    "Count + Markov": "Counting visits and transitions",
    "Markov": "Counting transitions",
    "Popularity": "Ranking by popularity",
    "Nearest": "Ranking by distance",
}
"""A counter as the subject of a sentence, by its label."""
BAR_INTERVALS: Final = "Lines: 95 % intervals over users."
NO_MODEL: Final = "No model is trained on this dataset yet."
MODELS_ALT: Final = "Accuracy of every model with 95 % intervals over users"
NEXT_ALT: Final = "Accuracy over every next check-in and by the gap before it, with 95 % intervals over users"
_PARTS: Final = {"past_visits": "past visits", "two_hop_paths": "two-hop paths"}


def overview_headline(groups: pd.DataFrame, metric: str) -> str:
    """Rare transitions that the first model of `accuracy_by_group` finds, and which model finds more."""
    model = str(groups["model"].iloc[0])
    mine = _rows_of(groups, model)
    if mine["all"]["n"] == 0:
        return "There is no test case to measure accuracy on."
    known, new = mine["tail_known"], mine["tail_new"]
    start, action = _start(metric), _ACTIONS.get(model, "")
    subject = action or label_as_subject(model)
    if start:
        subject = start + (action[:1].lower() + action[1:] or label_in_sentence(model))
    if known["n"] and new["n"]:
        sentence = finds_and(subject, (known["value"], known["n"]), (new["value"], new["n"]), metric)
        return f"{sentence} {_who_is_ahead(known, groups, metric)}".strip()
    group, what = next(
        (group, what)
        for group, what in (
            ("tail_known", "rare transitions; none leads to a new place"),
            ("tail_new", "rare transitions; all lead to new places"),
            ("all", "next places"),
        )
        if mine[group]["n"]
    )
    sentence = f"{subject} {finds(mine[group]['value'], metric, mine[group]['n'])} {what}."
    return f"{sentence} {_who_is_ahead(mine[group], groups, metric)}".strip()


def overview_sentence(groups: pd.DataFrame, metric: str, rare_share: float, places_known: int = 0) -> str:
    """What counting past visits finds, which model finds more new places, what a list means where a user knows so
    many places (0: not said), and how many transitions are rare.
    """
    model, sentences = str(groups["model"].iloc[0]), []
    mine = _rows_of(groups, model)
    others = [name for name in ("Visit count", MODEL_LABELS[AT_TIME]) if name != model and _rows_of(groups, name)]
    if mine["tail_known"]["n"] and mine["tail_new"]["n"]:
        for name in others[:1]:
            counter = _rows_of(groups, name)
            sentences.append(_counting(_ACTIONS[name], counter["tail_known"], counter["tail_new"], metric))
        sentences.append(_who_is_ahead(mine["tail_new"], groups, metric, new=True))
        who = "it" if model in _ACTIONS else label_in_sentence(model)
        share = finds(mine["all"]["value"], metric, mine["all"]["n"])
        sentences.append(f"In all, {who} {share} next places {guesses(metric)}".rstrip() + ".")
    if places_known and guesses(metric):
        sentences.append(f"A user knows {places_known:,} places (median).")
    if rare_share > 0:
        rare = simple_fraction(rare_share, mine["all"]["n"])
        sentences.append(f"{rare} next transitions are rare: seen at most once in training.")
    return " ".join(filter(None, sentences))


def describe_data(users: int, places: int, cases: int, *, invented: bool) -> str:
    facts = [count_of(users, "user"), count_of(places, "place"), count_of(cases, "test case")]
    return " · ".join([*facts, "the city is invented"] if invented else facts)


def fitted_curves_line(model: str, difference: MeanInterval, metric: str) -> str:
    """Whether a model and its feature curves alone differ; the difference is the model minus the curves."""
    if math.isnan(difference.low):
        return ""
    who = label_in_sentence(model)
    span = f"({METRIC_LABELS[metric]} difference {signed(difference.low)} to {signed(difference.high)})"
    if difference.low <= 0 <= difference.high:
        return f"Over all cases {who} ties with feature curves alone {span}."
    return f"Over all cases {who} is {'ahead of' if difference.value > 0 else 'behind'} feature curves alone {span}."


def curves_headline(model: str, records: pd.DataFrame, curves: pd.DataFrame) -> str:
    """Headline if the feature curves alone lead by more than `CURVES_LEAD`, and clearly; otherwise empty."""
    lead, low, high = paired_difference(curves, records, "mrr")
    if not (lead > CURVES_LEAD and low > 0):
        return ""
    who = label_in_sentence(model)
    return f"Feature curves alone rank better than {who}, by {lead:.3f} MRR ({low:.3f} to {high:.3f})."


def panels_title(metric: str) -> str:
    if metric == "hr1":
        return "Next places found first"
    k = metric.removeprefix("hr")
    return f"Next places found in the top {k}" if metric.startswith("hr") else f"{METRIC_LABELS[metric]} of next places"


def models_table(groups: pd.DataFrame) -> pd.DataFrame:
    """`accuracy_by_group` with one row per model, each number with its interval as text."""
    wide = table_of_models(groups)
    signs = wide["model"].map(groups.groupby("model")["at_least"].any().map({True: "≥ ", False: ""}))
    shown = {"Model": wide["model"]}
    for group, title in _TITLES.items():
        columns = (wide[group], wide[f"{group}_lower"], wide[f"{group}_upper"])
        shown[title] = signs + pd.Series(map(_with_interval, *columns), dtype=object)
    return pd.DataFrame(shown)


def next_table(models: Mapping[str, pd.DataFrame], metric: str) -> pd.DataFrame:
    """Accuracy over every next check-in and by the gap before it, with intervals as text; from `next_records`."""
    columns: dict[str, list[str]] = {"Model": list(models), **{title: [] for title in _NEXT_TITLES}}
    for records in models.values():
        users = UserBootstrap(records[c.USER].to_numpy())
        is_long, value_N = (records[c.GAP_HOURS] > LONG_GAP_HOURS).to_numpy(np.int64), metric_values(records, metric)
        for group_N, size in ((np.zeros_like(is_long), 1), (is_long, 2)):
            intervals = users.measure(value_N, group_N, size).intervals
            for title, estimate in zip(_NEXT_TITLES[size - 1 :][:size], intervals, strict=True):
                columns[title].append(_with_interval(*estimate))
    return pd.DataFrame(columns)


def next_line(models: Mapping[str, pd.DataFrame]) -> str:
    gap = next(iter(models.values()))[c.GAP_HOURS] > LONG_GAP_HOURS
    return f"Next check-ins: {len(gap):,}, of which {int((~gap).sum()):,} within 24 hours and {int(gap.sum()):,} later."


def _with_interval(value: float, low: float, high: float) -> str:
    """An accuracy with its interval; a group without cases has none.

    >>> _with_interval(0.84612, 0.8321, 0.8594), _with_interval(math.nan, math.nan, math.nan)
    ('0.846 [0.832, 0.859]', '–')
    """
    return "–" if math.isnan(value) else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def intervals_line(line: str) -> str:
    return f"95 % intervals are in the table. {line}".strip()


def groups_line(groups: pd.DataFrame) -> str:
    n = groups.drop_duplicates("group").set_index("group")["n"]
    counts = "; ".join(f"{_TITLES[str(group)].lower()} {count:,}" for group, count in n.items())
    bounds = " ≥: a lower bound, since imported lists are short." if groups["at_least"].any() else ""
    return f"Cases: {counts}. In brackets: 95 % intervals over users.{bounds}"


def cards_title(count: int) -> str:
    return {1: "One case", 2: "Two cases", 3: "Three cases"}[count] + " worth opening"


def distribution_title(distribution: pd.DataFrame) -> str:
    """From `transition_distribution`."""
    rare = found_of(tail_share(distribution, TAIL_MAX_COUNT), int(distribution["pairs"].sum()))
    return f"{rare} distinct transitions are rare"


def card_badge(card: NotableCase) -> str:
    """Kind of a card's case; a cause only after an ablation."""
    if card.kind == "missed":
        return f"Not in the top {FOUND_WITHIN}"
    if card.rank_without is not None:
        return f"Needs {_PARTS[card.kind]} for the top {FOUND_WITHIN}"
    return f"In the top {FOUND_WITHIN}, place {'known' if card.kind == 'past_visits' else 'new'}"


def card_sentence(card: NotableCase) -> str:
    if card.kind == "missed":
        return "A new place for this user, beyond two hops."
    if card.kind == "past_visits":
        count = card.transition_count
        seen = f"Training saw this transition {times(count)}" if count else "Training never saw this transition"
        return f"{seen}; the user had visited the place {times(card.visits)}."
    whose = "A place the user knows" if card.visits else "A new place for this user"
    return f"{whose}; two-hop paths lead there."


def card_label(card: NotableCase) -> str:
    return "Visit count" if card.rank_without is None else f"Without {_PARTS[card.kind]}"


def absent_line(cards: list[NotableCase], *, ablated: bool) -> str:
    """Kinds of causes without a card; empty if there are none, or no ablation was run."""
    shown = {card.kind for card in cards}
    missing = [words for kind, words in _PARTS.items() if kind not in shown] if ablated else []
    return f"No case in the top {FOUND_WITHIN} is lost without {' or without '.join(missing)}." if missing else ""


def _rows_of(groups: pd.DataFrame, model: str) -> Mapping[str, dict[Any, Any]]:
    return {str(row["group"]): row for row in groups[groups["model"] == model].to_dict(orient="records")}


def _start(metric: str) -> str:
    return {"hr1": "With one guess, ", "hr5": "With five guesses, ", "hr10": "With ten guesses, "}.get(metric, "")


def _counting(action: str, known: Mapping[Any, Any], new: Mapping[Any, Any], metric: str) -> str:
    """What a counter finds; small numbers of cases stand next to what is found of them."""
    if not metric.startswith("hr"):
        return f"{action} alone reaches {METRIC_LABELS[metric]} {known['value']:.3f} and {new['value']:.3f}."
    one, other = (found_of(group["value"], group["n"]) for group in (known, new))
    if are_hundreds(known["n"], new["n"]):
        return f"{action} alone finds {one.split()[0]} and {other.split()[0]}."
    return f"{action} alone finds {one}. Of the new places it finds {other}."


def _who_is_ahead(mine: Mapping[Any, Any], groups: pd.DataFrame, metric: str, *, new: bool = False) -> str:
    """The best other model of a group if the whole interval favours it; otherwise empty."""
    if not mine.get("lead_upper", math.nan) < 0:
        return ""
    name = str(mine["baseline"])
    theirs = _rows_of(groups, name)[mine["group"]]
    verb = "find" if name.endswith("curves") else "finds"
    if metric.startswith("hr"):
        best, own = (found_of(each["value"], each["n"]) for each in (theirs, mine))
        more = f"more{' new places' if new else ''}"
        lead = f"slightly {more}" if best == own else f"{more}: {best}"
        return f"{_ACTIONS.get(name, name)} {verb} {lead}."
    return f"{_ACTIONS.get(name, name)} reaches {theirs['value']:.3f}{' on new places' if new else ''}."
