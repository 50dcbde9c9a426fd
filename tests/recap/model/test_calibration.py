"""The contextual calibration: its time features by hand, its gate for any weights (Eqs. 10-13, 20-24)."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recap.model.config import Stage
from tests.worlds import batch_of, shake, small_city, small_recap


@settings(max_examples=25)
@given(st.floats(0.01, 100), st.integers(0, 9))
def test_the_gate_is_signed_and_bounded(spread: float, seed: int) -> None:
    """For weights of any size -1 <= gamma <= 1, and |Delta| <= |lambda_corr| R (Eqs. 12-13)."""
    model = small_recap(small_city(), seed)
    assert model.calibration is not None
    shake(model.calibration, seed, spread)
    batch = batch_of(small_city(), torch.arange(5, 25))
    with torch.inference_mode():
        parts = model.revisit(batch, Stage(), model.encode(batch, Stage()))
    assert parts is not None and parts.gate_C is not None and parts.correction_C is not None
    assert bool((parts.gate_C.abs() <= 1).all())
    scale = model.calibration.scale.detach()
    assert bool((parts.correction_C.abs() <= scale.abs() * parts.terms.prior_C * (1 + 1e-12)).all())
    torch.testing.assert_close(parts.correction_C, scale * parts.gate_C * parts.terms.prior_C, rtol=1e-12, atol=0)


def test_rows_of_zeros_in_bf16_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates, corrections and gradients are those without padding."""
    dataset = small_city()
    batch = batch_of(dataset)
    found: list[tuple[torch.Tensor, ...]] = []
    for rows in (1, 64):
        monkeypatch.setattr("recap.model.recap._BF16_ROWS", rows)
        model = small_recap(dataset, dtype=torch.float32).eval()
        shake(model)
        with torch.autocast("cpu", torch.bfloat16):
            state_BD = model.encode(batch, Stage())
            parts = model.revisit(batch, Stage(), state_BD)
        assert parts is not None and parts.gate_C is not None and parts.correction_C is not None
        assert len(parts.gate_C) == len(parts.candidates.case_C)
        assert rows == 1 or len(parts.gate_C) % rows
        parts.correction_C.sum().backward()
        assert model.poi_embedding.weight.grad is not None
        found.append((parts.gate_C, parts.correction_C, model.poi_embedding.weight.grad))
    for plain, padded in zip(*found, strict=True):
        torch.testing.assert_close(padded, plain, rtol=2e-2, atol=2e-3)
