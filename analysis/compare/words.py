"""The sentences of Compare; every claim follows the rows' verdicts."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from analysis.compare.comparison import Comparison
from analysis.compare.head_share import PAPER_HEAD_SHARE
from analysis.formatting import MINUS, signed
from analysis.records.accuracy import METRIC_LABELS, found_of, guesses
from analysis.records.evaluation_records import label_as_subject, label_in_sentence
from recap.machine.printable import markdown_text
from recap.presets import with_time_given

A_LABEL: Final = "A, the model to compare with"
B_LABEL: Final = "B, the model in question"
SIDES_HELP: Final = "Checkpoints, imported predictions and counters. In figures A is grey, B is blue."
IMPORT_HINT: Final = "Other models' predictions: `recap import-predictions FILE --data DATA`."
LEGEND: Final = (":blue[●] :gray[clear]", ":gray[○ tie]", ":gray[lines: 95 % intervals over users]")
RELIABILITY_ALT: Final = "How often each model's first choice came true, by the probability it was given"
NO_PROBABILITIES: Final = (
    "Neither side has probabilities. Records of an earlier version lack them: rank the cases again."
)
EMPTY_BIN: Final = "There is no case in this bin."
SEEDS_ALT: Final = "The difference of each seed, on the band within which two seeds of one model differ"
NUMBERS_ALT: Final = "Differences by group with 95 % intervals over users, cases that only one finds, p and verdict"
RANKS_HELP: Final = "Ranks of the true place."
SEEN_HELP: Final = "How often the transition occurred in training."
FLIPPED_ALT: Final = "Cases that exactly one side finds, the largest change of rank first; a click shows both lists"
ALL_MODELS: Final = "All models and metrics in one table, of those that have ranked the test cases, tested against A."
INTERVALS: Final = "95 % intervals over users"
OTHER_CASE: Final = "The link's case is not in this dataset, so another one is shown."
TIME_WORTH: Final = "What knowing the time is worth"
_KINDS: Final = {"tail": "rare", "head": "frequent"}


def other_side(side: str, asked: str) -> str:
    return f"The link's model {side.upper()} is not here, so another one is shown: {markdown_text(asked[:60])}"


def reliability_line(errors: Mapping[str, float]) -> str:
    """The calibration error of each side with probabilities."""
    listed = ", ".join(f"{label} {error:.3f}" for label, error in errors.items())
    return f"Mean distance from the dashed line (calibration error): {listed}."


def comparison_headline(result: Comparison) -> str:
    """Who is better on rare and on frequent transitions, and by how much."""
    headline = _headline(result)
    return f"{TIME_WORTH}: {headline}" if with_time_given(result.a) == result.b else headline


def _headline(result: Comparison) -> str:
    rows = {group: result.row(group) for group in _KINDS if result.row(group)["n"] > 0}
    if not rows:
        return "There is no test case to compare on."
    verdicts = [str(row["verdict"]) for row in rows.values()]
    winner = next((verdict for verdict in (*verdicts, str(result.row("all")["verdict"])) if verdict != "close"), None)
    if winner is None:
        kinds = " and on ".join(
            f"{_KINDS[group]} ones" if number else f"{_KINDS[group]} transitions" for number, group in enumerate(rows)
        )
        return f"{label_as_subject(result.b)} and {label_in_sentence(result.a)} tie on {kinds}."
    better, worse = (result.b, result.a) if winner == "b" else (result.a, result.b)
    ending = "" if better.endswith("curves") else "s"
    beats = f"{label_as_subject(better)} beat{ending} {label_in_sentence(worse)}"
    won = [group for group, row in rows.items() if row["verdict"] == winner]
    if not won:
        sentence = f"{beats} over all cases ({_gain(result.row('all'))} points)"
        return f"{sentence}, but tie{ending} on rare and frequent ones alone."
    first, *others = won
    sentence = f"{beats} on {_KINDS[first]} transitions ({_gain(rows[first])} points)"
    if others:
        return f"{sentence} and on {_KINDS[others[0]]} ones ({_gain(rows[others[0]])})."
    rest = [group for group in rows if group != first]
    if not rest:
        return f"{sentence}."
    row = rows[rest[0]]
    if row["verdict"] == "close":
        return f"{sentence} and tie{ending} on {_KINDS[rest[0]]} ones."
    return f"{sentence} but lose{ending} on {_KINDS[rest[0]]} ones ({MINUS}{_gain(row)[1:]})."


def _gain(row: pd.Series) -> str:
    return as_points(abs(float(row["difference"])))


def as_points(difference: float) -> str:
    """A difference in points, hundredths of the metric, as exact as the values next to it.

    >>> as_points(0.106), as_points(0.0149), as_points(-0.0149), as_points(0.0004)
    ('+10.6', '+1.5', '−1.5', '0.0')
    """
    return signed(100 * difference, 1)


def _interval(row: Mapping[str, Any] | pd.Series) -> str:
    return f"[{as_points(row['low'])}, {as_points(row['high'])}]"


def differences_title(metric: str) -> str:
    return f"Difference in {METRIC_LABELS[metric]}, points"


def differences_alt(result: Comparison) -> str:
    return f"{result.b} minus {result.a} by how often the transition occurred in training, with 95 % intervals"


def only_label(model: str, cases: int) -> str:
    return f"Only {model} {cases:,}"


def no_flipped_case(cell: str) -> str:
    return f"{markdown_text(cell)}: no case."


def case_line(case: int, seen: int) -> str:
    return f"Case {case:,}, seen {seen:,} × in training"


def both_alt(a: str, b: str) -> str:
    return f"The best places of {a} and {b}; ◎ is the true next place"


def finds_sentence(result: Comparison) -> str:
    row, a, b = result.row("all"), label_in_sentence(result.a), label_as_subject(result.b)
    p = f"p {_relation(row['p'])}"
    if not result.metric.startswith("hr"):
        return (
            f"{METRIC_LABELS[result.metric]}: {row['b']:.3f} for {label_in_sentence(b)}, {row['a']:.3f} for {a} ({p})."
        )
    finds = "find" if b.endswith("curves") else "finds"
    chance = "is significant" if row["p"] < 0.05 else "may be chance"
    both = f"{b} alone {finds} {row['only_b']:,} cases {guesses(result.metric)}, {a} alone {row['only_a']:,}"
    return f"{both}. The difference {chance} ({p})."


def cases_sentence(result: Comparison) -> str:
    """What was compared; samples of one user are all the same, so it has no interval."""
    of_users = f", of the {result.users:,} users who have any"
    if result.users == 1:
        of_users = " of one user, so there is no interval over users"
    cases = f"Measured on the same {result.n:,} test cases{of_users}."
    if result.weighted:
        cases += f" Over all of them, frequent ones count {100 * PAPER_HEAD_SHARE:.0f} %, as in the paper."
    return f"{cases} Imported lists are short, so MRR is a lower bound." if result.at_least else cases


def seeds_sentence(result: Comparison) -> str:
    if result.seeds is None:
        if not result.unmeasured_seeds:
            return "Neither model has seeds to compare."
        names = " and ".join(map(label_in_sentence, result.unmeasured_seeds))
        return f"Only one seed of {names} was trained, so how far seeds differ is not known."
    band = float(result.row("all")["band"])
    return f"Two seeds of one model differ by up to {as_points(band)[1:] if band else '0'} points over all cases."


def seeds_line(result: Comparison) -> str:
    """One line under the picture of seeds."""
    return seeds_sentence(result) if result.seeds is None else "Grey: how far two seeds of one model differ."


def only_title(label: str) -> str:
    """Title of a column: cases that one side finds alone.

    >>> only_title("Visit count")
    'Only visit count'
    """
    return f"Only {label_in_sentence(label_as_subject(label))}"


def ranks_title(a: str, b: str) -> str:
    """Title of a column with the true place's ranks.

    >>> ranks_title("Visit count", "LoTNext, trained here")
    'Visit count → LoTNext'
    """
    return f"{label_as_subject(a)} → {label_as_subject(b)}"


def sentences(result: Comparison) -> list[str]:
    return [finds_sentence(result), cases_sentence(result), seeds_sentence(result)] if result.n else []


def caveat(result: Comparison) -> str:
    """What a slide says next to the headline: the metric, and what the numbers rest on."""
    row = result.row("all")
    over = f" Over all cases: {as_points(row['difference'])} points {_interval(row)}."
    return f"{METRIC_LABELS[result.metric]}.{over * (result.users > 1)} {' '.join(sentences(result))}"


def p_value(p: float) -> str:
    """A p-value with two significant digits; the smallest that the sampled flips can give is a bound.

    >>> p_value(0.3919), p_value(0.0123), p_value(0.0004), p_value(0.0001), p_value(1.0), p_value(float("nan"))
    ('.39', '.012', '.0004', '≤ .0001', '1', '–')
    """
    if p != p:
        return "–"
    if p <= 0.0001:
        return "≤ .0001"
    text = f"{p:.2f}" if p >= 0.1 else f"{p:.3f}" if p >= 0.001 else f"{p:.4f}"
    return "1" if text == "1.00" else text.removeprefix("0")


def _relation(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("≤") else f"= {text}"


def row_cells(row: dict, result: Comparison) -> dict[str, str]:
    """A row of `Comparison.rows` in words; a dash for what no case says, and for an interval over one user."""
    cells = {"cases": f"{row['n']:,}"} | {
        side: f"{'≥ ' * (side in result.at_least)}{100 * row[side]:.1f}" for side in ("a", "b")
    }
    cells |= {"points": as_points(row["difference"]), "interval": _interval(row)}
    if not row["n"]:
        cells = {"cases": "0"} | dict.fromkeys(("a", "b", "points", "interval"), "–")
    elif result.users == 1:
        cells["interval"] = "–"
    cells |= {name: f"{row[name]:,}" for name in ("only_a", "only_b")}
    return cells | {"p": p_value(row["p"]), "better": verdict_words(row, result)}


def verdict_words(row: dict, result: Comparison) -> str:
    if row["n"] == 0:
        return "no case"
    return {"b": result.b, "a": result.a, "close": "tie"}[str(row["verdict"])]


def how_often(result: Comparison, num_places: int, *, invented: bool) -> tuple[str, list[tuple[str, str]], str]:
    """How often the first guess of each side is right, for Present: title, labelled numbers, note.

    Args:
        found: of HR@1.
    """
    row, a, b = result.row("all"), label_in_sentence(result.a), label_in_sentence(result.b)
    mine, theirs = (found_of(row[side], result.n) for side in ("b", "a"))
    title = f"The first guess of {b} is right in {mine} cases, that of {a} in {theirs.split()[0]}."
    numbers = [(result.b, f"{100 * row['b']:.1f} %"), (result.a, f"{100 * row['a']:.1f} %"), ("Cases", f"{result.n:,}")]
    note = f"Right: where the user went is ranked first of {num_places:,} places."
    return title, numbers, f"{note} The city is invented." if invented else note
