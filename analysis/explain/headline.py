"""The finding of an explanation in one sentence: for the view's title, the report's, and a saved case's."""

from analysis.explain.explanation import FullExplanation
from analysis.explain.sentences import Piece, Sentence
from analysis.formatting import ordinal, points


def headline(explanation: FullExplanation) -> Sentence:
    """Ranks of both places as they stand, edits applied, and who is ahead by how much.

    Its text reads ``Ferry Terminal comes 2nd of 1,204; Tideline Bakery, 1st, is ahead by 0.32.``
    """
    margin = explanation.contrast.margin
    verdict = f"is {'ahead' if margin < 0 else 'behind'} by {points(abs(margin))}"
    if points(abs(margin)) == points(0.0):
        verdict = "is level with it" if margin == 0 else f"is {'ahead' if margin < 0 else 'behind'} by less than 0.01"
    return Sentence(
        about="answer",
        pieces=[
            Piece(text=explanation.target_name, kind="target"),
            Piece(text=f" comes {ordinal(explanation.target_rank)} of {explanation.num_places:,}; "),
            Piece(text=explanation.contrast.b.name, kind="rival"),
            Piece(text=f", {ordinal(explanation.contrast.b.rank)}, {verdict}."),
        ],
    )
