"""Windows of many lengths: where their check-ins stand, and that company in a batch says nothing."""

import torch

from recap.published.transformers import Packing, encode, encoder_of, sinusoids
from recap.published.windows import Windows, by_length
from tests.recap.published.test_arithmetic import city_of


def test_windows_by_length_say_what_they_say_together() -> None:
    """Lengths 3, 1 and 2 in two groups: each position's number stands where it belongs, and 0 behind an end."""
    _, checkins = city_of([[0, 1, 2]], 3)
    windows = Windows.of(checkins, torch.tensor([0, 1, 1]), torch.tensor([3, 1, 2]))
    asked: list[tuple[int, ...]] = []

    def rows(group: Windows) -> torch.Tensor:
        asked.append(tuple(group.row_BK.shape))
        return group.row_BK[:, :, None] + 1.0

    assert by_length(windows, rows)[:, :, 0].tolist() == [[1.0, 2.0, 3.0], [2.0, 2.0, 0.0], [2.0, 3.0, 0.0]]
    assert asked == [(2, 2), (1, 3)], "the short ones do not pay for the long one"


def test_packed_windows_are_encoded_as_padded_ones() -> None:
    """Lengths 3, 1, 2 and 1: torch's own encoder under a causal mask, and positions counted from each beginning."""
    torch.manual_seed(0)
    _, checkins = city_of([[0, 1, 2]], 3)
    windows = Windows.of(checkins, torch.tensor([0, 1, 1, 2]), torch.tensor([3, 1, 2, 1]))
    packing = Packing.of(windows)
    assert packing.runs == ((2, 1), (1, 2), (1, 3)) and packing.row_N.tolist() == [1, 2, 1, 2, 0, 1, 2]
    assert packing.position_N.tolist() == [0, 0, 0, 1, 0, 1, 2]
    assert packing.index_BK.tolist() == [[4, 5, 6], [0, 0, 0], [2, 3, 3], [1, 1, 1]]
    encoder, x_BKD = encoder_of(4, 2, 5, 0.5, 2).double().eval(), torch.randn(4, 3, 4, dtype=torch.float64)
    x_ND = torch.empty(7, 4, dtype=torch.float64)
    x_ND[packing.index_BK[windows.present_BK]] = x_BKD[windows.present_BK]
    padded = encoder(2 * x_BKD + sinusoids(3, x_BKD), mask=torch.ones(3, 3, dtype=torch.bool).triu(1))
    packed = encode(encoder, x_ND, packing, torch.nn.Identity())
    torch.testing.assert_close(packed[packing.index_BK[windows.present_BK]], padded[windows.present_BK])


def test_a_window_is_left_aligned() -> None:
    """What stands behind a window's end repeats its last row and is not there."""
    _, checkins = city_of([[0, 1, 2]], 3)
    windows = Windows.of(checkins, torch.tensor([0, 1]), torch.tensor([3, 1]))
    assert windows.poi_BK.tolist() == [[0, 1, 2], [1, 1, 1]]
    assert windows.present_BK.tolist() == [[True, True, True], [True, False, False]]
