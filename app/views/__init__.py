"""The views, one file each; run by `st.navigation`."""
