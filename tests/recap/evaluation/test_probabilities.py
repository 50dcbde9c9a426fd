"""Probabilities: softmax(score / T), a fitted T, and how far they can be believed."""

import json
import math
import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recap.checkpoint import Checkpoint
from recap.errors import ConfigError
from recap.evaluation.metrics import reliability_curve, summarise_probabilities
from recap.evaluation.scoring import Evaluation, score_cases
from recap.evaluation.temperature import fit_temperature, most_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.probabilities import UNFITTED, Temperature, entropy, log_probabilities
from recap.scores import Scores
from recap.training.run import train
from tests.checkins import small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.recap.history.test_tensors import tensors
from tests.spoiled import write_sums_again
from tests.worlds import habit_rows, small_training


class Given:
    """Scores that are given, a row for each source row."""

    name, reads_target_time = "given", False

    def __init__(self, score_TP: Tensor) -> None:
        self.score_TP = score_TP

    def score(self, histories: Histories) -> Scores:
        return Scores({"given": self.score_TP[histories.row_B]})


def test_a_temperature_divides_the_scores() -> None:
    """Odds of 3 to 1 become odds of the square root of 3 to 1 at T = 2; b acts by the case's entropy."""
    total_BP = torch.tensor([[math.log(3.0), 0.0]])
    torch.testing.assert_close(log_probabilities(total_BP, UNFITTED).exp().tolist(), [[0.75, 0.25]])
    halved = log_probabilities(total_BP, Temperature(a=math.log(2.0))).exp()[0]
    assert float(halved[0] / halved[1]) == pytest.approx(3**0.5)
    H = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert float(entropy(log_probabilities(total_BP, UNFITTED))[0]) == pytest.approx(H)
    by_entropy = log_probabilities(total_BP, Temperature(a=0.1, b=-0.3)).exp()[0]
    assert float(by_entropy[0] / by_entropy[1]) == pytest.approx(3 ** (1 / math.exp(0.1 - 0.3 * H)))


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=6), st.floats(-1, 1), st.floats(-1, 1))
def test_no_rank_changes(scores: list[float], a: float, b: float) -> None:
    """A higher score never has a lower probability, and all sum to 1."""
    total_BP = torch.tensor([scores], dtype=torch.float64)
    found_P = log_probabilities(total_BP, Temperature(a=a, b=b))[0]
    assert float(found_P.exp().sum()) == pytest.approx(1.0)
    order = torch.argsort(total_BP[0])
    assert (found_P[order].diff() >= -1e-12).all()


def test_the_fit_finds_the_temperature_that_made_the_data() -> None:
    """Next places drawn with T = exp(0.4 - 0.2 H); fewer than 50 cases fit nothing."""
    torch.manual_seed(3)
    num_cases, num_places = 6_000, 12
    score_TP = torch.randn(num_cases + 1, num_places, dtype=torch.float64) * torch.rand(num_cases + 1, 1) * 6
    drawn_T = torch.multinomial(log_probabilities(score_TP, Temperature(a=0.4, b=-0.2)).exp(), 1)[:, 0]
    checkins = tensors([[num_places - 1, *drawn_T[:-1].tolist()]])
    cases = pd.DataFrame({"row": range(num_cases)})
    found = fit_temperature(Given(score_TP), cases, checkins)
    assert (found.a, found.b) == (pytest.approx(0.4, abs=0.08), pytest.approx(-0.2, abs=0.04))
    assert fit_temperature(Given(score_TP), cases.head(49), checkins) is None
    assert (most_cases(10), most_cases(1_000_000), most_cases(100_000_000)) == (4_000, 268, 50)


def test_columns_of_probabilities() -> None:
    """.5, .3, .15, .05: three places hold 90 %; the target has .3; without a temperature there are no columns."""
    score_TP = torch.tensor([[0.5, 0.15, 0.3, 0.05]], dtype=torch.float64).log().expand(3, 4)
    checkins, cases = tensors([[3, 2, 0]]), pd.DataFrame({"row": [0, 1]})
    records = score_cases(Given(score_TP), cases, checkins, temperature=UNFITTED)
    assert records["first_probability"].tolist() == pytest.approx([0.5, 0.5])
    assert records["log_likelihood"].tolist() == pytest.approx([math.log(0.3), math.log(0.5)])
    assert records["list_90"].tolist() == [3, 3]
    assert "list_90" not in score_cases(Given(score_TP), cases, checkins)


