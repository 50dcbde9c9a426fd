"""The sentences of Present, and of the button that adds a slide."""

from typing import Final

TITLE: Final = "Slides"
"""Title of the collection that slides are added to, if no other is chosen in Cases."""
ADD: Final = "Add to slides"
ADD_HELP: Final = "Put the headline, a picture and the caveat on a slide of your collection."
FILES_MASKED: Final = "Places and people are masked as on a shared page."
NOTHING_TO_PRESENT: Final = "Nothing to present"
PARTS_NEED_RECAP: Final = "choose a RECAP checkpoint: Present shows what happens without each part"
NO_CASE_CHOSEN: Final = "choose a case or a collection in Cases"
NO_LIST: Final = "the link names no list of cases"
LINKED_COLLECTION_GONE: Final = "the collection of this link is not in your library"
OTHER_DATA: Final = "no case of this collection belongs to the dataset and model that are open"
SLIDE_NUMBER: Final = "Slide {number} of {slides}"
