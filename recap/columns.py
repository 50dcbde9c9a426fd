"""Column names of all tables.

Readers return raw check-ins (one row per check-in, file order): ``user_id, poi_id, category_id, category, latitude,
longitude, tz_offset_minutes, time``, optionally ``poi_name``, and, where the source brings its own split, ``split`` and
``trajectory_id``.

``*_id`` are outside identifiers (strings); bare ``user``, ``poi``, ``category_index`` are indices from 0.
"""

from collections.abc import Iterable
from typing import Final

# Raw check-ins
USER_ID: Final = "user_id"
POI_ID: Final = "poi_id"
POI_NAME: Final = "poi_name"
CATEGORY_ID: Final = "category_id"
CATEGORY: Final = "category"
LATITUDE: Final = "latitude"
LONGITUDE: Final = "longitude"
TZ_OFFSET_MINUTES: Final = "tz_offset_minutes"
TIME: Final = "time"

TRAJECTORY_ID: Final = "trajectory_id"
"""Outside name of a trajectory, where the source brings its own."""

RAW_COLUMNS: Final = (USER_ID, POI_ID, CATEGORY_ID, CATEGORY, LATITUDE, LONGITUDE, TZ_OFFSET_MINUTES, TIME)

# Prepared check-ins (sorted by user, time, source row)
USER: Final = "user"
POI: Final = "poi"
TRAJECTORY: Final = "trajectory"
SPLIT: Final = "split"
SOURCE_ROW: Final = "source_row"

HISTORY_ONLY: Final = "history_only"
"""Bool: the check-in is in its user's history but in no case; tables without such rows lack the column."""

# Split codes, in time order
TRAIN: Final = 0
VAL: Final = 1
TEST: Final = 2
SPLIT_NAMES: Final = ("train", "val", "test")

# Evaluation records: one row per case (`recap.evaluation.cases`), with a scorer's ranks (`recap.evaluation.scoring`).
# `USER`, `TIME` and `TRAJECTORY` are those of the case's source.
CASE: Final = "case"
ROW: Final = "row"
POSITION: Final = "position"
SOURCE: Final = "source"
TARGET: Final = "target"
TRANSITION_COUNT: Final = "transition_count"
DESTINATION_COUNT: Final = "destination_count"
IN_HISTORY: Final = "in_history"
IS_KNOWN: Final = "is_known"
WITHIN_TWO_HOPS: Final = "within_two_hops"
TWO_STEP_WALK: Final = "two_step_walk"
GAP_HOURS: Final = "gap_hours"
"""Only in records of every_next: hours from the source to the target."""
NUM_BETTER: Final = "num_better"
NUM_TIED: Final = "num_tied"
RANK: Final = "rank"
RECIPROCAL_RANK: Final = "reciprocal_rank"
SCORE: Final = "score"
TOP_POIS: Final = "top_pois"
TOP_SCORES: Final = "top_scores"

# Only in records of models with probabilities (`recap.probabilities`), and not in those of earlier versions
FIRST_PROBABILITY: Final = "first_probability"
"""Of the first choice."""
LOG_LIKELIHOOD: Final = "log_likelihood"
"""Log of the target's probability, nats."""
LIST_90: Final = "list_90"
"""Length of the shortest list of first places that holds 90 % of the probability."""

# Only in records of imported predictions, whose lists may be short
LISTED: Final = "listed"
"""Number of places in the case's list."""
IN_LIST: Final = "in_list"
"""Bool: the target is in the list; where it is not, it is ranked behind every place."""

# POI table
CATEGORY_INDEX: Final = "category_index"
TRAIN_CHECKINS: Final = "train_checkins"

_PART: Final = "part_"


def part_column(name: str) -> str:
    """The records' column of a score part.

    >>> part_column("core")
    'part_core'
    """
    return f"{_PART}{name}"


def part_columns(columns: Iterable[str]) -> dict[str, str]:
    """Part -> column, in the table's order.

    >>> part_columns(["rank", "part_core", "part_prior"])
    {'core': 'part_core', 'prior': 'part_prior'}
    """
    return {column.removeprefix(_PART): column for column in columns if column.startswith(_PART)}
