"""Every sentence, label and equation of the page "The model"."""

from collections.abc import Mapping
from math import exp
from typing import Final, NamedTuple

import pandas as pd

from analysis.explain.types import Role
from analysis.formatting import capitalised, number_word, ordinal, points, signed
from analysis.records.ablations import HISTORY, TWO_HOPS, part_label, slug
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.features.catalogue import LATELY, PAST, PATHS, PLACES, TIME, TRANSITIONS
from recap.machine.printable import count_of
from recap.model.curve_prior import NEW_PLACES
from recap.model.recap import CLIP, CORE, CORRECTION
from recap.model.revisit_prior import PRIOR_TERMS

SCORE_PART: Final = "score"
WORTH_TAB: Final = "What each part is worth"
INTRO: Final = "Select a box to read what it does; wide bands add many points, hatched ones subtract."
GLYPHS: Final[dict[Role, str]] = {"truth": "◎", "model": "●", "other": "●"}
TIME_GIVEN_PART: Final = "time given part"
"""The time part of a model that is asked where at a given time."""


class PartWords(NamedTuple):
    """A part in at most two sentences, and its equation in LaTeX."""

    does: str
    equation: str


_CURVES_EQUATION: Final = r"\sum_{j} f_j(x_j(d))"
PART_WORDS: Final = {
    SCORE_PART: PartWords(
        "All contributions add up to a place's score. Every place gets one, and the highest ranks first.", ""
    ),
    PAST: PartWords(
        "Each curve turns a number about the user's visits to a place, or the product (×) of two numbers, into "
        "points. New places get 0.",
        _CURVES_EQUATION,
    ),
    TIME: PartWords(
        "These curves read visits up to two hours later in the day, after a check-in at this hour, or on this kind of "
        "day. Recent visits count more.",
        r"\sum_j f_j\Big(\log\big(1 + \sum_q k_j(\tau_q, \tau_t)\big)\Big)",
    ),
    TIME_GIVEN_PART: PartWords(
        "These curves read visits near the time given: on all days, on such days, on this weekday; and visits after a "
        "pause as long as this one. Recent visits count more.",
        r"\sum_j f_j\Big(\log\big(1 + \sum_q k_j(\tau_q, \tau_t)\big)\Big)",
    ),
    TRANSITIONS: PartWords(
        "These curves count transitions from the current place: the user's own, and other users' in training.",
        r"f(\log(1 + m_{sd})) + \ldots",
    ),
    PATHS: PartWords(
        "A path goes through one place in between, along other users' transitions. One curve reads the sum over all "
        "paths.",
        r"f\Big(\sum_m A_{sm} A_{md}\Big)",
    ),
    PLACES: PartWords(
        "These curves read a place's popularity, distance, category, and visits by similar users. Known and new places "
        "have separate curves.",
        _CURVES_EQUATION,
    ),
    "count": PartWords(
        "The more often the user has been to a place, the more points it gets.",
        r"\lambda_{\mathrm{prior}}\, w_{\mathrm{cnt}} \log(1 + n_t(d))",
    ),
    "recency": PartWords(
        "The points fade with the check-ins since the last visit.",
        r"\lambda_{\mathrm{prior}}\, w_{\mathrm{rec}}\, e^{-r_t(d) / \tau_{\mathrm{rec}}}",
    ),
    "window": PartWords(
        "A place among the latest check-ins gets a fixed number of points.",
        r"\lambda_{\mathrm{prior}}\, w_{\mathrm{win}}\, \mathbf{1}[d \in \mathcal{W}_t]",
    ),
    CLIP: PartWords("Past visits add between 0 and 10 points.", r"R_t(d) = \mathrm{clip}_{[0,\, b_{\max}]}(\ldots)"),
    CORRECTION: PartWords(
        "A small network compares the current moment with the last visit to the place. It raises or lowers the points "
        "for past visits.",
        r"\begin{aligned}\Delta_t(d) &= \lambda_{\mathrm{corr}}\, \gamma_t(d)\, R_t(d) \\ "
        r"\gamma_t(d) &= \tanh(\mathrm{MLP}_g[\mathbf{q}; \mathbf{v}; \mathbf{q} \odot \mathbf{v}])\end{aligned}",
    ),
    CORE: PartWords(
        "A Transformer reads the user, the latest check-ins as tokens, and the graph token. "
        "Its output is compared with each place.",
        r"\ell_t^{\mathrm{core}}(d) = \mathbf{w}_d^{\top} \mathbf{h}_t + b_d",
    ),
    GRAPH_TOKEN: PartWords(
        "One token averages the places that {hops}-hop paths lead to. It adds no points itself: the "
        "sequence model reads it.",
        r"\mathbf{{g}}_t = \mathrm{{LN}}(\mathrm{{MLP}}((A^{{{n}}} E)_s))",
    ),
}
HOP_WORDS: Final = {1: "one", 2: "two", 3: "three", 4: "four"}
_LEADS: Final = {
    HISTORY: "habit decides",
    CORRECTION: "habit decides",
    slug(TRANSITIONS): "earlier transitions decide",
    TWO_HOPS: "two-hop paths decide",
    slug(PLACES): "distance and other users decide",
    CORE: "recent check-ins decide",
}
"""The headline's subject and verb, by the ablation that costs most."""


