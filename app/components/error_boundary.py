"""Show a refusal of the library as a sentence."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from recap.errors import RecapError
from recap.printable import markdown_text

P = ParamSpec("P")


def error_boundary(draw: Callable[P, None]) -> Callable[P, None]:
    """Show the message of a `RecapError` in place of the view."""

    @wraps(draw)
    def show(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except RecapError as error:
            st.error(markdown_text(str(error)))

    return show
