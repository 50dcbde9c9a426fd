"""Any two places of a case can be explained against each other, not only the truth against the first."""

from pathlib import Path

import numpy as np
import pytest

from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.explain.links import CaseLink
from analysis.sharing.page import render_notebook
from recap.errors import CaseError, ConfigError
from recap.predictor import Predictor
from tests.cli_runner import recap_json_here


@pytest.fixture(scope="module")
def predictor(city_checkpoint: Path, city_folder: Path) -> Predictor:
    return Predictor.load(city_checkpoint, city_folder)


@pytest.fixture(scope="module")
def usual(predictor: Predictor) -> FullExplanation:
    return explain_fully(predictor, 3)


def test_the_truth_by_name_is_the_usual_explanation(predictor: Predictor, usual: FullExplanation) -> None:
    """Asking about the truth changes nothing."""
    assert explain_fully(predictor, 3, about=usual.truth) == usual
    assert usual.target == usual.truth and usual.roles == ("truth", "model")


def test_two_predictions(predictor: Predictor, usual: FullExplanation) -> None:
    """The margin of two other places adds up, and paths, visits, cuts and words are the explained place's own."""
    first, second = [entry.poi for entry in usual.candidates if entry.poi != usual.truth][-2:]
    asked = explain_fully(predictor, 3, about=first, against=second)
    contrast = asked.contrast
    assert (contrast.a.poi, contrast.b.poi, asked.target, asked.truth) == (first, second, first, usual.truth)
    assert contrast.margin == pytest.approx(sum(contrast.parts.values()) + contrast.residual, abs=1e-9)
    by_poi = {entry.poi: entry for entry in usual.candidates}
    assert contrast.a == by_poi[first] and contrast.b == by_poi[second]
    assert asked.target_rank == by_poi[first].rank
    graph = predictor.graph
    assert asked.a2_source_target == pytest.approx(
        float(graph.two_step_probability(np.array([asked.source]), np.array([first]))[0])
    )
    assert [visit.poi for visit in asked.revisits] == [first, second]
    assert asked.roles == ("model", "other")
    assert any(
        piece.text == asked.target_name for said in asked.sentences for piece in said.pieces if piece.kind == "target"
    )


def test_the_truth_as_rival(predictor: Predictor, usual: FullExplanation) -> None:
    """Turned round, the same two places give the opposite margin; the truth keeps its colour."""
    turned = explain_fully(predictor, 3, about=usual.rival, against=usual.truth)
    assert turned.contrast.margin == pytest.approx(-usual.contrast.margin)
    assert turned.roles == ("model", "truth")
    assert f'The true next place is <span class="truth">{usual.truth_name}' in render_notebook(turned)
    assert "The true next place is" not in render_notebook(usual)


def test_refusals(predictor: Predictor, usual: FullExplanation) -> None:
    """An unknown place, and a place against itself."""
    with pytest.raises(CaseError, match="no POI 99999"):
        explain_fully(predictor, 3, about=99999)
    with pytest.raises(CaseError, match="two different places"):
        explain_fully(predictor, 3, about=usual.rival, against=usual.rival)


def test_the_address_of_the_view_is_a_link(predictor: Predictor, usual: FullExplanation) -> None:
    """The command line takes the browser's address as it is: source and wording included, other fields refused."""
    address = (
        f"http://127.0.0.1:8501/explain?source={predictor.checkpoint.hash[:12]}&case=3"
        f"&about={usual.rival}&against={usual.truth}&edits=off%3Aprior&register=Paper%27s+words"
    )
    link = CaseLink.from_query(address)
    assert link.mismatch(predictor) is None
    assert link == CaseLink.to(predictor, 3, about=usual.rival, against=usual.truth, edits="off:prior").model_copy(
        update={"dataset": ""}
    )
    assert CaseLink.from_query("?source=0123456789ab&case=3").mismatch(predictor) is not None
    with pytest.raises(ConfigError):
        CaseLink.from_query("?case=3&nonsense=1")


def test_from_the_command_line(city_checkpoint: Path, city_folder: Path, usual: FullExplanation) -> None:
    """``--about`` and a link say the same."""
    asked = ["explain", city_checkpoint, "--data", city_folder, "--full"]
    one = recap_json_here(*asked, "--case", 3, "--about", usual.rival, "--against", usual.truth)
    other = recap_json_here(*asked, "--link", f"?case=3&about={usual.rival}&against={usual.truth}")
    assert one == other and one["target"] == usual.rival and one["truth"] == usual.truth