def title(name: str) -> str:
    """Of the score, a group, a term of the paper's prior or the graph token."""
    fixed = {SCORE_PART: "Score", CLIP: "Limit"}.get(name)
    return fixed or (curve_label(name) if name in PRIOR_TERMS else part_label(name))


def input_title(name: str) -> str:
    return {CORE: "Recent check-ins", CORRECTION: "This moment"}.get(name, title(name))


def headline(known: str | None, new: str | None) -> str:
    """What decides among known and among new places, by ablation; None if no ablation is significant.

    >>> headline("history", "popularity_and_distance")
    'Habit decides between places a user knows; distance and other users decide among new ones.'
    >>> headline("history", None)
    'Habit decides between places a user knows; no part alone decides among new ones.'
    """
    first, second = ("no part alone decides" if name is None else _LEADS[name] for name in (known, new))
    if first == second:
        return f"{capitalised(first)} between places a user knows, and among new ones."
    return f"{capitalised(first)} between places a user knows; {second} among new ones."


def count_inputs(count: int) -> str:
    """The headline before ablations were run.

    >>> count_inputs(6)
    'Six inputs add up to one score.'
    """
    return f"{capitalised(number_word(count))} inputs add up to one score."


def recency_read(checkins_ago: int | None) -> str:
    return "never visited" if checkins_ago is None else f"{count_of(checkins_ago, 'check-in')} ago"


def prior_reader(name: str, numbers: Mapping[str, float]) -> str:
    """A term of the paper's prior.

    >>> learned = {"lambda_prior": 2.0, "w_cnt": 1.5, "tau_rec": 87.0, "w_rec": 1.0}
    >>> prior_reader("count", learned), prior_reader("recency", learned)
    ('3.00 log(1 + n)', '2.00 exp(−r / 87)')
    """
    symbol = {"count": "w_cnt", "recency": "w_rec", "window": "w_win"}[name]
    factor = points(numbers["lambda_prior"] * numbers.get(symbol, 0.0))
    tail = {"count": " log(1 + n)", "recency": f" exp(−r / {numbers['tau_rec']:.0f})", "window": " if in it"}
    return factor + tail[name]


def prior_tab(numbers: Mapping[str, float]) -> str:
    return "Curves and gate" if "lambda_prior" in numbers else "Curves"


def curves_note(group: str | None, numbers: Mapping[str, float], seeds: int, learned_on: str = "") -> str:
    """Note under the curves.

    >>> curves_note("past visits", {}, 0, "New York and Austin")
    'The curves of past visits, learned in New York and Austin. Bars show how common each value is.'
    """
    whose = "The curves with the widest range" if group is None else f"The curves of {group}"
    if group == PATHS:
        whose = f"The curve of {group}"
    if learned_on:
        whose = f"{whose}, learned in {learned_on}"
    if "lambda_prior" in numbers:
        return f"Learned: {number_words(numbers)}. Bars show how common each value is."
    thin = f" Thin lines show {seeds} other seed{'' if seeds == 1 else 's'}." if seeds else ""
    return f"{whose}. Bars show how common each value is.{thin}"


def number_words(numbers: Mapping[str, float]) -> str:
    """Learned numbers of the paper's prior.

    >>> number_words({"lambda_prior": 1.2, "tau_rec": 87.0})
    'λ prior = 1.20, τ recency = 87.00'
    """
    return ", ".join(f"{_SYMBOLS[name]} = {value:.2f}" for name, value in numbers.items())


_SYMBOLS: Final = {
    "lambda_prior": "λ prior",
    "w_cnt": "w count",
    "w_rec": "w recency",
    "w_win": "w window",
    "tau_rec": "τ recency",
    "lambda_corr": "λ correction",
}


def worth_note(worth: pd.DataFrame) -> str:
    """Note on what each part is worth, and which parts do harm; from `analysis.records.causes.worth_by_kind`."""
    known, new = (int(worth.loc[worth["among"] == among, "n"].max()) for among in ("known", "new"))
    harmful = worth[(worth["among"] == "new") & (worth["hr_high"] < 0)].sort_values("hr")["label"]
    harm = f" New places are found more often without {' or '.join(harmful)}." if len(harmful) else ""
    return (
        f"{known:,} test cases lead to known places (or the current one), {new:,} to new ones. "
        f"Lines: 95 % intervals over users.{harm}"
    )


def without_line(rank: float, without: float | None) -> str:
    """A place's rank without a part.

    >>> without_line(1, 63), without_line(2, 2)
    ('Without it, the place ranks 63rd.', 'Without it, the place stays 2nd.')
    """
    if without is None:
        return "Inactive at this checkpoint's epoch."
    return f"Without it, the place {'stays' if without == rank else 'ranks'} {ordinal(without)}."


def curve_label(name: str) -> str:
    """Title of a curve.

    >>> curve_label("time_since_visit"), curve_label("own_transitions")
    ('Time since the last visit', 'Own transitions')
    """
    return _CURVE_LABELS.get(name, capitalised(name.replace("_", " ")))


