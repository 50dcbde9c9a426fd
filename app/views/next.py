"""Next: where a user, everyone, or a trajectory of your own goes next."""

from datetime import date

import streamlit as st

from analysis.trajectories.everyone import last_day
from app import address, state
from app.cached import explanations
from app.components.empty import open_source
from app.components.error_boundary import error_boundary
from app.components.next import asked_time, choice, words
from app.components.next.everyone import as_of_control, show_everyone
from app.components.next.prediction import show_prediction
from app.components.text import quiet
from app.components.toolbar import choice_control, source_picker, switch
from recap.machine.printable import markdown_text


@error_boundary
def view() -> None:
    source = open_source()
    opened = explanations.ready(source).known
    with st.container(horizontal=True, vertical_alignment="center"):
        part = choice_control("part", {name: name for name in choice.PARTS}, choice.ONE, choice.PARTS)
        if part != choice.EVERYONE or not source.reads_time:  # else the control of the time says it
            state.say_unread_time(reads_time=source.reads_time)
        itinerary = choice.current_itinerary(opened, part)
        if part != choice.EVERYONE:
            itinerary = asked_time.timed(opened, itinerary, reads_time=source.reads_time)
            address.write(**dict.fromkeys(state.ITINERARY) | state.fields_of(itinerary))
        if part == choice.ONE:
            choice.pick_user(opened, itinerary)
        as_of: date | None = None
        only_new = show_truth = False
        if part != choice.TRY:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False, width="content"):
                quiet(words.AS_OF, width="content")
                if part == choice.EVERYONE:
                    as_of = as_of_control(opened)
                else:
                    choice.pick_moment(opened, itinerary)
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source, width=310)
        asked_time.pick_question(source)
        if part != choice.EVERYONE:
            st.space("stretch")
            only_new = switch("new", "Only new places", False, help=words.NEW_HELP)
        if part == choice.ONE and itinerary.next_place(opened.dataset) is not None:
            show_truth = switch("happened", "What happened", False)
    at = None
    if part == choice.EVERYONE:
        address.write(user=None, row=None, stops=None)
    if part == choice.EVERYONE and source.reads_time:
        at = asked_time.pick_time_of_all(opened, as_of or last_day(opened))
    elif part == choice.EVERYONE:
        address.write(at=None)
    elif itinerary.at is not None:
        asked_time.pick_own_time(opened, itinerary)
    for note in opened.notes:
        quiet(markdown_text(note))
    if part == choice.EVERYONE:
        show_everyone(source, as_of, at)
        if at is not None:
            asked_time.play_on(opened, at)
    else:
        show_prediction(source, itinerary, only_new=only_new, show_truth=show_truth)


view()
