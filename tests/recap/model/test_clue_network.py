"""The network over a candidate's clues: silent at first, scaled by deviations, one dropout mask a case."""

import pytest
import torch
from recap.model.clue_network import ClueNetwork


def loud(network: ClueNetwork) -> ClueNetwork:
    """With something to say."""
    torch.nn.init.ones_(list(network.parameters())[-1])
    return network.double()


def test_it_begins_silent() -> None:
    network = ClueNetwork(3, 2, 4, layers=3).double()
    clue_CF, number_BZ = torch.randn(5, 3, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    assert network(clue_CF, number_BZ, torch.tensor([0, 0, 1, 1, 1])).tolist() == [[0.0]] * 5


@pytest.mark.parametrize("layers", [1, 2])
def test_scaled_clues_have_no_unit(layers: int) -> None:
    """Kilometres or metres: once scaled the network says the same; one that never varies stays as it is."""
    torch.manual_seed(0)
    network = loud(ClueNetwork(2, 1, 4, layers, scaled=True)).eval()
    clue_CF = torch.stack([torch.randn(50, dtype=torch.float64), torch.full((50,), 3.0, dtype=torch.float64)], 1)
    number_BZ, case_C = torch.ones(1, 1, dtype=torch.float64), torch.zeros(50, dtype=torch.int64)
    network.scale_by(clue_CF)
    assert network.scale_F is not None
    assert network.scale_F.tolist() == pytest.approx([float(clue_CF[:, 0].std()), 1.0])
    said = network(clue_CF, number_BZ, case_C)
    metres_CF = clue_CF * torch.tensor([1000.0, 1.0], dtype=torch.float64)
    network.scale_by(metres_CF)
    torch.testing.assert_close(network(metres_CF, number_BZ, case_C), said)


def test_unscaled_clues_stay_as_they_are() -> None:
    network = ClueNetwork(2, 1, 4)
    network.scale_by(torch.randn(50, 2))
    assert network.scale_F is None


def test_a_case_has_one_mask() -> None:
    """In training equal candidates of one case are told the same; of many cases some differ."""
    torch.manual_seed(0)
    network = loud(ClueNetwork(2, 1, 8)).train()
    case_C = torch.arange(40).repeat_interleave(2)
    clue_CF, number_BZ = torch.ones(80, 2, dtype=torch.float64), torch.ones(40, 1, dtype=torch.float64)
    said_B2 = network(clue_CF, number_BZ, case_C).reshape(40, 2)
    assert torch.equal(said_B2[:, 0], said_B2[:, 1])
    assert len(said_B2[:, 0].unique()) > 1


def test_weights_of_one_layer_keep_their_names() -> None:
    """Checkpoints of networks of one layer are read by these."""
    names = set(ClueNetwork(3, 2, 4).state_dict())
    assert names == {"0.weight", "0.bias", "3.weight"}