_CURVE_LABELS: Final = {
    NEW_PLACES: "New to the user",
    "visits_50_checkins": "Recent visits",
    "time_since_visit": "Time since the last visit",
    "overdue": "Later than usual",
    "early": "Sooner than usual",
    "visits_first_of_day": "Visits that start a day",
    "visits_0_to_2_hours_later": "Visits in the next two hours",
    "next_at_hour_on_such_days": "Next place at this hour",
    "visits_by_popularity": "Visits × popularity",
    "visits_by_new_lately": "Visits × new places lately",
    "visits_50_checkins_by_distance": "Recent visits × distance",
    "overdue_by_first_of_day": "Later than usual × day start",
    "visits_50_checkins_by_long_gaps": "Recent visits × long gaps",
    "time_since_visit_by_long_gaps": "Time since the last visit × long gaps",
    "visits_first_of_day_by_long_gaps": "Visits that start a day × long gaps",
    "visits_on_weekday_by_popularity": "Same weekday × popularity",
    "visits_on_such_days_by_distance": "Same kind of day × distance",
    "own_transitions_by_visits": "Transitions × recent visits",
    "own_transitions_at_hour_by_first_of_day": "Transitions now × day start",
    "own_slow_transitions_by_distance": "After pauses × distance",
    "own_transitions_by_long_gaps": "Transitions × long gaps",
    "category_by_popularity": "Category × popularity",
    "own_transition_pairs": "From the last two places",
    "own_transitions_at_hour": "Own transitions at this hour",
    "own_slow_transitions": "Own transitions after pauses",
    "others_transitions": "Others' transitions",
    "two_hop_paths": "Two-hop paths, total weight",
    "category_from_here": "Next category, new places",
    "category_at_hour": "Category now, new places",
    "new_lately": "New places lately",
    "similar_users": "Similar users, new places",
    "visits_50_checkins_by_pause": "Recent visits × pause",
    "visits_first_of_day_by_pause": "Visits that start a day × pause",
    "visits_near_time": "Visits near this time",
    "visits_around_time": "Visits around this time",
    "visits_near_time_on_such_days": "Near this time, same kind of day",
    "visits_around_time_on_weekday": "Around this time, same weekday",
    "visits_near_time_on_weekday": "Near this time, same weekday",
    "visits_near_time_200_days": "Near this time, same kind of day, over months",
    "visits_after_similar_pause": "Visits after a similar pause",
    "own_transitions_at_time": "Own transitions, around this time",
    "own_transitions_after_similar_pause": "Own transitions, similar pause",
    "own_transitions_by_pause": "Transitions × pause",
    "distance_known_by_pause": "Distance × pause, known places",
    "category_at_time_known": "Category at this time, known places",
    "category_at_time": "Category at this time, new places",
    "count": "Visits before",
    "recency": "Last visit",
    "window": "Recent window",
} | {
    f"{name}_{kind}": f"{label}, {kind} places"
    for name, label in (("popularity", "Popularity"), ("distance", "Distance in km"), ("category", "Category"))
    for kind in ("known", "new")
}
_LOG_RATIOS: Final = ("category_from_here", "category_at_hour", "category_at_time")
RATIOS: Final = {"overdue": 1, "early": -1, **dict.fromkeys(_LOG_RATIOS, 1)}
"""Features that are the log of a ratio, with its sign."""
_UNITS: Final = {
    **dict.fromkeys((*_LOG_RATIOS, "category_at_time_known"), "times as often as usual"),
    "new_lately": f"% of the last {LATELY} check-ins",
    "similar_users": "(total similarity of its users × 20)",
    "two_hop_paths": "total path weight",
}


def shown_amount(name: str, amount: float) -> float:
    """An amount as people read it: a ratio instead of its log, a percentage instead of a share.

    >>> round(shown_amount("category_at_hour", 0.6931), 2), shown_amount("new_lately", 0.25), shown_amount("visits", 3)
    (2.0, 25.0, 3)
    """
    if name in RATIOS:
        return exp(RATIOS[name] * amount)
    return 100.0 * amount if name == "new_lately" else amount


def shown_unit(name: str, unit: str) -> str:
    """The unit of a shown amount.

    >>> shown_unit("visits_50_checkins", "visits, recent ones more"), shown_unit("window", "yes")
    ('visits, recent ones count more', 'no or yes')
    """
    words = {
        "yes": "no or yes",
        "visits, recent ones more": "visits, recent ones count more",
        "product": "(product of the two features)",
        "check-ins of others": "check-ins by other users",
    }
    return _UNITS.get(name) or words.get(unit, unit)


WORTH_METRICS: Final = {"hr": "HR@20", "mrr": "MRR"}


def among_title(among: str) -> str:
    """The ranked places, in a panel's title."""
    return {"all": "all places", "known": "known places", "new": "new places"}[among]


def lost(value: float) -> str:
    """Accuracy lost; a gain is negative.

    >>> lost(0.65), lost(-0.04), lost(0.0)
    ('0.650', '−0.040', '0.000')
    """
    return signed(value).removeprefix("+")
