"""The app's entry; `recap app` and `streamlit run app/main.py` both start here."""

import streamlit as st

from app import address, state, warming
from app.components.text import quiet
from app.components.theme_watch import watch_theme
from app.library_internals import ask_nobody_outside
from app.pages import ASSETS, choose_page

ask_nobody_outside()
st.set_page_config(page_title="RECAP", page_icon=str(ASSETS / "icon.png"), layout="wide")
page, presents = choose_page()
address.arrive_at(page.url_path)
if not presents:
    st.logo(str(ASSETS / f"logo-{'dark' if st.context.theme.type == 'dark' else 'light'}.svg"), size="large")
if note := address.note_on(page.url_path):
    quiet(note)
state.consume_synthetic_notice()  # of a page that was left before it said so
state.charts_here().clear()
above = st.container()
page.run()
address.has_arrived()
for line in address.refusals():
    above.warning(line)
if state.consume_synthetic_notice():
    quiet("This city is invented: nobody in it is real.")
if not presents:  # a slide has space for it among its controls only
    watch_theme()
warming.first_view_is_there()
