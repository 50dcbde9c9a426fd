"""The finding in one sentence, held against the numbers it speaks of."""

from analysis.explain.explanation import explain_fully
from analysis.explain.headline import headline
from analysis.formatting import ordinal, points
from tests.analysis.planted import small_predictor


def test_the_leader_wins_and_the_other_is_behind() -> None:
    """Rank and margin are the explanation's; who stands lower never wins, and both ways round are met."""
    predictor = small_predictor()
    verbs = set()
    for number in range(len(predictor.cases)):
        told = explain_fully(predictor, number, counterfactuals=False)
        margin = told.contrast.margin
        verb = "wins by" if margin < 0 else "is behind by"
        verbs.add(verb)
        start = f"{told.target_name} comes {ordinal(told.target_rank)} of {told.num_places:,}; "
        assert headline(told).text == f"{start}{told.contrast.b.name} {verb} {points(abs(margin))}."
        coloured = {piece.kind: piece.text for piece in headline(told).pieces if piece.kind != "plain"}
        assert coloured == {"target": told.target_name, "rival": told.contrast.b.name}
    assert verbs == {"wins by", "is behind by"}
