"""A walk as a GIF: a frame for each step, and to be shared only what the shared pictures tell."""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.figures.map_ground import Ground
from analysis.figures.palette import LIGHT
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from analysis.sharing.places import told_places
from analysis.sharing.walk_film import FilmChoice, draw_walk_film
from analysis.trajectories.trajectory import read_trajectory
from recap.privacy import Generalisation
from tests.cli_runner import recap_here, recap_json_here
from tests.worlds import small_city


def frames_of(film: bytes) -> list[np.ndarray]:
    """The frames as RGB arrays; the film must start again at its end."""
    image = Image.open(io.BytesIO(film))
    assert image.format == "GIF" and image.size == (760, 540) and image.info["loop"] == 0
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(np.asarray(image.convert("RGB")))
    return frames


@pytest.mark.parametrize("exact", [True, False])
def test_a_frame_for_each_step(exact: bool) -> None:
    """As many frames as cases, none like the one before; a shared film has no mark of a revisit."""
    opened = LoadedDataset.of(small_city())
    model = NamedScorer.of_baseline("visit_count", opened)
    trajectory = next(w for w in (read_trajectory(opened, case) for case in range(20)) if len(w.cases) > 2)
    told = opened if exact else told_places(opened, Generalisation()).opened(opened)
    film = draw_walk_film(opened, model, trajectory, Ground(told), palette=LIGHT, choice=FilmChoice(exact=exact, top=5))
    frames = frames_of(film)
    assert len(frames) == len(trajectory.cases)
    assert all((a != b).any() for a, b in pairwise(frames))
    for frame in frames:  # the truth's ring has its very colour in all of them
        assert (frame.reshape(-1, 3) == (0xC8, 0x50, 0x0A)).all(axis=1).any()
    violet = np.array([0x9E, 0x3A, 0x74])
    near = [(np.abs(frame.astype(int) - violet).max(axis=2) < 20).any() for frame in frames]
    assert any(near) is exact


def test_command(tmp_path: Path, city_folder: Path) -> None:
    """`recap walk` writes a GIF; another ending, and neither or both models, are refused."""
    said = recap_json_here(
        "walk", "--data", city_folder, "--case", 3, "--out", tmp_path / "w.gif", "--baseline", "markov"
    )
    assert said["steps"] == len(frames_of((tmp_path / "w.gif").read_bytes())) and said["exact"] is False
    for options, words in (
        (["--out", tmp_path / "w.png", "--baseline", "markov"], "should end in .gif"),
        (["--out", tmp_path / "x.gif"], "either a checkpoint folder or --baseline"),
    ):
        refused = recap_here("walk", "--data", city_folder, "--case", 3, *options)
        assert refused.returncode == 2 and words in refused.stderr
