"""The contextual calibration: its time features by hand, its gate for any weights (Eqs. 10-13, 20-24)."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recap.history import find_revisit_candidates
from recap.model.config import Stage
from recap.model.revisit_prior import revisit_statistics
from tests.worlds import SMALL_MODEL, batch_of, shake, small_city, small_recap


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


def test_gates_of_every_pair_are_those_of_single_pairs() -> None:
    """Three states of one case with each of its candidates: what the gate says of the pair alone (Eq. 12)."""
    model = small_recap(small_city())
    batch = batch_of(small_city(), torch.tensor([20]))
    calibration, candidates = model.calibration, find_revisit_candidates(batch)
    assert calibration is not None and model.prior is not None
    given_C = {
        "embedding_CE": model.poi_embedding(candidates.poi_C),
        "statistics_C3": torch.stack(revisit_statistics(candidates, model.prior.log_recency_steps), dim=1),
    }
    features_CD = calibration.history_features(batch, candidates, given_C["statistics_C3"])
    candidate_CD = calibration.candidate(torch.cat([given_C["embedding_CE"], features_CD], dim=1))
    state_3D = torch.randn(3, SMALL_MODEL.hidden_dim, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    now_3 = batch.checkins.local_seconds_T[batch.row_B].expand(3)
    gate_3C = calibration.gates(calibration.context_query(state_3D, now_3), candidate_CD)
    alone_3C = torch.stack([calibration(batch, candidates, state_BD=state_3D[[at]], **given_C) for at in range(3)])
    assert gate_3C.std() > 0.01 and len(candidates.poi_C) > 1
    torch.testing.assert_close(gate_3C, alone_3C, rtol=0, atol=1e-12)


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
