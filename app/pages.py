"""The views in the order of the navigation."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from recap.storage.user_folder import data_path

_VIEWS: Final = data_path("app", "views")
ASSETS: Final = data_path("app", "assets")


@dataclass(frozen=True)
class View:
    """A view: its title, and its file's name without ending, which is also its address."""

    name: str
    title: str
    hidden: bool = False
    """Reached only by buttons and links."""

    def page(self, *, default: bool = False) -> st.Page:
        """The page object of this run; the default page's address is ``/``."""
        return st.Page(
            _VIEWS / f"{self.name}.py",
            title=self.title,
            url_path="start" if default else self.name,
            default=default,
            visibility="hidden" if self.hidden else "visible",
        )

    @property
    def path(self) -> str:
        """The path for `st.switch_page`."""
        return str(_VIEWS / f"{self.name}.py")


OVERVIEW: Final = View("overview", "Overview")
NEXT: Final = View("next", "Next")
WALK: Final = View("walk", "Walk")
EXPLAIN: Final = View("explain", "Explain")
LONG_TAIL: Final = View("long_tail", "Long tail")
COMPARE: Final = View("compare", "Compare")
CASES: Final = View("cases", "Cases")
RUNS: Final = View("runs", "Runs")
LEARN: Final = View("learn", "Learn")
PRESENT: Final = View("present", "Present", hidden=True)
OPEN_DATA: Final = View("open_data", "Open your data", hidden=True)

PAGES: Final = (OVERVIEW, NEXT, WALK, EXPLAIN, LONG_TAIL, COMPARE, CASES, RUNS, LEARN, PRESENT, OPEN_DATA)
_PRESENTS: Final = "_presents"


def navigation_pages() -> list[st.Page]:
    """All pages; the first one also under its own name, because Streamlit knows it as ``/`` only."""
    first, *others = PAGES
    by_name = st.Page(_VIEWS / f"{first.name}.py", title=first.title, url_path=first.name, visibility="hidden")
    return [first.page(default=True), *(view.page() for view in others), by_name]


def choose_page() -> tuple[st.Page, bool]:
    """The page of this run, and whether it is Present, which has no navigation.

    The page is only known after the navigation was made, so entering or leaving Present makes it twice.
    """
    presents = bool(st.session_state.get(_PRESENTS))
    page = _navigate(presents=presents)
    if (page.url_path == PRESENT.name) != presents:
        presents = not presents
        st.session_state[_PRESENTS] = presents
        page = _navigate(presents=presents)
    return page, presents


def _navigate(*, presents: bool) -> st.Page:
    pages = navigation_pages()
    page = st.navigation(pages, position="hidden" if presents else "top")
    if page.url_path == PAGES[0].name:  # the first page by its own name, where its tab would not be marked
        st.switch_page(pages[0], query_params=st.query_params.to_dict())
    return page
