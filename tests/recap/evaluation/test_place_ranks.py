"""PlaceRanks block by block: a table to count by hand, and the law that blocks say what whole rows of totals say."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from recap.evaluation import place_ranks
from recap.evaluation.place_ranks import Contributions, PlaceRanks, place_ranks_of_states


def layer(weight_PD: Tensor, bias_P: Tensor) -> nn.Linear:
    """An output layer with these numbers."""
    output = nn.Linear(weight_PD.shape[1], len(weight_PD), dtype=torch.float64).requires_grad_(False)
    output.weight.copy_(weight_PD)
    output.bias.copy_(bias_P)
    return output


def test_counted_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five places in blocks of two; place 2 ties with place 4, and points lift place 0 past both in scoring 1."""
    monkeypatch.setattr(place_ranks, "_BLOCK", 2)
    output = layer(torch.tensor([[0.0], [3.0], [2.0], [1.0], [2.0]], dtype=torch.float64), torch.zeros(5))
    state_MD = torch.tensor([[1.0], [1.0], [0.0]], dtype=torch.float64)
    contributions = Contributions(
        torch.tensor([1, 2]), torch.tensor([0, 2]), torch.tensor([2.5, -1.0], dtype=torch.float64)
    )
    found = place_ranks_of_states(output, state_MD, contributions, 2)
    # Totals: 0 3 2 1 2, then 2.5 3 2 1 2, then 0 0 -1 0 0.
    assert found.logit_M.tolist() == [2.0, 2.0, -1.0]
    assert found.rank_M.tolist() == [2.5, 3.5, 5.0]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 12), st.integers(1, 5))
def test_blocks_say_what_whole_rows_say(seed: int, scorings: int, places: int, block: int) -> None:
    """Whole numbers, so that sums are exact and ties are many."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randint(-2, 3, shape, generator=generator).double()

    output, state_MD = layer(drawn(places, 3), drawn(places)), drawn(scorings, 3)
    chosen_MP = drawn(scorings, places) > 0
    scoring_C, poi_C = chosen_MP.nonzero(as_tuple=True)
    order_C = torch.randperm(len(poi_C), generator=generator)
    contributions = Contributions(scoring_C[order_C], poi_C[order_C], drawn(len(poi_C)))
    total_MP = output(state_MD).index_put(
        (contributions.scoring_C, contributions.poi_C), contributions.value_C, accumulate=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place_ranks, "_BLOCK", block)
        patch.setattr(place_ranks, "_WORTH_A_THREAD", 1 + seed % 3)  # read by one thread, and by several
        for poi in range(places):
            found, whole = (
                place_ranks_of_states(output, state_MD, contributions, poi),
                PlaceRanks.of_totals(total_MP, poi),
            )
            assert torch.equal(found.logit_M, whole.logit_M) and torch.equal(found.rank_M, whole.rank_M)
