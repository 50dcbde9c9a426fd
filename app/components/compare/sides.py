"""The two selectors of Compare and the button between them that exchanges them."""

import streamlit as st

from app import state
from app.cached.comparisons import Option, default_pair, side_options
from app.sources import Source
from recap.printable import markdown_text

_NAMES = ("a", "b")


def current_sides(source: Source) -> tuple[Option, Option]:
    """The sides that a link or the selectors name; a link's unknown one gets a sentence and the default."""
    options = side_options(source)
    for name, default in zip(_NAMES, default_pair(source, options), strict=True):
        asked = state.incoming(name)
        if asked is not None and asked in options:
            st.session_state[f"side_{name}"] = asked
        elif asked is not None:
            st.warning(
                f"The link's side {name.upper()} is not here, so another one is shown: {markdown_text(asked[:60])}"
            )
            st.session_state[f"side_{name}"] = default
        if st.session_state.get(f"side_{name}") not in options:
            st.session_state[f"side_{name}"] = default
        state.write_param(name, st.session_state[f"side_{name}"])
    a, b = (options[st.session_state[f"side_{name}"]] for name in _NAMES)
    return a, b


def pick_sides(source: Source) -> None:
    """Choose A and B."""
    options = side_options(source)
    _pick("a", "A, the one it is held against", options)
    st.button("Exchange", icon=":material/swap_horiz:", type="tertiary", key="exchange", on_click=_exchange)
    _pick("b", "B, the one in question", options)


def _pick(name: str, label: str, options: dict[str, Option]) -> None:
    key = f"pick_{name}"
    st.session_state[key] = st.session_state[f"side_{name}"]
    st.selectbox(
        label,
        list(options),
        key=key,
        format_func=lambda token: state.words().sentence(options[token].label) if token in options else token,
        label_visibility="collapsed",
        width=205,
        on_change=state.unless_late(lambda: st.session_state.update({f"side_{name}": st.session_state[key]}), *_NAMES),
        help="Checkpoints, counters and imported predictions of this dataset. Grey in figures is A, blue is B.",
    )


def _exchange() -> None:
    first, second = st.session_state["side_a"], st.session_state["side_b"]
    st.session_state["side_a"], st.session_state["side_b"] = second, first
