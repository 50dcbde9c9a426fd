"""The app's entry: navigation only. `recap app` and `streamlit run app/main.py` both start here."""

import streamlit as st

from app import state
from app.cached import warming
from app.components.text import quiet
from app.door import ask_nobody_outside
from app.pages import ASSETS, OVERVIEW, navigation_pages

ask_nobody_outside()
st.set_page_config(page_title="RECAP", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.logo(str(ASSETS / f"logo-{'dark' if st.context.theme.type == 'dark' else 'light'}.svg"), size="large")
pages = navigation_pages()
page = st.navigation(pages, position="top")
if page.url_path == OVERVIEW.name:  # the first page by its own name: its tab is marked at its other address
    st.switch_page(pages[0], query_params=st.query_params.to_dict())
page.run()
if state.takes_over_saying_invented():
    quiet("This city is invented: nobody in it is real.")
warming.first_view_is_there()
