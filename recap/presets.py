"""Named, complete configurations as plain functions."""

from recap.data.cleaning import DataConfig
from recap.errors import ConfigError


def data_preset(name: str) -> DataConfig:
    """The data protocol of a named dataset; the paper treats NYC, TKY and CA alike.

    Raises:
        ConfigError: unknown name.
    """
    match name:
        case "nyc" | "tky" | "ca" | "default":
            return DataConfig()
        case _:
            raise ConfigError(f"unknown data preset {name!r}; choose one of nyc, tky, ca, default")
