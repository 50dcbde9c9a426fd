"""A walk as a GIF: as recorded, or to be shared, with places told coarsely, no way between them and no revisits."""

from dataclasses import dataclass

from analysis.figures.map_ground import Ground
from analysis.figures.palette import Palette
from analysis.figures.walk_gif import MAX_STEPS, draw_walk_gif
from analysis.figures.walk_marks import walk_marks
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from analysis.sharing.walks import share_step
from analysis.trajectories.cameras import PICTURE_PX, fit_predictions, fit_steps
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import Trajectory


@dataclass(frozen=True)
class FilmChoice:
    """What a film shows.

    Attributes:
        exact: places, ways and revisits as recorded; otherwise the ground's places are those told to others.
        show_truth, show_paths: the true next place, and two-hop paths.
        top: places listed at each step.
    """

    exact: bool = False
    show_truth: bool = True
    show_paths: bool = True
    top: int = 10


def draw_walk_film(
    opened: LoadedDataset,
    model: NamedScorer,
    trajectory: Trajectory,
    ground: Ground,
    *,
    palette: Palette,
    choice: FilmChoice,
) -> bytes:
    """Every step of a trajectory that holds a case, see `draw_walk_gif`.

    Args:
        opened: the dataset as recorded, which the model scores.
        ground: with the places as they are to be drawn: recorded ones where the film is exact, else told ones.
    """
    predictions = [predict_case(opened, model, case, top=choice.top) for case in trajectory.cases[:MAX_STEPS]]
    if choice.exact:
        steps = [(trajectory, prediction) for prediction in predictions]
        camera = fit_steps(ground.opened, trajectory, predictions, show_truth=choice.show_truth)
    else:
        steps = [share_step(trajectory, prediction) for prediction in predictions]
        camera = fit_predictions(ground.opened, predictions, show_truth=choice.show_truth, width_px=PICTURE_PX)
    marks = [
        walk_marks(
            ground.opened,
            walk,
            step,
            camera=camera,
            show_truth=choice.show_truth,
            show_paths=choice.show_paths,
            picture=True,
        )
        for walk, step in steps
    ]
    return draw_walk_gif(marks, ground, palette=palette, total=len(trajectory.cases))
