"""Figures: a table goes in, a plotly figure or a pydeck deck comes out; one palette, light and dark."""
