"""Every term once: the word on screen, the paper's word, and one sentence for each kind of reader.

Tooltips, names of score parts and docs/glossary.md are made from here. Keys are the names in code, records and JSON.
"""

from dataclasses import dataclass
from typing import Final

PAGE_HEAD: Final = """# Glossary

Generated from `analysis/glossary.py`; a test holds it to that file.

| Key | Word | In the paper | In plain words | Exactly |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Term:
    """One term.

    Attributes:
        key: name in code, records and JSON.
        word: on screen, in tables and exports.
        paper: the paper's word; empty where the term is ours.
        plain: one sentence for students and stakeholders.
        exact: one sentence for researchers.
    """

    key: str
    word: str
    paper: str
    plain: str
    exact: str


_TERMS: Final = (
    Term("poi", "Place", "POI", "A place that people check in at.", "A point of interest of the dataset's vocabulary."),
    Term(
        "transition",
        "Step",
        "transition",
        "Going from one place to the next.",
        "Two consecutive check-ins of a trajectory, source and destination.",
    ),
    Term(
        "trajectory",
        "Walk",
        "trajectory",
        "One outing: check-ins without a long pause between them.",
        "A user's check-ins without a gap of more than 24 h.",
    ),
    Term("user", "User", "user", "A person, shown by number only.", "A user of the dataset, named by index."),
    Term(
        "cell",
        "Cell",
        "",
        "A square of the map that stands for places in it that few people visited.",
        "The smallest square of a grid of 0.02°, 0.04°, … in which k users were at places of fewer than k users.",
    ),
    Term(
        "matching_users",
        "Users that fit",
        "",
        "How many people were at all places a shared case shows, at such times.",
        "Users with check-ins at every point as told: place or cell, weekday and part of the day.",
    ),
    Term(
        "unicity",
        "Unicity",
        "unicity",
        "How many of all people are alone in having been at a few drawn places and times of theirs.",
        "Share of users unique given p points drawn from their own trace (de Montjoye et al. 2013).",
    ),
    Term("head", "Head", "head", "Steps seen more than once.", "Cases whose m_sd is above η in training."),
    Term("tail", "Tail", "tail", "Steps seen at most once.", "Cases whose m_sd is at most η in training."),
    Term("unseen", "Unseen", "unseen", "Steps that nobody took in training.", "Cases whose m_sd is 0 in training."),
    Term(
        "eta",
        "Eta",
        "η",
        "Where the tail ends: a step seen at most so often is in it.",
        "The largest m_sd of a tail transition; 1 in the paper.",
    ),
    Term(
        "signal",
        "Signal for the noise",
        "SNR",
        "How many true places are reached for each other place that is.",
        "Unseen pairs of all test steps that are reached, over the other places of their C_N(s), times 1,000; the "
        "paper counts pairs of trajectories' last cases, and each source once.",
    ),
    Term(
        "interval",
        "Interval",
        "",
        "How far a number may be off by chance; 95 of 100 such ranges hold the true one.",
        "95 % percentile interval of a bootstrap over users.",
    ),
    Term(
        "holdout",
        "Holdout",
        "warm-transition holdout",
        "Frequent steps are blocked in part of the training, so that visit history and paths must find them.",
        "L_warm, the loss on head transitions with stopped gradients of the core (Eqs. 15–19).",
    ),
    Term(
        "permutation_test",
        "Permutation test",
        "",
        "Whether a contribution gives this place more here than in other cases.",
        "p = (other cases with at least as much + 1) / (cases + 1), over 200 random test cases.",
    ),
    Term(
        "popularity",
        "Popularity",
        "",
        "How many visits a place had in training.",
        "Training check-ins of a POI.",
    ),
    Term(
        "coincidence",
        "Coincidence",
        "",
        "Two things that come together without one making the other.",
        "Something true of a found case that is still found without it.",
    ),
    Term(
        "k_anonymity",
        "k-anonymity",
        "k-anonymity",
        "At least k people fit what is told, so it points to none of them.",
        "At least k users have check-ins at all points as told.",
    ),
    Term(
        "core",
        "Core",
        "core score",
        "What the network alone says of a place.",
        "w_d · h_t + b_d (Eq. 5).",
    ),
    Term(
        "prior",
        "Prior",
        "revisit prior",
        "Points for places the user visited before.",
        "R_t(d), the weighted visit count, recency and recent window, clipped to [0, b_max] (Eq. 9).",
    ),
    Term(
        "count",
        "Visit count",
        "visit count",
        "Points for how often.",
        "λ_prior w_cnt log(1 + n_t(d)) (Eq. 9).",
    ),
    Term(
        "recency",
        "Recency",
        "recency",
        "Points for how lately.",
        "λ_prior w_rec exp(−r_t(d) / τ_rec) (Eq. 9).",
    ),
    Term(
        "window",
        "Recent window",
        "recent window",
        "Points for being among the last check-ins.",
        "λ_prior w_win where r_t(d) is at most L_win (Eq. 9).",
    ),
    Term(
        "clip_loss",
        "Clip",
        "clip",
        "What the limit of habit takes away.",
        "count + recency + window − R_t(d); not 0 only where the clip to [0, b_max] binds.",
    ),
    Term(
        "correction",
        "Correction",
        "context correction",
        "Habit turned up or down by hour, weekday and context.",
        "Δ_t(d) = λ_corr γ_t(d) R_t(d) (Eq. 13).",
    ),
    Term(
        "gate",
        "Gate",
        "gate",
        "How far habit is turned up or down.",
        "γ_t(d) in [−1, 1] (Eq. 12).",
    ),
    Term(
        "graph_token",
        "Graph token",
        "graph token",
        "What the network is told about where people go from here.",
        "g_t, made from exactly N propagation steps from the source (Eqs. 7, 8).",
    ),
    Term("revisit", "Revisit", "revisit", "This user was there before.", "A visit before the source: d in C_t, q < t."),
    Term(
        "in_token",
        "2 hops",
        "two-hop",
        "Exactly two training steps away; models with a graph token read these places.",
        "(A²)_sd > 0.",
    ),
    Term(
        "within_two_hops",
        "1 hop",
        "two-hop candidate set",
        "One training step away, and not two.",
        "d in C_2(s) with (A²)_sd = 0.",
    ),
    Term(
        "model_share",
        "Model share",
        "softmax probability",
        "How the model shares one whole out among all places; the model card says how often it is right.",
        "Softmax of the totals over all POIs, not calibrated.",
    ),
    Term(
        "out_of_reach",
        "Out of reach",
        "",
        "Neither visited before nor within two steps.",
        "The target is neither in the history nor in C_2(s).",
    ),
    Term(
        "outvoted",
        "Outvoted by X",
        "",
        "Without X the case would be found.",
        "A miss at K whose target ranks within K without the group X; the best rank where several.",
    ),
    Term(
        "outvoted_by_core",
        "Outvoted by core",
        "",
        "Without the general pattern it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_correction",
        "Outvoted by the correction",
        "",
        "Without the change of habit by the time it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_two_hops",
        "Outvoted by two hops",
        "",
        "Without two-step paths it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_past_visits",
        "Outvoted by past visits",
        "",
        "Without the user's past visits it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_times",
        "Outvoted by time of day and week",
        "",
        "Without time of day and week it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_transitions",
        "Outvoted by transitions from here",
        "",
        "Without transitions from here it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "outvoted_by_places",
        "Outvoted by popularity and distance",
        "",
        "Without popularity and distance it would be found.",
        "Without it the target ranks within K; scored again.",
    ),
    Term(
        "near_miss",
        "Near miss, within 200 m",
        "",
        "The first place lies within 200 m.",
        "Great-circle distance of the first place to the target is at most 200 m.",
    ),
    Term(
        "same_category",
        "Same category",
        "",
        "It has the truth's category.",
        "The first place and the target share a category.",
    ),
    Term("other", "Other", "", "None of these reasons.", "A miss without any of the labels before."),
    Term(
        "mcnemar_p",
        "McNemar p",
        "",
        "How often chance alone would split so unevenly the cases that only one of two models finds.",
        "Exact two-sided McNemar test over the cases that one side alone finds within K.",
    ),
    Term(
        "sign_flip_p",
        "Sign-flip p",
        "",
        "How often the difference would be as large if the models' names were exchanged by chance, user by user.",
        "Two-sided permutation test over users: all 2^U sign flips up to 12 users that differ, else 9,999 drawn ones.",
    ),
    Term(
        "tie",
        "Tie",
        "",
        "The numbers do not say which of the two is better.",
        "The 95 % interval holds 0, the larger p is .05 or more, or two seeds of one model differ by as much.",
    ),
    Term(
        "seed_band",
        "Band of seeds",
        "",
        "How far two trainings of one model differ when nothing but chance differs.",
        "t of 95 % times √2 times the pooled standard deviation of a group's mean over seeds.",
    ),
)
TERMS: Final = {term.key: term for term in _TERMS}


def tooltip(*keys: str) -> str:
    """Terms with their plain sentences.

    >>> tooltip("revisit")
    'Revisit: this user was there before.'
    """
    return " ".join(f"{TERMS[key].word}: {_clause(key)}." for key in keys)


def tooltip_of_order(*keys: str) -> str:
    """What labels mean of which the first that applies is given.

    >>> tooltip_of_order("near_miss", "same_category")
    "The first that applies: the first place lies within 200 m; it has the truth's category."
    """
    return f"The first that applies: {'; '.join(map(_clause, keys))}."


def glossary_page() -> str:
    """docs/glossary.md."""
    rows = (f"| `{t.key}` | {t.word} | {t.paper or '–'} | {t.plain} | {t.exact} |\n" for t in _TERMS)
    return PAGE_HEAD + "".join(rows)


def _clause(key: str) -> str:
    sentence = TERMS[key].plain
    return sentence[0].lower() + sentence[1:].removesuffix(".")
