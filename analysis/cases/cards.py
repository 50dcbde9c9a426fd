"""A case's card: its two places, one sentence, and the truth's rank by two models."""

from dataclasses import dataclass

from analysis.cases.recipes import FoundCases, RecipeTables
from analysis.cases.words import first_choice_sentence, popular_sentence, seen_words, without_sentence
from analysis.formatting import ordinal
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.metrics import has_probabilities


@dataclass(frozen=True)
class Card:
    """One case's card.

    The sentence (empty outside a recipe) says what is striking; ranks are (model, the truth's rank), the model last.
    """

    case: int
    source: str
    target: str
    sentence: str
    ranks: tuple[tuple[str, str], ...]
    seen: str


def describe_card(opened: Workspace, tables: RecipeTables, case: int, recipe: FoundCases | None = None) -> Card:
    """The card of one case; ``recipe``: what found it, if a recipe did."""
    record = tables.records.iloc[case]
    ranks = [(tables.baseline, tables.others[tables.baseline][c.RANK].iloc[case])] if tables.baseline else []
    return Card(
        case=case,
        source=opened.labels[int(record[c.SOURCE])],
        target=opened.labels[int(record[c.TARGET])],
        sentence="" if recipe is None else _sentence(opened, tables, case, recipe),
        ranks=tuple((name, ordinal(float(rank))) for name, rank in (*ranks, (tables.model, record[c.RANK]))),
        seen=seen_words(int(record[c.TRANSITION_COUNT])),
    )


def _sentence(opened: Workspace, tables: RecipeTables, case: int, recipe: FoundCases) -> str:
    record = tables.records.iloc[case]
    if recipe.recipe == "popular":
        return popular_sentence(int(tables.train_checkins[int(record[c.TARGET])]))
    if recipe.recipe in ("wrong", "right"):
        probability = float(record[c.FIRST_PROBABILITY]) if has_probabilities(tables.records) else None
        return first_choice_sentence(tables.model, opened.labels[int(record[c.TOP_POIS][0])], probability)
    ablation = tables.ablation(recipe.recipe) if recipe.recipe in ("past_visits", "two_hop_paths") else None
    if ablation is None or tables.ablations is None:
        return ""
    return without_sentence(recipe.recipe, float(tables.ablations[f"without_{ablation}"].iloc[case]))
