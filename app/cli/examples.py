"""Examples that `--help` prints under each command's sentence."""

from typing import Final

COMMAND_EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "inspect": ("recap inspect checkins.csv",),
    "prepare": (
        "recap prepare checkins.csv --out data/mine",
        "recap prepare raw.csv --out mine --timezone Asia/Tokyo",
    ),
    "stats": ("recap stats data/mine",),
    "import-predictions": ("recap import-predictions ranked.csv --data data/mine",),
    "train": ("recap train data/mine --out data/recap", "recap train data/mine --out data/paper --preset paper"),
    "evaluate": ("recap evaluate data/recap --data data/mine", "recap evaluate markov --data data/mine"),
    "experiment run": ("recap experiment run main --data data/mine --out experiments",),
    "predict": (
        "recap predict data/recap --data data/mine",
        "recap predict pretrained --data data/mine --user ID --as-of 2012-10-20T12:47",
    ),
    "app": ("recap app", "recap app --data data/mine --checkpoint data/recap"),
    "overview": ("recap overview data/recap --data data/mine",),
    "long-tail": ("recap long-tail data/recap --data data/mine --full",),
    "explain": ("recap explain data/recap --data data/mine --case 17",),
    "curves": ("recap curves data/recap --data data/mine",),
    "compare": (
        "recap compare visit_count data/recap --data data/mine --protocol trajectory_last --weighted",
        "recap compare --all data/recap --data data/mine --form latex",
    ),
    "runs submit": ("recap runs submit data/mine",),
    "runs list": ("recap runs list",),
    "runs show": ("recap runs show 1",),
    "runs logs": ("recap runs logs 1",),
    "runs stop": ("recap runs stop 1",),
    "runs resume": ("recap runs resume 1",),
    "runs rm": ("recap runs rm 1",),
    "cases find": ("recap cases find data/recap --data data/mine --show tail",),
}
"""By command, groups with a space."""


def epilog(command: str) -> str | None:
    """What `--help` shows at the end; each example is a paragraph, since lines of one are joined."""
    return "\n\n".join(("Examples:", *COMMAND_EXAMPLES[command])) if command in COMMAND_EXAMPLES else None
