"""What the numbers of a comparison allow to say; words follow the stricter of the two tests."""

from analysis.compare.comparison import Comparison
from analysis.formatting import signed
from analysis.records.accuracy import METRIC_LABELS

_ON: dict[str, str] = {
    "never": "steps never seen",
    "once": "steps seen once",
    "head": "steps seen twice or more",
}


def comparison_finding(found: Comparison) -> str:
    """The heading: who is better by how much, or that the two are too close to tell."""
    if found.n == 0:
        return "There is no test case to compare on."
    row, (a, b) = found.row("all"), found.names
    label = METRIC_LABELS[found.metric]
    if row["verdict"] == "close":
        return f"{a} and {b} are too close to tell on {label}."
    better, worse = (b, a) if row["verdict"] == "b" else (a, b)
    more = int(abs(row["only_b"] - row["only_a"]))
    # With ties the expected hits of the metric and the hits at mean ranks may differ: then the metric speaks.
    if found.metric.startswith("hr") and abs(more - abs(row["difference"]) * row["n"]) < 0.5:
        first = f"{better} finds {more:,} more of {found.n:,} cases than {worse}."
    else:
        first = f"{better} has {signed(abs(row['difference']))} {label} over {worse}."
    return f"{first} {_where_it_is_clear(found)}".strip()


def _where_it_is_clear(found: Comparison) -> str:
    """The one kind of step on which alone the winner is clearly better; empty where there are several or none."""
    gains = [group for group in _ON if found.row(group)["verdict"] == found.row("all")["verdict"]]
    kinds = [group for group in _ON if found.row(group)["n"] > 0]
    return f"That is clear only on {_ON[gains[0]]}." if len(gains) == 1 < len(kinds) else ""


def where_it_lies(found: Comparison) -> str:
    """On which steps the winner is better, worse, and too close to tell."""
    winner = found.row("all")["verdict"]
    verdicts = {group: str(found.row(group)["verdict"]) for group in _ON if found.row(group)["n"] > 0}
    if winner == "close" or len(verdicts) < 2:
        return ""
    gains = [_ON[group] for group, verdict in verdicts.items() if verdict == winner]
    losses = [_ON[group] for group, verdict in verdicts.items() if verdict not in (winner, "close")]
    close = [_ON[group] for group, verdict in verdicts.items() if verdict == "close"]
    name = found.names[winner == "b"]
    if not gains:
        return "On no single kind of step is it clear."
    if len(gains) == len(verdicts):
        return f"{name} is better on every kind of step."
    said = f"{name} is better on {_and(gains)}"
    said += f" and worse on {_and(losses)}" if losses else ""
    return f"{said}; on {_and(close)} the two are too close to tell." if close else f"{said}."


def cells_sentence(found: Comparison) -> str:
    """How many cases each finds that the other misses."""
    row, (a, b) = found.row("all"), found.names
    return (
        f"Within {found.k}, {b} finds {int(row['only_b']):,} cases that {a} misses, and misses "
        f"{int(row['only_a']):,} that it finds."
    )


def seeds_sentence(found: Comparison) -> str:
    """Whether the differences are larger than those of two seeds; where seeds are not measured, that."""
    if found.seeds is None:
        if not found.unmeasured_seeds:
            return ""
        return f"One seed of {_and(list(found.unmeasured_seeds))}: how far seeds alone differ is not measured."
    rows = {str(row["group"]): row for row in found.seeds.to_dict(orient="records")}
    if "all" not in rows:
        return ""
    if not rows["all"]["larger"]:
        return "The difference over all cases is smaller than two seeds of one model differ."
    small = [_ON[group] for group in _ON if group in rows and not rows[group]["larger"]]
    said = "The difference over all cases is larger than two seeds of one model differ"
    return f"{said}; on {_and(small)} it is smaller." if small else f"{said}."


def means_sentence(found: Comparison) -> str:
    """How many seeds the values are means over; empty where there is one of each."""
    (a, b), (of_a, of_b) = found.plain_names, found.num_seeds
    if of_a == of_b:
        return f"Values are means over {of_a} seeds of each." if of_a > 1 else ""
    several = [f"{number} seeds of {name}" for name, number in ((a, of_a), (b, of_b)) if number > 1]
    return f"Values are means over {_and(several)}."


def lists_sentence(found: Comparison) -> str:
    """What short imported lists do to MRR; empty where every place is ranked."""
    if not found.lower_bound:
        return ""
    return "Imported lists are short: a truth outside its list counts as last, so that MRR is a lower bound."


def strictness_sentence(found: Comparison) -> str:
    """The two tests over all cases, and how the second was made."""
    row = found.row("all")
    flips = "all sign flips over users" if row["sign_flip_exact"] else "9,999 drawn sign flips over users, seed 0"
    flip = f"{p_value(row['sign_flip_p'])} by {flips}"
    if not found.metric.startswith("hr"):
        return f"p = {flip}."
    return (
        f"{int(row['only_b']):,} against {int(row['only_a']):,}: p = {p_value(row['mcnemar_p'])} by exact McNemar over "
        f"cases, {flip}; words follow the larger."
    )


def p_value(p: float) -> str:
    """A p value: two significant digits, small ones bounded.

    >>> p_value(0.3919), p_value(0.0123), p_value(0.0004), p_value(0.00001), p_value(float("nan"))
    ('0.39', '0.012', '0.0004', '< 0.0001', '–')
    """
    if p != p:
        return "–"
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.3f}" if p >= 0.001 else f"{p:.4f}"


def _and(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def sentences(found: Comparison) -> list[str]:
    """What stands under the heading."""
    if found.n == 0:
        return []
    said = (
        means_sentence(found),
        cells_sentence(found),
        where_it_lies(found),
        seeds_sentence(found),
        lists_sentence(found),
    )
    return [sentence for sentence in said if sentence]
