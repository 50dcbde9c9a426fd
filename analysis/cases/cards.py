"""What a card says of a case: the two places, one sentence for its recipe, ranks by several models, how often seen."""

from dataclasses import dataclass
from typing import Final

from analysis.cases.recipes import FoundCases, RecipeName, RecipeTables, listed_share
from analysis.formatting import ordinal, percent, times
from analysis.workspace import Workspace
from recap import columns as c

SHOWN_OTHERS: Final = ("Markov",)
"""Rankers whose rank stands on every card, beside the one that cases flip against."""


@dataclass(frozen=True)
class Card:
    """One case's card.

    Attributes:
        case: its number.
        source, target: names of the places.
        sentence: what is telling about it; empty outside a recipe.
        ranks: (who ranks, the truth's rank), the model last.
        seen: how often the step was seen in training.
    """

    case: int
    source: str
    target: str
    sentence: str
    ranks: tuple[tuple[str, str], ...]
    seen: str


def describe_card(
    opened: Workspace, tables: RecipeTables, case: int, *, model: str, found: FoundCases | None = None
) -> Card:
    """The card of one case.

    Args:
        model: what the model is called.
        found: the recipe that it was found by.
    """
    record = tables.records.iloc[case]
    count = int(record[c.TRANSITION_COUNT])
    beside = [name for name in tables.others if name in SHOWN_OTHERS or name == tables.baseline]
    ranks = [(name, ordinal(float(tables.others[name][c.RANK].iloc[case]))) for name in reversed(beside)]
    return Card(
        case=case,
        source=opened.labels[int(record[c.SOURCE])],
        target=opened.labels[int(record[c.TARGET])],
        sentence="" if found is None else _sentence(opened, tables, case, found),
        ranks=(*ranks, (model, ordinal(float(record[c.RANK])))),
        seen="Step never seen in training" if count == 0 else f"Step seen {times(count)} in training",
    )


def _sentence(opened: Workspace, tables: RecipeTables, case: int, found: FoundCases) -> str:
    record = tables.records.iloc[case]
    name: RecipeName = found.recipe
    if name == "popular":
        visits = int(tables.train_checkins[int(record[c.TARGET])])
        return f"{visits:,} check-ins there in training, none of them from here."
    if name == "wrong":
        share = float(listed_share(tables.records.iloc[[case]])[0])
        first = opened.labels[int(record[c.TOP_POIS][0])]
        return f"{first} held {percent(share)} of the list's shares; they went elsewhere."
    if name == "flipped" and tables.baseline is not None:
        mine = float(record[c.RANK]) <= tables.k
        return f"Found here, missed by {tables.baseline}." if mine else f"Missed here, found by {tables.baseline}."
    if name == "nothing":
        return "Never visited, and no path of two steps leads there."
    if tables.ablations is None:
        return "Nothing was removed, so what found it is not known."
    row = tables.ablations.iloc[case]
    own, hops = (ordinal(float(row[f"without_{source}"])) for source in ("history", "two_hops"))
    if name == "both":
        return f"Without own visits {own}, without two hops {hops}."
    return (
        f"Without own visits it would come {own}."
        if name == "own_visits"
        else f"Without two hops it would come {hops}."
    )
