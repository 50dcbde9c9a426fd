"""The finding of an explanation in one sentence: for the view's title, the report's, and a saved case's."""

from analysis.explain.explanation import FullExplanation
from analysis.explain.sentences import Piece, Sentence
from analysis.formatting import ordinal, points


def headline(explanation: FullExplanation) -> Sentence:
    """Rank of the place explained, and who leads by how much.

    Its text reads ``Ferry Terminal comes 2nd of 1,204; Tideline Bakery wins by 0.32.``
    """
    margin = explanation.contrast.margin
    verdict = f"wins by {points(-margin)}" if margin < 0 else f"is behind by {points(margin)}"
    return Sentence(
        about="answer",
        pieces=[
            Piece(text=explanation.target_name, kind="target"),
            Piece(text=f" comes {ordinal(explanation.target_rank)} of {explanation.num_places:,}; "),
            Piece(text=explanation.contrast.b.name, kind="rival"),
            Piece(text=f" {verdict}."),
        ],
    )
