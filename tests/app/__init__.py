"""Tests of the app: every view by AppTest, sources, words, and what the address carries."""
