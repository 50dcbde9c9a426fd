"""Phrases that pages share; a page asks by key. Terms come from `analysis.glossary`."""

from typing import Final

_PHRASES: Final[dict[str, str]] = {
    "identity": "Total = core + prior + correction{features}, rounded; largest residual {residual}.",
    "identity_sum": "Total = sum of these rows, rounded; largest residual {residual}.",
    "habit_in_rows": "Prior and correction are part of own visits.",
    "identity_features": " + features",
    "clipped": "Clipped: {names}.",
    "not_clipped": "Prior not clipped.",
    "graph_in_core": "The graph acts inside the core.",
    "inactive_row": "(inactive)",
    "terms_title": "The features, one by one",
    "terms_add_up": "The contributions add up.",
    "terms_and_habit": "With prior and correction, which are part of own visits, they add up to the total.",
    "terms_title_rows": "The features, one by one",
    "terms_column": "Feature",
    "paths_title": "Two-hop paths that reach it",
    "no_path": "No two-hop path leads to it in training.",
    "paths_note": "Line width is the part of the two-hop probability, {share} in all. {badge} "
    "Click a middle place, or tick its row, to cut it.",
    "in_token": "The graph token holds them.",
    "only_contributions": "They act through their contributions alone.",
    "path_contribution": "Adds to the score",
    "not_in_token": "The graph token does not hold them at this checkpoint.",
    "rank_frozen": "Rank without it",
    "rank_recounted": "Without its first hop",
    "cuts_note": "Ranks with the path alone removed, and with its first hop removed, whose probability the other "
    "transitions from here take over.",
    "cut_rows": "training rows",
    "cut_button": "Cut it: remove the first hop",
    "prior_off": "The revisit prior is inactive here, so these visits do not act on the scores.",
    "prior_off_features": "The revisit prior is inactive here: these visits act through the features of own visits.",
    "visits_note": "One dot per visit, stronger when fresher; a rim marks the recent window.",
    "in_window": "In window",
    "gate": "Gate",
    "gate_effect": "Its effect",
    "left_out_title": "Without one feature",
    "masked": "Token alone masked",
    "left_out_note": "Each row scores all places again without that item, an earlier check-in as if it had not "
    "happened; the changes need not add up.",
    "inactive": "Inactive at this epoch or switched off: {names}.",
    "own_token": "The user's own token",
    "two_hop_token": "The two-hop token",
    "two_hop_path": "Two-hop path",
    "chip_two": "2 hops",
    "chip_one": "1 hop",
    "found_by_hops": "Found by two hops",
    "found_within_hops": "Found, within two hops",
}


def phrase(key: str, **values: object) -> str:
    """A phrase of a page; ``values`` fill its gaps."""
    return _PHRASES[key].format(**values)
