"""Dropout drawn for a whole batch: the law of its masks, the shares of a group, and the generator they hang on."""

import math

import pytest
import torch
from torch.nn import functional as F

from recap.arithmetic.random_masks import draw_mask
from recap.training.group import SharedMaskDropout

CASES = 11
DROPPED = 0.3


@pytest.mark.parametrize("p", [0.1, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_mask_drops_p_and_keeps_the_mean(p: float, dtype: torch.dtype) -> None:
    """A share p is 0 within five standard errors, row by row and in all; the rest is 1 / (1 - p)."""
    torch.manual_seed(1)
    mask = draw_mask((50, 4000), p, dtype)
    assert mask.dtype == dtype and mask.unique().numel() == 2
    assert mask.max().item() == pytest.approx(1 / (1 - p), rel=4e-3 if dtype == torch.bfloat16 else 1e-4)
    dropped = (mask == 0).double()
    assert abs(dropped.mean().item() - p) < 5 * math.sqrt(p * (1 - p) / mask.numel())
    assert (dropped.mean(1) - p).abs().max().item() < 5 * math.sqrt(p * (1 - p) / 4000)
    assert abs(torch.corrcoef(dropped[:2])[0, 1].item()) < 5 / math.sqrt(4000)


def test_next_to_nothing_is_nothing() -> None:
    """A p below half of 1 / 65,536 drops nothing, as 0 does; a mask's size need not fill its last word."""
    assert draw_mask((3, 5), 0.0, torch.float32).tolist() == [[1.0] * 5] * 3
    assert draw_mask((1, 1), 7e-6, torch.float32).tolist() == [[1.0]]


def test_masks_hang_on_torchs_generator_alone() -> None:
    """The same seed gives the same masks one after the other, and no two of them are equal."""

    def three() -> list[torch.Tensor]:
        torch.manual_seed(7)
        return [draw_mask((4, 33), 0.5, torch.float32) for _ in range(3)]

    first, again = three(), three()
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[1], first[2])


def drop_and_attend(values: torch.Tensor, present: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    heads = values[:, None]
    attended = F.scaled_dot_product_attention(heads, heads, heads, attn_mask=present, dropout_p=DROPPED)
    return F.dropout(values, DROPPED), attended


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_shares_together_are_the_batch(words: bool, size: int) -> None:
    """Every process computes its cases as one process computes them all, with dropout and attention."""
    values = torch.randn(CASES, 6, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    present = torch.ones(CASES, 1, 1, 6, dtype=torch.bool)

    def computed(rank: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(3)
        with SharedMaskDropout(CASES, rank, size, words=words):
            return drop_and_attend(values[rank::size], present[rank::size])

    whole = computed(0, 1)
    for rank in range(size):
        for part, mine in zip(whole, computed(rank, size), strict=True):
            torch.testing.assert_close(mine, part[rank::size])


def test_without_words_the_numbers_are_torchs() -> None:
    """The same seed drops the same elements with and without it."""
    values = torch.randn(CASES, 6)
    torch.manual_seed(3)
    plain = F.dropout(values, DROPPED)
    torch.manual_seed(3)
    with SharedMaskDropout(CASES):
        drawn = F.dropout(values, DROPPED)
    assert torch.equal(plain, drawn)


def test_nothing_is_drawn_where_nothing_is_dropped() -> None:
    """Evaluation and p = 0 leave values and generator alone."""
    values = torch.randn(CASES, 6)
    state = torch.get_rng_state()
    with SharedMaskDropout(CASES, words=True):
        assert torch.equal(F.dropout(values, DROPPED, training=False), values)
        assert torch.equal(F.dropout(values, 0.0), values)
    assert torch.equal(torch.get_rng_state(), state)


def test_gradients_follow_the_mask() -> None:
    """What was dropped gets no gradient, what was kept gets the mask's factor."""
    values = torch.randn(CASES, 6, requires_grad=True)
    with SharedMaskDropout(CASES, words=True):
        dropped = F.dropout(values, DROPPED)
    dropped.sum().backward()
    assert values.grad is not None
    torch.testing.assert_close(dropped.detach(), values.detach() * values.grad)


def test_a_tensor_without_a_row_for_each_case_is_refused() -> None:
    with SharedMaskDropout(CASES, 1, 2, words=True), pytest.raises(RuntimeError, match="11 rows in a share of 5 cases"):
        F.dropout(torch.ones(CASES, 2), DROPPED)