def test_reliability_by_hand() -> None:
    """Two cases at .25, one of them right, one at .95 that is wrong: .25 in two thirds of the cases, .95 in one."""
    columns = ["first_probability", "num_better", "num_tied", "log_likelihood", "list_90"]
    records = pd.DataFrame([[0.22, 0, 1, -1.0, 4], [0.28, 3, 1, -2.0, 2], [0.95, 1, 2, -6.0, 2]], columns=columns)
    curve = reliability_curve(records)
    assert curve["low"].tolist() == [0.2, 0.9] and curve["n"].tolist() == [2, 1]
    assert curve["right"].tolist() == [0.5, 0.0] and curve["probability"].tolist() == pytest.approx([0.25, 0.95])
    found = summarise_probabilities(records)
    assert found is not None
    assert found["calibration_error"] == pytest.approx((2 * 0.25 + 0.95) / 3)
    assert (found["log_likelihood"], found["list_90"]) == (-3.0, 2.0)
    assert found["inside_90"] == pytest.approx((1 + 0 + 0.5) / 3), "the last truth is 2nd or 3rd, its list has two"
    assert summarise_probabilities(records.drop(columns="first_probability")) is None
    assert summarise_probabilities(records.head(0)) is None


def test_commands_use_the_checkpoints_temperature(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """A fitted checkpoint says nothing more; without its numbers T is 1, and both commands say so."""
    hot = Path(shutil.copytree(city_checkpoint, tmp_path / "hot"))
    manifest = json.loads((hot / "checkpoint.json").read_text())
    assert manifest["temperature"] is None, "the small city has fewer than 50 validation cases"

    def set_temperature(**values: float) -> None:
        (hot / "checkpoint.json").write_text(json.dumps(manifest | {"temperature": values}))
        write_sums_again(hot)

    set_temperature(a=0.5, b=0.1)
    explain = ("explain", "--data", city_folder, "--case", 3, "--top", 17)
    for folder, temperature in ((city_checkpoint, UNFITTED), (hot, Temperature(a=0.5, b=0.1))):
        shown = recap_json_here(*explain, folder)["candidates"]
        scores = torch.tensor([[entry["score"] for entry in shown]], dtype=torch.float64)
        expected = log_probabilities(scores, temperature)[0].exp().tolist()
        assert [entry["probability"] for entry in shown] == pytest.approx(expected)
        for words in (("evaluate", "--data", city_folder), explain):
            said = " ".join(recap_here(*words, folder).stdout.split())
            assert ("(T = 1)" in said) == (folder == city_checkpoint)
    plain, warm, last = (
        recap_json_here("evaluate", folder, "--data", city_folder, "--protocol", protocol)["probabilities"]
        for folder, protocol in ((city_checkpoint, "every_next"), (hot, "every_next"), (city_checkpoint, "user_last"))
    )
    assert sum(row["n"] for row in plain["curve"]) > sum(row["n"] for row in last["curve"])
    assert plain["log_likelihood"] != warm["log_likelihood"] and plain["list_90"] <= warm["list_90"]
    assert recap_json_here("evaluate", "markov", "--data", city_folder)["probabilities"] is None
    set_temperature(a=700)
    with pytest.raises(ConfigError, match=r"temperature\.a"):
        Checkpoint.load(hot)


def test_a_training_fits_its_temperature(tmp_path: Path) -> None:
    """Fifty validation cases are enough; the test records are scored with it."""
    dataset = small_dataset(habit_rows(num_users=20, num_walks=10))
    seen: list[Evaluation] = []
    out = tmp_path / "out"
    trained = train(dataset, small_training(epochs=3), out, device=torch.device("cpu"), after_test=seen.append)
    assert trained is not None and trained.manifest.temperature is not None and not trained.is_unfitted
    assert trained.temperature == trained.manifest.temperature != UNFITTED
    scorer = trained.scorer(dataset, TransitionGraph.from_dataset(dataset))
    checkins = CheckinTensors.from_dataset(dataset)
    again = score_cases(scorer, seen[0].records[["row"]], checkins, temperature=trained.temperature)
    assert again["log_likelihood"].tolist() == pytest.approx(seen[0].records["log_likelihood"].tolist())
