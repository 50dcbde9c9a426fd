"""What a visitor sees where there is nothing to show yet."""

import streamlit as st


def no_source() -> None:
    """The helpful empty state of an app without any dataset."""
    st.title("Nothing to open yet")
    st.markdown("This app opens datasets and checkpoints made on this machine. Three commands make both:")
    st.code(
        "recap prepare check-ins.txt --format foursquare --out data\n"
        "recap train data --preset quick --out checkpoint\n"
        "recap app --data data --checkpoint checkpoint",
        language="bash",
    )
