"""Show a refusal of the library as a sentence; a page that has said why it is empty ends."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from recap.errors import RecapError
from recap.machine.printable import markdown_text

P = ParamSpec("P")


class NothingToShowError(Exception):
    """The page has said what is missing, and ends there."""


def error_boundary(draw: Callable[P, None]) -> Callable[P, None]:
    """Show the message of a `RecapError` in place of the view; `NothingToShowError` ends it."""

    @wraps(draw)
    def show(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except RecapError as error:
            st.error(markdown_text(str(error)))
        except NothingToShowError:
            pass

    return show
