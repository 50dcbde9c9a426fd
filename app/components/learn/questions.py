"""A prediction that is committed to, and a check that replies: radio buttons and a button, for Tab and arrow keys."""

from collections.abc import Callable

import streamlit as st

from analysis.learn.lesson import Question


def ask_prediction(question: Question, key: str, given: int | None, commit: Callable[[int], None]) -> None:
    """The prediction; once committed it can no longer be changed."""
    st.markdown(f"**{question.prompt}**")
    if given is not None:
        st.markdown(f"Your guess: {question.choices[given].label}.")
        return
    chosen = st.radio(
        "Your guess",
        range(len(question.choices)),
        index=None,
        format_func=lambda at: question.choices[at].label,
        key=key,
    )
    st.button(
        "Commit to this guess",
        key=f"{key}_commit",
        icon=":material/lock:",
        disabled=chosen is None,
        help="The answer comes after your guess." if chosen is None else None,
        on_click=commit,
        args=(chosen,),
    )


def ask_check(question: Question, key: str, given: int | None, answer: Callable[[int], None]) -> None:
    """The check; each answer gets its reply, and another may be tried."""
    st.markdown(f"**{question.prompt}**")
    chosen = st.radio(
        "Your answer",
        range(len(question.choices)),
        index=given,
        format_func=lambda at: question.choices[at].label,
        key=key,
    )
    st.button(
        "Check my answer",
        key=f"{key}_answer",
        icon=":material/check:",
        disabled=chosen is None,
        on_click=answer,
        args=(chosen,),
    )
    if given is not None:
        is_right = given == question.right
        st.info(question.choices[given].reply, icon=":material/check_circle:" if is_right else ":material/replay:")
