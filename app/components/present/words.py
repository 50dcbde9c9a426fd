"""The sentences of Present when there is nothing to present."""

from typing import Final

NOTHING: Final = "Nothing to present"
NO_PARTS: Final = "Choose a RECAP checkpoint: Present shows what happens without each part."
NO_CASE: Final = "choose a case or a collection in Cases"
NO_LIST: Final = "the link names no list of cases"
NO_COLLECTION: Final = "the collection of this link is not in your library"
OTHER_DATA: Final = "no case of this collection belongs to the dataset and model that are open"
