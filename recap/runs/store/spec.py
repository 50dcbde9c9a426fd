"""The specification of a run, checked before it queues and then fixed."""

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from recap.presets import preset_title, training_preset
from recap.runs.store.state import VersionedConfig
from recap.training_config import AnyTraining

FORMAT_VERSION: Final = 1
MAX_NOTES: Final = 2000

DeviceRequest = Literal["auto", "cpu", "cuda"]
Backend = Literal["local", "slurm"]


class RunSpec(VersionedConfig):
    """One training, as `spec.json` holds it."""

    format_version: int = FORMAT_VERSION
    dataset: str = Field(description="The dataset folder, absolute.")
    dataset_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="Content the run must find there.")
    dataset_name: str = Field(description="Name shown for the dataset.")
    cases: int = Field(ge=1, description="Training cases of the dataset; estimates scale with them.")
    pois: int = Field(ge=1, description="POIs of the dataset; estimates scale with them.")
    preset: str = Field(description="Configuration the run starts from.")
    epochs: int | None = Field(None, ge=1, description="Number of epochs; the curriculum's stages keep their share.")
    seed: int = Field(ge=0, description="Seed of weights, dropout and batch order.")
    overrides: tuple[str, ...] = Field((), description="field=value assignments on top of the preset.")
    device: DeviceRequest = Field("auto", description="auto takes a GPU where there is one; cuda waits for one.")
    processes: int = Field(1, ge=1, le=64, description="Processes that share each batch, one GPU each.")
    threads: int | None = Field(None, ge=1, description="CPU threads of a process; none takes the machine's setting.")
    backend: Backend = Field("local", description="Who runs it: this machine's runner, or Slurm.")
    notes: str = Field("", max_length=MAX_NOTES, description="Anything; shown with the run.")

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Drop fields of older versions."""
        return {key: value for key, value in values.items() if key not in ("snapshots", "sweep", "parent")}

    def train_config(self) -> AnyTraining:
        """The training's configuration. Raises ConfigError: an unknown preset or field, or a refused value."""
        return training_preset(self.preset, epochs=self.epochs, seed=self.seed, changes=self.overrides)

    @property
    def title(self) -> str:
        return ", ".join([preset_title(self.preset), *self.overrides, f"seed {self.seed}"])
