"""Every term once: the word on screen, the paper's word, and one sentence for each kind of reader.

Tooltips, names of score parts and docs/glossary.md are generated from it.
"""

from dataclasses import dataclass
from typing import Final

PAGE_HEAD: Final = """# Glossary

On this page you can look up each word of the app and its formula. Generated from `analysis/glossary.py`.

| Key | Word | In the paper | In plain words | Exactly |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class GlossaryTerm:
    """One term.

    Attributes:
        key: name in code, records and JSON.
        word: on screen, in tables and exports.
        plain: one sentence for students and stakeholders.
        exact: one sentence for researchers.
        paper: the paper's word; empty if there is none.
    """

    key: str
    word: str
    plain: str
    exact: str
    paper: str = ""


_OBSTACLES: Final = {
    "core": "the sequence model",
    "correction": "the correction",
    "two_hops": "two-hop paths",
    "past_visits": "past visits",
    "times": "time of day and week",
    "transitions": "transitions from here",
    "places": "popularity and distance",
}


def _found_without(key: str, part: str) -> GlossaryTerm:
    plain = f"Without {part}, it would be found."
    return GlossaryTerm(
        f"outvoted_by_{key}", f"Found without {part}", plain, "The true place ranks within K without it."
    )


_TERMS: Final = (
    GlossaryTerm("poi", "Place", "A place where people check in.", "A point of interest of the dataset.", paper="POI"),
    GlossaryTerm(
        "transition",
        "Transition",
        "Going from one place to the next.",
        "Two consecutive check-ins of a trajectory: source and destination.",
        paper="transition",
    ),
    GlossaryTerm(
        "trajectory",
        "Trajectory",
        "One outing: check-ins without a long break.",
        "A user's check-ins with no gap of more than 24 h.",
        paper="trajectory",
    ),
    GlossaryTerm(
        "user", "User", "A person, shown by number only.", "A user of the dataset, named by index.", paper="user"
    ),
    GlossaryTerm(
        "cell",
        "Cell",
        "A square on the map that shows places that few people visited.",
        "The smallest square of a grid (0.02°, 0.04°, …) in which k users visited places with fewer than k users.",
    ),
    GlossaryTerm(
        "matching_users",
        "Matching users",
        "How many people were at all places of a shared case at these times.",
        "Users with a check-in at every point shown: place or cell, weekday and part of the day.",
    ),
    GlossaryTerm(
        "unicity",
        "Unicity",
        "How many people a few of their places and times identify.",
        "Share of users who are unique given p points sampled from their own trace (de Montjoye et al. 2013).",
        paper="unicity",
    ),
    GlossaryTerm(
        "head",
        "Head",
        "Frequent transitions, seen more than once in training.",
        "Cases with m_sd above η in training.",
        paper="head",
    ),
    GlossaryTerm(
        "tail",
        "Tail",
        "Rare transitions, seen at most once in training.",
        "Cases with m_sd of at most η in training.",
        paper="tail",
    ),
    GlossaryTerm(
        "unseen",
        "Unseen",
        "Transitions that nobody made in training.",
        "Cases with m_sd = 0 in training.",
        paper="unseen",
    ),
    GlossaryTerm(
        "eta",
        "Threshold",
        "A transition seen at most this often is rare.",
        "The largest m_sd of a tail transition; 1 in the paper.",
        paper="η",
    ),
    GlossaryTerm(
        "signal",
        "Signal to noise",
        "True places within some hops, compared with all other places within them.",
        "Unseen test pairs within N hops, divided by the other places of their C_N(s), times 1,000. The paper counts "
        "last transitions only, and each source once.",
        paper="SNR",
    ),
    GlossaryTerm(
        "interval",
        "Interval",
        "How far chance alone may move a number; 95 of 100 such ranges contain the true one.",
        "95 % percentile interval of a bootstrap over users.",
    ),
    GlossaryTerm(
        "holdout",
        "Holdout",
        "Part of training hides frequent transitions, so that past visits and paths must find them.",
        "Holdout loss (L_warm): the loss on head transitions; the core gets no gradient from it (Eqs. 15–19).",
        paper="warm-transition holdout",
    ),
    GlossaryTerm(
        "permutation_test",
        "Permutation test",
        "Whether a contribution is larger in this case than in other cases.",
        "p = (other cases with at least as much + 1) / (cases + 1), over 200 random test cases.",
    ),
    GlossaryTerm(
        "popularity", "Popularity", "How many check-ins a place had in training.", "Training check-ins of a POI."
    ),
    GlossaryTerm(
        "coincidence",
        "Coincidence",
        "Two things that occur together without one causing the other.",
        "A property of a case that is found without it too, such as a two-hop path.",
    ),
    GlossaryTerm(
        "k_anonymity",
        "k-anonymity",
        "At least k people match what is shown, so it identifies none of them.",
        "At least k users have check-ins at all points shown.",
        paper="k-anonymity",
    ),
    GlossaryTerm(
        "core",
        "Sequence model",
        "Points from the neural network that reads the latest check-ins.",
        "w_d · h_t + b_d (Eq. 5).",
        paper="core score",
    ),
    GlossaryTerm(
        "prior",
        "Prior",
        "Points for places the user visited before.",
        "R_t(d): visit count, recency and recent window, weighted and clipped to [0, b_max] (Eq. 9).",
        paper="revisit prior",
    ),
    GlossaryTerm(
        "count",
        "Visit count",
        "Points for how often the user was there.",
        "λ_prior w_cnt log(1 + n_t(d)) (Eq. 9).",
        paper="visit count",
    ),
    GlossaryTerm(
        "recency",
        "Recency",
        "Points for how recently the user was there.",
        "λ_prior w_rec exp(−r_t(d) / τ_rec) (Eq. 9).",
        paper="recency",
    ),
    GlossaryTerm(
        "window",
        "Recent window",
        "Points for a place among the latest check-ins.",
        "λ_prior w_win where r_t(d) is at most L_win (Eq. 9).",
        paper="recent window",
    ),
    GlossaryTerm(
        "clip_loss",
        "Limit",
        "What the prior's limit changes.",
        "count + recency + window − R_t(d); 0 unless the clip to [0, b_max] binds.",
        paper="clip",
    ),
    GlossaryTerm(
        "correction",
        "Correction",
        "Raises or lowers the prior by hour, weekday and context.",
        "Δ_t(d) = λ_corr γ_t(d) R_t(d) (Eq. 13).",
        paper="context correction",
    ),
    GlossaryTerm(
        "gate",
        "Gate",
        "How strongly the correction raises or lowers the prior.",
        "γ_t(d) in [−1, 1] (Eq. 12).",
        paper="gate",
    ),
    GlossaryTerm(
        "graph_token",
        "Graph token",
        "The places that others reach from here, as an input of the sequence model.",
        "g_t, from exactly N propagation steps from the source (Eqs. 7, 8).",
        paper="graph token",
    ),
    GlossaryTerm(
        "revisit",
        "Visited before",
        "The user has been there before.",
        "A visit before the source: d in C_t, q < t.",
        paper="revisit",
    ),
    GlossaryTerm(
        "in_token",
        "2 hops",
        "Two training transitions lead there; the graph token reads these places.",
        "(A²)_sd > 0.",
        paper="two-hop",
    ),
    GlossaryTerm(
        "within_two_hops",
        "1 hop",
        "One training transition leads there, but no two-hop path.",
        "d in C_2(s) with (A²)_sd = 0.",
        paper="two-hop candidate set",
    ),
    GlossaryTerm(
        "model_share",
        "Probability",
        "The model's probability for this place; all places sum to 1.",
        "Softmax of the totals over all POIs, divided by the case's fitted temperature.",
        paper="softmax probability",
    ),
    GlossaryTerm(
        "next_place",
        "Next place",
        "Where the user checks in next, whenever that is.",
        "The POI of the check-in after the last known one; argmax of the scores is the first choice.",
        paper="next POI",
    ),
    GlossaryTerm(
        "as_of",
        "As of",
        "The moment to predict from; later check-ins are left out.",
        "The last check-in that is known; weights, graph and other users' features stay what training made them.",
    ),
    GlossaryTerm(
        "expected_visits",
        "Expected next visits",
        "How many users are likely to go to a place next.",
        "Sum of the place's probabilities over users.",
    ),
    GlossaryTerm(
        "new_place",
        "New place",
        "A place where the user has never been.",
        "A POI without a check-in of the user up to the source, the source included.",
    ),
    GlossaryTerm(
        "out_of_reach",
        "New place beyond two hops",
        "A new place, and not within two hops.",
        "The target is neither in the history nor in C_2(s).",
    ),
    GlossaryTerm(
        "outvoted",
        "Found without X",
        "Without X, the model would find the place.",
        "A miss at K whose target ranks within K without group X; where several apply, the one with the best rank.",
    ),
    *(_found_without(key, part) for key, part in _OBSTACLES.items()),
    GlossaryTerm(
        "near_miss",
        "Near miss, within 200 m",
        "The first choice is within 200 m of the true place.",
        "Great-circle distance of the first place to the target is at most 200 m.",
    ),
    GlossaryTerm(
        "same_category",
        "Same category",
        "The first choice has the true place's category.",
        "The first place and the target share a category.",
    ),
    GlossaryTerm("other", "Other", "None of these reasons.", "A miss without any label above."),
    GlossaryTerm(
        "mcnemar_p",
        "McNemar p",
        "How likely such an uneven split is by chance, among the cases that only one model finds.",
        "Exact two-sided McNemar test over the cases that only one side finds within K.",
    ),
    GlossaryTerm(
        "sign_flip_p",
        "Sign-flip p",
        "How likely a difference this large is if the two models were interchangeable for every user.",
        "Two-sided permutation test over users: all sign flips for up to 12 users that differ, else 9,999.",
    ),
    GlossaryTerm(
        "tie",
        "Tie",
        "The numbers do not show which of the two is better.",
        "The 95 % interval contains 0, the larger p is at least .05, or two seeds of one model differ as much.",
    ),
    GlossaryTerm(
        "seed_band",
        "Seed spread",
        "How far two trainings of one model differ by chance.",
        "t (95 %) × √2 × the pooled standard deviation of a group's mean over seeds.",
    ),
)
TERMS: Final = {term.key: term for term in _TERMS}


def tooltip(*keys: str) -> str:
    """Terms with their plain sentences.

    >>> tooltip("revisit")
    'Visited before: the user has been there before.'
    """
    return " ".join(f"{TERMS[key].word}: {_clause(key)}." for key in keys)


def glossary_page() -> str:
    """Content of docs/glossary.md."""
    rows = (f"| `{t.key}` | {t.word} | {t.paper or '–'} | {t.plain} | {t.exact} |\n" for t in _TERMS)
    return PAGE_HEAD + "".join(rows)


def _clause(key: str) -> str:
    sentence = TERMS[key].plain
    return sentence[0].lower() + sentence[1:].removesuffix(".")
