"""The finding in one sentence, held against the numbers it speaks of."""

from analysis.explain.edits import parse_edits
from analysis.explain.explanation import explain_fully
from analysis.explain.headline import headline
from analysis.formatting import ordinal, points
from tests.analysis.planted import small_predictor


def test_who_leads_is_ahead_and_the_other_behind() -> None:
    """Ranks and margin are the explanation's; who stands lower is never ahead, and both ways round are met."""
    predictor = small_predictor()
    verbs = set()
    for number in range(len(predictor.cases)):
        told = explain_fully(predictor, number, counterfactuals=False)
        margin = told.contrast.margin
        verb = "is ahead by" if margin < 0 else "is behind by"
        verbs.add(verb)
        start = f"{told.target_name} comes {ordinal(told.target_rank)} of {told.num_places:,}; "
        assert (
            headline(told).text
            == f"{start}{told.contrast.b.name}, {ordinal(told.contrast.b.rank)}, {verb} {points(abs(margin))}."
        )
        coloured = {piece.kind: piece.text for piece in headline(told).pieces if piece.kind != "plain"}
        assert coloured == {"target": told.target_name, "rival": told.contrast.b.name}
    assert verbs == {"is ahead by", "is behind by"}


def test_an_edit_that_topples_the_rival_is_told_so() -> None:
    """Under edits the rival stays the one from before, with the rank it then has: nobody "wins" from behind."""
    predictor = small_predictor()
    toppled = 0
    for number in range(len(predictor.cases)):
        before = explain_fully(predictor, number, counterfactuals=False)
        after = explain_fully(
            predictor, number, against=before.rival, edits=parse_edits("off:prior"), counterfactuals=False
        )
        assert f"{after.contrast.b.name}, {ordinal(after.contrast.b.rank)}, is" in headline(after).text
        assert "win" not in headline(after).text
        toppled += before.contrast.b.rank == 1 < after.contrast.b.rank
    assert toppled > 0
