"""The sentences of Open your data. What fills a gap must be escaped for Markdown (`markdown_text`)."""

from typing import Final

import pandas as pd

from analysis.formatting import day
from recap import columns as c
from recap.data.parsing.options import ENDS
from recap.data.parsing.options import FIELDS as MEANINGS

STEPS: Final = ("Drop a file", "Check the columns", "Predict", "Train RECAP")
CLOSED: Final = "You cannot open files here"
READ_ONLY: Final = "This app is read-only."
NOT_ALLOWED: Final = "Others can reach this app; start it with `--allow-upload`."

OPEN: Final = "Open your data"
WHAT_FILE: Final = "A table with one row for each visit: who, where, when."
STAYS: Final = {True: "It stays on this computer.", False: "It goes to the computer that runs this app, nowhere else."}
COPY: Final = "The app's copy is deleted after preparing, or after an hour."
FILE: Final = "CSV, Excel, JSON, Parquet, or an export such as Google's Timeline"
PATH: Final = "Or the path of a larger file or a folder on this computer"
YOUR_DATASETS: Final = "Your datasets"
DELETING: Final = "Its check-ins are removed from this computer. Models trained on it stay in Runs."

UNCLEAR: Final = "One thing is unclear"
IS_THIS_RIGHT: Final = "{checkins} of {users} at {places}. Is this right?"
EVERY_ROW: Final = "Every row was read."
UNUSED_ROWS: Final = "Rows that cannot be used: {rows:,}."
CONFIRM_ZONE: Final = "Please confirm the time zone."
READ_AS: Final = "Read as {format}, because {why}."
MORE_COLUMNS: Final = "Columns not shown: {count}."
CONFIRM: Final = "This zone is right"
CHOOSE: Final = "Choose {fields} above the column that has it."
ANSWERS: Final = {
    "moving_places": ("Split them by name and position", "split"),
    "several_spellings": ("Join these pairs", "join"),
}
"""Kind of problem -> the button's words and the value of `ids`."""
ID_AND_NAME: Final = "poi+name"
FIELDS: Final[dict[str | None, str]] = {
    None: "Not used",
    "user": "User",
    "poi": "Place",
    "time": "Time",
    "date": "Day",
    "lat": "Latitude",
    "lon": "Longitude",
    "category": "Category",
    "category_id": "Category id",
    "name": "Place name",
    ID_AND_NAME: "Place and its name",
    "tz": "Time zone",
    "split": "Split",
    "trajectory": "Trajectory",
    **{f"to_{field}": f"Destination: {MEANINGS[field].partition(',')[0]}" for field in ENDS},
}
ONE_PERSON: Final = "no column: the file is one person's"
TIMES_ARE: Final = {True: "local times", False: "UTC"}
WHERE: Final = "On a map"
ON_A_MAP: Final = "A sample of the check-ins on a map"
POINTS: Final = "Dots: {shown:,} of {all:,} check-ins."
AT_SEA: Final = "They are not on land: are latitude and longitude swapped?"
KEPT: Final = "What will be kept"
CHECKINS_KEPT: Final = "Check-ins kept"
LEAST: Final = "Keep places and users with at least … check-ins"
GETS_WORSE: Final = "Predictions get worse for users with fewer than about 60 check-ins."
"""New York by the user's earlier check-ins, see docs/findings.md."""
PROBLEMS: Final = "Things to know: {count}"
OTHER_FILE: Final = "Open another file"
BACK: Final = "Back to the columns"
TOO_LARGE: Final = "The file is too large for the memory of this computer; prepare it with `recap prepare`."

READY: Final = "{name} is ready: {users}, {places}, {cases}"
LOOK: Final = "Predict now with the pretrained model. Training can make predictions better."
HOLDS: Final = "What it holds"
ADD_FILE: Final = "Add a file, such as the next month"
ADDING: Final = (
    "It is read with the same answers. Predictions then start from its check-ins; evaluation stays as it is."
)
TAKES: Final = "About {time}."
NO_ESTIMATE: Final = "Time estimate appears after the first epoch."
CONTINUES: Final = "Training continues when you close this page."


def dataset_facts(local_time: pd.Series, checkins: pd.DataFrame) -> dict[str, str]:
    """A dataset's size and period."""
    first, last = local_time.min(), local_time.max()
    places = checkins.groupby(c.USER)[c.POI]
    splits = checkins[c.SPLIT].value_counts().sort_index()
    return {
        "Check-ins": f"{len(checkins):,}",
        "From": f"{day(first)} {first:%Y}",
        "To": f"{day(last)} {last:%Y}",
        "A user's check-ins": f"{places.size().median():,.0f} (median)",
        "A user's places": f"{places.nunique().median():,.0f} (median)",
        "Training, validation, test": " · ".join(f"{number:,}" for number in splits),
    }
