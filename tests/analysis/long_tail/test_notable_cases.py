"""The cases on Overview's cards: one of each kind, and ranks without a part as Explain's own edit has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.explain.edits import SwitchOff
from analysis.explain.explain_case import explain_case
from analysis.long_tail.notable_cases import NotableCase, _spread, find_notable, notable_cases
from analysis.records.ablations import ABLATIONS
from analysis.workspace import Workspace
from tests.checkins import split_dataset

BUNDLE = Path(__file__).parents[3] / "checkpoints" / "demo-city"
TRAIN, TEST = 0, 2
# Training knows 0 -> 1 -> 2. Three users each make an unseen transition: to a place visited before, to a new place
# within two hops, and to a new place that nothing leads to.
RESCUES: list[tuple[int, list[tuple[int, int]]]] = [
    (0, [(0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(3, TRAIN)]),
    (0, [(0, TEST), (3, TEST)]),
    (1, [(0, TEST), (2, TEST)]),
    (2, [(2, TEST), (4, TEST)]),
]
OPENED = Workspace.of(split_dataset(RESCUES, 5))


def found_with(ranks: list[float], facts: dict[str, Any] | None = None, **without: list[float]) -> list[NotableCase]:
    """The cards of a model with these ranks; with ablations that move nothing but what is named."""
    records = OPENED.cases.assign(rank=ranks, **facts or {})
    table = pd.DataFrame({"case": records["case"], "rank": ranks} | {f"without_{name}": ranks for name in ABLATIONS})
    for name, moved in without.items():
        table[f"without_{name}"] = moved
    counter = OPENED.cases.assign(rank=[25.0, 30.0, 40.0])
    return notable_cases(OPENED, records, counter, (lambda cases: table.iloc[cases]) if without else None)


def test_one_case_of_each_kind() -> None:
    """Without ablations: a known place, a new place within two hops, and a miss out of reach of both."""
    assert [card[:6] for card in found_with([1.0, 2.0, 30.0])] == [
        ("past_visits", 0, 1.0, 25.0, 0, 1),
        ("two_hop_paths", 1, 2.0, 30.0, 0, 0),
        ("missed", 2, 30.0, 40.0, 0, 0),
    ]
    assert found_with([1.0, 1.0, 1.0])[0].case == 0 and len(found_with([1.0, 1.0, 1.0])) == 2


def test_with_ablations_a_card_is_lost_without_the_part() -> None:
    """Case 1 (2nd) falls to 41st without two-hop paths; case 0 needs none of its past visits, or only just."""
    found = found_with([1.0, 2.0, 30.0], two_hop_paths=[1.0, 41.0, 30.0], past_visits=[20.0, 2.0, 30.0])
    assert [(card.kind, card.case, card.ablation, card.rank_without) for card in found] == [
        ("two_hop_paths", 1, "two_hop_paths", 41.0),
        ("missed", 2, None, None),
    ]
    first = found_with([1.0, 2.0, 30.0], past_visits=[21.0, 2.0, 30.0])[0]
    assert (first.kind, first.case, first.rank_without) == ("past_visits", 0, 21.0)
    nan = [np.nan] * 3
    token = found_with([1.0, 2.0, 30.0], two_hop_paths=nan, graph_token=[1.0, 50.0, 30.0])[0]
    assert (token.kind, token.ablation, token.rank_without) == ("two_hop_paths", "graph_token", 50.0)


@pytest.mark.parametrize("folder", ["checkpoint", "paper"])
def test_a_cards_rank_is_that_of_explains_edit(folder: str) -> None:
    """The demo city's cards: the same numbers when Explain leaves the part out of the case."""
    opened = Workspace.open(BUNDLE / "dataset").with_model(BUNDLE / folder)
    cards = [card for card in find_notable(opened) if card.ablation]
    assert [card.kind for card in cards] == ["past_visits", "two_hop_paths"]
    for card in cards:
        edited = explain_case(opened.predictor, card.case, edits=(SwitchOff(name=str(card.ablation)),))
        assert edited.target_rank == card.rank_without
        assert explain_case(opened.predictor, card.case).target_rank == card.rank


def test_a_short_list_reaches_from_the_best_rank_to_the_worst() -> None:
    """Of ten likely cases three: the first, the middle and the last; others only where there is room."""
    rows = pd.DataFrame({"rank": range(12)})
    assert _spread(rows, 10, 3).index.tolist() == [0, 4, 9]
    assert _spread(rows, 2, 3).index.tolist() == [0, 1, 2]


def test_a_hit_that_the_model_was_sure_of_comes_first() -> None:
    """All three cases lose their past visits; only in the second was the first choice worth half of the list."""
    lists = pd.Series([[0.0] * 20, [5.0] + [0.0] * 19, [0.0] * 20])
    changes = {"past_visits": [50.0] * 3}
    first = found_with([1.0, 1.0, 1.0], {"top_scores": lists, "in_history": True}, **changes)[0]
    assert (first.kind, first.case) == ("past_visits", 1)
