"""The sentences of Present when there is nothing to present."""

from typing import Final

NOTHING_TO_PRESENT: Final = "Nothing to present"
PARTS_NEED_RECAP: Final = "Choose a RECAP checkpoint: Present shows what happens without each part."
NO_CASE_CHOSEN: Final = "choose a case or a collection in Cases"
NO_LIST: Final = "the link names no list of cases"
LINKED_COLLECTION_GONE: Final = "the collection of this link is not in your library"
OTHER_DATA: Final = "no case of this collection belongs to the dataset and model that are open"
