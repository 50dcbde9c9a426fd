"""Command-line options that say how raw check-ins become splits and cases; unset ones are the preset's."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from recap.data.cleaning import DataConfig

_PANEL = "Protocol"


def _option(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_PANEL, **settings)


@dataclass(frozen=True)
class ProtocolOptions:
    """One field per option; None leaves the preset's value."""

    preset: Annotated[str, _option(help="Data protocol: nyc, tky, ca, default or nyc_paper.")] = "default"
    merge_seconds: Annotated[
        int | None,
        _option("--merge-seconds", help="Merge a user's check-ins so near in time to an earlier one; 0 merges none."),
    ] = None
    merge_by: Annotated[
        str | None,
        _option(
            "--merge-by", metavar="RULE", help="gap: since the last one kept; clock: in the same slice of a clock."
        ),
    ] = None
    trajectory_gap_hours: Annotated[
        float | None, _option("--gap-hours", help="A longer gap starts a new trajectory.")
    ] = None
    split_by: Annotated[
        str | None,
        _option(
            "--split-by",
            metavar="WHAT",
            help="What is shared out 8:1:1 in time order: checkins, trajectory-start or trajectory-end.",
        ),
    ] = None
    min_trajectory_length: Annotated[
        int | None, _option("--min-length", help="Shorter validation and test trajectories open no cases.")
    ] = None
    removal_order: Annotated[
        str | None,
        _option(
            "--removal-order",
            metavar="ORDER",
            help="What goes first: short-first (trajectories) or unseen-first (users and places training lacks).",
        ),
    ] = None
    history: Annotated[
        str | None,
        _option(
            "--history",
            metavar="RULE",
            help="What a case's history is made of: every-checkin, or cases-only, which leaves out check-ins of short "
            "validation and test trajectories.",
        ),
    ] = None
    assignments: Annotated[
        list[str] | None,
        _option("--set", metavar="FIELD=VALUE", help="Override one field of the protocol; repeatable."),
    ] = None

    def config(self) -> "DataConfig":
        """The preset with the options in place.

        Raises:
            ConfigError: an unknown preset, or a value that cannot be.
        """
        from recap.presets import data_preset

        chosen = {name: value for name, value in vars(self).items() if name not in ("preset", "assignments")}
        # Words may be written with hyphens on a command line.
        texts = [
            f"{name}={value.replace('-', '_') if isinstance(value, str) else value}"
            for name, value in chosen.items()
            if value is not None
        ]
        return data_preset(self.preset).override([*texts, *(self.assignments or [])])
