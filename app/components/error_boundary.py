"""A refusal of the library becomes a sentence on the page, not a stack of code."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from recap.errors import RecapError
from recap.printable import markdown_text

P = ParamSpec("P")


def error_boundary(draw: Callable[P, None]) -> Callable[P, None]:
    """Show the message of a `RecapError` where the view would be."""

    @wraps(draw)
    def show(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except RecapError as error:
            st.error(markdown_text(str(error)))

    return show
