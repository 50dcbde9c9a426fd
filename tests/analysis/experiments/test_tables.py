"""Tables of results, by hand: means and spreads over seeds, the paper beside its kind of cases, the whole page."""

from pathlib import Path
from typing import Any

import pytest

from analysis.experiments.references import paper_columns
from analysis.experiments.results import ArmResult, ExperimentResult
from analysis.experiments.tables import markdown, page, result_table


def by_hand(
    arm: str, seed: int | None, hr1: float, mrr: float | None, paper: dict[str, float] | None = None
) -> ArmResult:
    values: dict[str, Any] = {"every_step": {"all": {"n": 10, "hr1": hr1}, "tail": {"n": 4, "mrr": mrr}}}
    last = {"all": {"n": 5, "hr1": hr1 / 2}, "head": {"n": 2, "hr1": hr1}, "tail": {"n": 3, "hr1": hr1 / 4}}
    values |= {"trajectory_last": last, "reweighted": {"hr1": {"value": 0.0, "low": hr1 / 10, "high": hr1 * 2.5}}}
    return ArmResult(
        arm=arm, label=arm.upper(), seed=seed, digest="d", values=values, paper=paper or {}, epochs=3, preset="tiny"
    )


def table_by_hand() -> ExperimentResult:
    return ExperimentResult(
        experiment="x",
        title="X",
        question="Why?",
        dataset_name="small",
        dataset_hash="0" * 64,
        synthetic=False,
        seeds=(1, 2),
        columns=tuple({"key": k, "label": k, "digits": 4} for k in ("every_step.all.hr1", "every_step.tail.mrr")),
        average_rank={"rank": ("every_step.all.hr1", "every_step.tail.mrr")},
        arms=(
            by_hand("a", 1, 0.2, 0.5, {"trajectory_last.all.hr1": 0.3}),
            by_hand("a", 2, 0.4, 0.5),
            by_hand("b", None, 0.1, 0.7),
        ),
        finished=True,
        command="recap experiment run x",
        date="2026-01-01",
        hardware="2 cores",
        versions={"torch": "2"},
    )


def test_table_by_hand() -> None:
    """Means and spread over seeds, the paper's number, and ranks: a is 1st and 2nd, b 2nd and 1st."""
    table = result_table(table_by_hand()).set_index("arm")
    assert table.loc["a", "every_step.all.hr1"] == pytest.approx(0.3)
    assert table.loc["a", "spread:every_step.all.hr1"] == pytest.approx(0.2 / 2**0.5)
    assert table["rank:rank"].tolist() == [1.5, 1.5]
    assert table.loc["a", "paper:trajectory_last.all.hr1"] == 0.3
    text = markdown(table_by_hand())
    assert "| A | .3000 ± .1414 | .5000 ± .0000 | 1.50 |" in text
    assert "| B | .1000 | .7000 | 1.50 |" in text
    assert "real check-ins" in text and "n = 10 (tail 4)" in text and "seeds 1, 2" in text


def test_the_paper_stands_beside_the_same_kind_of_cases() -> None:
    """Over trajectory_last with n on both sides, then at the paper's head share: .3267 x .3 + .6733 x .075 = .1485."""
    text = markdown(table_by_hand())
    assert "trajectory_last, n = 5 (head 2, tail 3)" in text and "n = 958 (head 313, tail 645)" in text
    own, _, beside = text.partition("Beside the paper")
    assert "paper" not in own
    assert "| A | .1500 ± .0707 | .3000 |" in beside
    assert "| A, at the paper's head share .3267 | .1485 [.0300, .7500] |  |" in beside, "the mean of two seeds' ends"
    assert "| B, at the paper's head share .3267 | .0495 [.0100, .2500] |  |" in beside


def test_the_papers_head_share_where_seeds_are_missing() -> None:
    """A seed that was not run leaves the others' interval; one that measured none takes it from all."""
    hand = table_by_hand()
    first, second, _ = hand.arms
    not_run = second.model_copy(update={"values": {}, "note": "not run, about 3 min"})
    older = second.model_copy(update={"values": {k: v for k, v in second.values.items() if k != "reweighted"}})
    for other, told in ((not_run, ".0990 [.0200, .5000]"), (older, ".1485")):
        text = markdown(hand.model_copy(update={"arms": (first, other)}))
        assert f", at the paper's head share .3267 | {told} |  |" in text


def test_how_far_from_the_paper_and_from_the_public_code() -> None:
    """a has .15 of 5 cases with deviation .4: .3 of 958 is .15 / (.4 sqrt(1/5 + 1/958)) = .8 away, .9 of 5 is 3.0."""
    hand = table_by_hand()
    spread = {"deviation": {"all": {"hr1": 0.4}}}
    public = {"trajectory_last.all.hr1": 0.9}
    arms = [
        arm.model_copy(update={"values": arm.values | spread, "public": public if arm.arm == "a" else {}, **more})
        for arm, more in zip(hand.arms, ({}, {}, {"paper": {"trajectory_last.all.hr1": 0.05}}), strict=True)
    ]
    text = markdown(hand.model_copy(update={"arms": tuple(arms)}))
    assert "| A, to the paper | -0.8 |  |" in text and "| A, to its public code | **-3.0** | not known |" in text
    assert "| B, to the paper | +0.0 |  |" in text
    arms[0] = arms[0].model_copy(update={"reason": "half its width"})
    assert "| **-3.0** | half its width |" in markdown(hand.model_copy(update={"arms": tuple(arms)}))
    assert "standard errors" not in markdown(hand), "results of an earlier version have no deviations"
    assert "public code was run" in text
    alone = [arm.model_copy(update={"public": {}}) for arm in arms]
    assert "public code was run" not in markdown(hand.model_copy(update={"arms": tuple(alone)}))


def test_a_column_of_the_papers_kind_stands_once() -> None:
    """Where an experiment shows both protocols, the paper stands beside its own kind of cases under that label."""
    hand = table_by_hand()
    own = hand.columns[0].model_copy(update={"key": "trajectory_last.all.hr1", "label": "Last HR@1"})
    (column,) = paper_columns(hand.model_copy(update={"columns": (*hand.columns, own)}))
    assert (column.key, column.label) == ("trajectory_last.all.hr1", "Last HR@1")


def test_a_page_joins_results_and_texts(tmp_path: Path) -> None:
    """In the order of the file names; the same files give the same page."""
    table_by_hand().save(tmp_path / "20-x.json")
    (tmp_path / "10-first.md").write_text("## First\n\nA reading.\n")
    text = page(tmp_path)
    assert text.index("## First") < text.index("## X")
    assert text == page(tmp_path)
