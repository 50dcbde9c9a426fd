"""The address that a class opens, big and as a QR code."""

from typing import Final

import segno
import streamlit as st

from app.components.learn import words
from app.door import addresses_for_others
from app.pages import LEARN
from app.settings import AppSettings
from app.sources import Source, find_sources

_LONGEST: Final = 300
_WIDTH: Final = 440


def invite_button(source: Source) -> None:
    """A button that shows the address, where other computers reach the app."""
    hosts, port = st.get_option("server.allowedHosts") or [], int(st.get_option("server.port"))
    first, *_ = find_sources(AppSettings.from_environment())
    fields = "" if source.token == first.token else f"?source={source.token}"
    found = [f"{address}/{LEARN.name}{fields}" for address in addresses_for_others(hosts, port, st.context.url)]

    @st.dialog("Open this page", width="large")
    def show() -> None:
        chosen = st.selectbox(
            "Address for the class", found, key="learn_address", accept_new_options=True, help=words.ADDRESS_HELP
        )
        address = full_address(str(chosen))
        st.title(f"`{address}`", anchor=False)  # as code it can be copied: nothing in it is escaped
        picture = segno.make(address, micro=False).svg_inline(omitsize=True, light="white")
        st.image(picture, width=_WIDTH, alt=f"QR code of {address}")

    if found and st.button("Address", icon=":material/qr_code_2:", key="learn_invite"):
        show()


def full_address(typed: str) -> str:
    """The address with its protocol, short enough for a code.

    >>> full_address(" recap.example/learn`")
    'http://recap.example/learn'
    """
    typed = "".join(typed.replace("`", "").split())
    return (typed if "://" in typed else f"http://{typed}")[:_LONGEST]
