"""Estimated time and memory of a run, from earlier runs on the same kind of device."""

from dataclasses import dataclass
from statistics import median

from recap.errors import RecapError
from recap.runs.store.files import RunSpec
from recap.runs.store.run_store import RunFolder, RunStore
from recap.training.metrics_file import epoch_seconds
from recap.training_config import AnyTraining, TrainConfig

_ROUGH = 0.5
_LEAST_SPREAD = 0.1


@dataclass(frozen=True)
class Estimate:
    """Estimated time of training with validation, plus or minus a spread (None if no run was measured yet), and memory
    of the GPU, or of the process on a CPU (None if unknown); ``basis`` explains them.
    """

    seconds: float | None
    spread_seconds: float | None
    bytes: int | None
    basis: str


def estimate(store: RunStore, spec: RunSpec, device_kind: str) -> Estimate:
    """Time and memory of a run on ``cpu`` or ``cuda``. Runs with another configuration or dataset are scaled by the
    work of a step. Raises ConfigError if the spec's configuration is refused.
    """
    config = spec.train_config()
    work = work_per_epoch(config, spec.cases, spec.pois)
    exact: list[tuple[float, int | None]] = []  # seconds of an epoch, and memory
    scaled: list[tuple[float, int | None]] = []
    for run in store.runs():
        try:
            other, state, lines = run.read_spec(), run.read_state(), run.read_metrics()
            other_config = other.train_config()
        except RecapError:
            continue
        if type(other_config) is not type(config) or other.processes != spec.processes:
            continue
        if not lines or state.device is None or state.device.kind != device_kind:
            continue
        seconds, summary = median(map(epoch_seconds, lines)), run.read_summary()
        memory = summary.get("reserved_gpu_bytes") if device_kind == "cuda" else summary.get("peak_bytes")
        if other.dataset_hash == spec.dataset_hash and _shape(other_config) == _shape(config):
            exact.append((seconds, memory))
        else:
            scaled.append((seconds * (work / work_per_epoch(other_config, other.cases, other.pois)), memory))
    used = exact or scaled
    if not used:
        return Estimate(None, None, None, "Time estimate appears after the first epoch.")
    rates, sizes = zip(*used, strict=True)
    seconds, spread = median(rates) * config.epochs, (max(rates) - min(rates)) / 2 * config.epochs
    where = "this GPU" if device_kind == "cuda" else "this machine's CPU"
    runs = f"{len(used)} past run{'s' if len(used) > 1 else ''} on {where}"
    basis, least = f"From {runs}.", _LEAST_SPREAD
    if not exact:
        basis, least = f"Scaled from {runs} of other sizes, so rough.", _ROUGH
    return Estimate(seconds, max(spread, least * seconds), max(filter(None, sizes), default=None), basis)


def seconds_left(run: RunFolder) -> float | None:
    """Time until a run's last epoch, from its epochs so far; None before the first."""
    lines = run.read_metrics()
    if not lines:
        return None
    epochs = run.read_spec().train_config().epochs
    return median(map(epoch_seconds, lines[-5:])) * (epochs - lines[-1]["epoch"])


def work_per_epoch(config: AnyTraining, cases: int, pois: int) -> float:
    """Rough multiplications of an epoch: encoder and scores of all POIs. For a published model only what grows with the
    data.
    """
    if not isinstance(config, TrainConfig):
        return float(cases * pois)
    model, cases = config.model, round(cases * config.latest_share)
    width, tokens = model.hidden_dim, model.suffix_length + 2
    encoder = tokens * model.num_layers * (4 * width**2 + 2 * width * model.feedforward_dim + 2 * tokens * width)
    steps = cases / config.batch_size
    graph = steps * model.num_hops * pois * model.poi_dim * 10 if model.use_graph else 0.0
    return cases * (encoder + pois * width) + graph


def _shape(config: AnyTraining) -> object:
    if not isinstance(config, TrainConfig):
        return config.model_dump(exclude={"epochs", "seed", "learning_rate", "weight_decay", "decay_epochs"})
    model = config.model.model_dump(exclude={"prior", "dropout", "embedding_dropout", "output_dropout"})
    return model, config.batch_size, config.precision, config.compile
