"""Figures: plotly figures and pydeck decks from tables; one palette, light and dark."""
