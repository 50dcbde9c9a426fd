"""The sentences of shared components; Markdown, so names in them are escaped."""

from typing import Final

from recap.machine.printable import markdown_text

NO_TEST_CASE: Final = "This dataset has no test case, so this page has nothing to show: {advice}."
NO_SOURCE: Final = "Open a table of check-ins, or make a dataset and a model with three commands:"
NOT_MEASURED: Final = "Not measured yet: run `recap long-tail --full`."
CAN_MEASURE: Final = "Not measured yet: each case must be ranked again without each part."
OTHER_CASES: Final = "The link's choice of cases cannot be read, so all cases are listed."
SOURCES_HELP: Final = "The demo city, your own data and models, and what the app was started with."
TRUTH_HELP: Final = "Turn off to hide the true next place."
CSV_TABLES: Final = "Tables download as CSV."
AS_RECORDED_HELP: Final = "Real times, places and user numbers."
KEEP_FILES: Final = "The files contain people's places and times: keep them to yourself."
ONLY_RECORDED: Final = "Figures that name a user's places download only as recorded."
SAFE_FILES: Final = "Safe to share: pseudonyms, no dates, rare places blurred."
COUNTED_OVER: Final = "Counted over all {users:,} users of the dataset."
FEW_MATCH: Final = "Fewer than {users} match: *Places hidden* also blurs the user's own places."
READ_ONLY: Final = "This app is read-only: nothing can be saved here."


def other_model(asked: str) -> str:
    return f"The link's model is not here, so another one is shown: {markdown_text(asked[:60])}"
