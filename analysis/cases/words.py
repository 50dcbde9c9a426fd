"""The sentences of Cases."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from analysis.formatting import ordinal, percent, times
from analysis.records.evaluation_records import label_as_subject, label_in_sentence
from recap.machine.printable import markdown_text

RecipeName = Literal["wrong", "right", "popular", "past_visits", "two_hop_paths", "flipped", "nothing"]
RECIPES: Final[tuple[RecipeName, ...]] = get_args(RecipeName)
_WORDS: Final[dict[RecipeName, tuple[str, str, str]]] = {
    "wrong": (
        "Clear first choice, missed",
        "{model} has a clear first choice and misses in {some}.",
        "Missed, although the first choice is at least as probable as the next {others} together.",
    ),
    "right": (
        "Clear first choice, right",
        "{model} has a clear first choice, which is right, in {some}.",
        "Ranked first, and at least as probable as the next {others} together. Rarest transitions first.",
    ),
    "popular": (
        "New way to a popular place",
        "In {some} a popular place is reached from somewhere new.",
        "The place is among the most visited tenth; nobody went there from here in training.",
    ),
    "past_visits": (
        "Lost without past visits",
        "Without past visits, {who} loses {some}.",
        "Found in the top {k}; without past visits ranked below it.",
    ),
    "two_hop_paths": (
        "Lost without two-hop paths",
        "Without two-hop paths, {who} loses {some}.",
        "Found in the top {k}; without two-hop paths ranked below it.",
    ),
    "flipped": (
        "Models disagree",
        "{model} and {baseline} disagree on {some}.",
        "Exactly one of {pair} has the true place in its top {k}.",
    ),
    "nothing": (
        "Others miss it too",
        "{model} and other models miss the same {some}.",
        "Not in the top {k} of any of these: {models}.",
    ),
}
"""Of each recipe: its label, the finding, and the search in words."""
LABELS: Final[dict[RecipeName, str]] = {recipe: label for recipe, (label, _, _) in _WORDS.items()}
NO_ABLATIONS: Final = "Ablations of this model were not run: `recap long-tail --full` runs them."
SEARCH_HINT: Final = "Search a place, user or case number"
SEARCHED: Final = (
    "The search covers places, categories, users and case numbers, and titles, notes and tags of saved cases."
)
NOTHING_SAVED: Final = "Choose a card and save it, or save a case in Explain."
OTHER_LIST: Final = "The link names no list of cases, so another one is shown."
NO_COLLECTION: Final = "The collection of this link is not in your library."
COLLECTION_HINT: Final = "Choose one, or type a new title"
CASES_STAY: Final = "Its cases stay in the library"
NOTE_HINT: Final = "Why it is worth keeping"
EXPORT_HELP: Final = "Plain JSON with your notes; it opens where the same dataset is open."
PRESENT_HELP: Final = "Full-width slides; arrow keys move them. To present in a room, start `recap app --large-text`."
NO_SHARES: Final = "This model gives no probabilities, so no first choice is clear."


def damaged_title(files: int) -> str:
    number = "One file" if files == 1 else f"{files} files"
    return f"{number} in your library cannot be read; the others are here"


def gone_line(cases: int) -> str:
    return f"{cases} of its cases {'is' if cases == 1 else 'are'} no longer in the library."


def order_title(collection: str) -> str:
    return f"Order in {markdown_text(collection)}"


def saved_line(case: int) -> str:
    return f"Case {case} saved."


def added_line(collection: str) -> str:
    return f"Added to {markdown_text(collection)}."


def collections_line(titles: Sequence[str]) -> str:
    """The collections of a saved case; empty without any."""
    return f"In {markdown_text(', '.join(titles))}" if titles else ""


def picture_alt(source: str, target: str) -> str:
    return f"Map: from {source} to {target}"


def shared_title(title: str, shared: int, of: int) -> str:
    """Title of a shared list, which may be shortened."""
    return title if shared == of else f"{title}, the first {shared} of {of:,}"


def recipe_headline(recipe: RecipeName, model: str, baseline: str, count: int, of: int) -> str:
    """The finding of a recipe.

    >>> recipe_headline("wrong", "RECAP", "Visit count", 112, 3984)
    'RECAP has a clear first choice and misses in 112 of 3,984 cases.'
    """
    names = {"model": label_as_subject(model), "who": label_in_sentence(model), "baseline": label_in_sentence(baseline)}
    return _WORDS[recipe][1].format(**names, some=f"{count:,} of {of:,} cases")


def recipe_meaning(recipe: RecipeName, models: Sequence[str], k: int) -> str:
    """The search of a recipe, in words; cases flip against the first other model."""
    names = {"models": list_models(models), "pair": list_models(models[:2])}
    return _WORDS[recipe][2].format(**names, k=k, others=k - 1)


def found_headline(count: int, of: int, search: str) -> str:
    if count == 0:
        return f"No case matches “{search}”."
    return f"{count:,} of {of:,} cases {'matches' if count == 1 else 'match'} “{search}”."


def saved_headline(count: int, collection: str) -> str:
    """How many cases the library or a collection has.

    >>> saved_headline(1, ""), saved_headline(2, "Tuesday")
    ('1 saved case', 'Tuesday: 2 saved cases')
    """
    saved = f"{count:,} saved case{'s' * (count != 1)}"
    return f"{collection}: {saved}" if collection else saved


def clear_line(came_true: int, clear: int) -> str:
    """How often a clear first choice is right.

    >>> clear_line(424, 704)
    'A clear first choice is right in 424 of 704 cases (60 %).'
    """
    return f"A clear first choice is right in {came_true:,} of {clear:,} cases ({percent(came_true / clear)})."


def first_choice_sentence(model: str, first: str, probability: float | None) -> str:
    """The first choice with its probability; None where that was not kept."""
    return (
        f"{model}'s first choice was {first}."
        if probability is None
        else f"{model} gave {first} {percent(probability)}."
    )


def popular_sentence(visits: int) -> str:
    return f"{visits:,} check-ins there in training, none from here."


def without_sentence(recipe: RecipeName, rank: float) -> str:
    part = "past visits" if recipe == "past_visits" else "two-hop paths"
    return f"Without {part} it would rank {ordinal(rank)}."


def seen_words(count: int) -> str:
    return "never seen" if count == 0 else f"seen {times(count)}"


def list_models(names: Sequence[str]) -> str:
    """Names of models inside a sentence.

    >>> list_models(["RECAP", "Visit count", "Markov"])
    'RECAP, visit count and Markov'
    """
    words = [label_in_sentence(name) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
