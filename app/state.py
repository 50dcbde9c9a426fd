"""What a visitor has chosen, in the session and in the address: each link opens the same view elsewhere."""

from collections.abc import Mapping

import streamlit as st

from analysis.figures.palette import Palette, palette_of
from app.settings import AppSettings
from app.sources import TOKEN_LENGTH, Source, find_sources
from recap.printable import markdown_text

_WRITTEN = "_written_params"


def incoming(name: str) -> str | None:
    """A query parameter that came with the address and was not written by this session."""
    value = st.query_params.get(name)
    return value if value != st.session_state.get(_WRITTEN, {}).get(name) else None


def write_param(name: str, value: str | None) -> None:
    """Show a value in the address; None removes it."""
    st.session_state.setdefault(_WRITTEN, {})[name] = value
    if value is None:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def follow(params: Mapping[str, object]) -> None:
    """Put values into the address as if a link had brought them; empty ones are taken away."""
    for name, value in params.items():
        st.session_state.setdefault(_WRITTEN, {}).pop(name, None)
        if value is None or value == "":
            write_param(name, None)
        else:
            st.query_params[name] = str(value)


def current_source() -> Source | None:
    """The chosen source, or the first on offer; None where there is nothing to open.

    A link that names a source this app does not offer gets a banner, never a wrong picture.
    """
    sources = find_sources(AppSettings.from_environment())
    if not sources:
        return None
    asked = incoming("source")
    if asked is not None:
        found = [source for source in sources if source.token == asked[:TOKEN_LENGTH]]
        st.session_state["source_missing"] = None if found else asked
        if found:
            st.session_state["source"] = found[0].token
    token = st.session_state.get("source")
    source = next((source for source in sources if source.token == token), sources[0])
    write_param("source", source.token if source is not sources[0] else None)
    st.session_state["to_say_invented"] = source.synthetic
    missing = st.session_state.get("source_missing")
    if missing:
        st.warning(
            f"This link was made with another model or dataset (`{_safe_token(missing)}`), which is not here. "
            f"What you see is {markdown_text(source.label)}. "
            "Start `recap app` with the --data and --checkpoint of the link."
        )
    return source


def takes_over_saying_invented() -> bool:
    """Whether the page must still say that its city is invented; whoever asks says it."""
    return bool(st.session_state.pop("to_say_invented", False))


def choose_source(token: str) -> None:
    """Switch to another source; the case goes along to another model of the same dataset."""
    sources = find_sources(AppSettings.from_environment())
    datasets = {source.token: source.dataset_hash for source in sources}
    old = str(st.session_state.get("source") or (sources[0].token if sources else ""))
    st.session_state["source"] = token
    st.session_state["source_missing"] = None
    if datasets.get(old) != datasets.get(token):
        st.session_state.pop("case", None)


def theme_palette() -> Palette:
    """The palette of the theme the browser shows."""
    return palette_of(st.context.theme.type)


def current_case(num_cases: int) -> int:
    """The chosen case; a link's bad case gets a sentence and the first case."""
    asked = incoming("case")
    if asked is not None:
        if asked.isascii() and asked.isdigit() and len(asked) <= 12 and int(asked) < num_cases:
            st.session_state["case"] = int(asked)
            st.session_state["case_missing"] = None
        else:
            st.session_state["case_missing"] = asked
    missing = st.session_state.pop("case_missing", None)
    case = int(st.session_state.get("case", 0))
    case = case if case < num_cases else 0
    if missing:
        st.warning(
            f"There is no case `{_safe_token(missing)}`; cases run from 0 to {num_cases - 1:,}. This is case {case}."
        )
    set_case(case)
    return case


def set_case(case: int) -> None:
    """Choose a case and show it in the address."""
    st.session_state["case"] = case
    write_param("case", str(case))


def _safe_token(text: str) -> str:
    """Text from an address, fit for a message: letters and digits only."""
    return "".join(ch for ch in text if ch.isalnum() or ch in "-_")[:40] or "?"
