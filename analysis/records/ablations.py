"""Ablations of every test case: the rank of the truth without each group of terms.

- ``past_visits``, ``core`` and so on: without one group of the scorer's terms and everything that depends on it.
- ``history``: without past visits and times, the paper's "w/o History"; the encoder still reads check-ins.
- ``graph_token``: the token's content is zero. ``two_hops``: without the token and the group of two-hop paths.

Ranks are among all places, and also among places of the truth's kind (known to the user, or new).
"""

from typing import TYPE_CHECKING, Final, cast

import numpy as np
import pandas as pd

from analysis.formatting import capitalised
from recap import columns as c
from recap.features.catalogue import GROUPS

if TYPE_CHECKING:
    from torch import Tensor

    from recap.asking.predictor import Predictor
    from recap.model.scorer import RecapScorer
    from recap.scores import Scorer

_CASES_PER_BATCH: Final = 128


def slug(group: str) -> str:
    """A group's name in column names.

    >>> slug("two-hop paths")
    'two_hop_paths'
    """
    return group.replace(" ", "_").replace("-", "_")


GROUP_NAMES: Final = {slug(group): group for group in (*GROUPS, "core", "correction")}
"""Groups of terms by slug."""
HISTORY: Final = "history"
TWO_HOPS: Final = "two_hops"
HOPS_ABLATIONS: Final = ("two_hop_paths", "graph_token")
"""Ablations for "without two-hop paths": the group of that name, else the graph token."""
ABLATION_LABELS: Final = {
    HISTORY: "visit history",
    TWO_HOPS: "two hops (paths and graph token)",
    **GROUP_NAMES,
    "core": "the sequence model",
    "correction": "the correction",
    "graph_token": "the graph token",
}
"""Names of ablations after "without"."""
ABLATIONS: Final = tuple(ABLATION_LABELS)
KIND_RANK: Final = "kind_rank"
_RANKS: Final = (KIND_RANK, *(f"{kind}without_{name}" for kind in ("", "kind_") for name in ABLATIONS))
COLUMNS: Final = (
    c.CASE,
    c.RANK,
    c.NUM_BETTER,
    c.NUM_TIED,
    "first",
    c.IS_KNOWN,
    KIND_RANK,
    *(f"without_{name}" for name in ABLATIONS),
    *(f"kind_without_{name}" for name in ABLATIONS),
    *(f"tied_{ranks}" for ranks in _RANKS),
    *(f"contribution_{name}" for name in GROUP_NAMES),
)


def part_words(name: str) -> str:
    """A group of terms, a term or an ablation inside a sentence, after "without".

    >>> part_words("past visits"), part_words("graph_token"), part_words("visit_count")
    ('past visits', 'the graph token', 'visit count')
    """
    return ABLATION_LABELS.get(slug(name), name.replace("_", " "))


def part_label(name: str) -> str:
    """The same as a row's label.

    >>> part_label("core"), part_label("two-hop paths"), part_label("history")
    ('Sequence model', 'Two-hop paths', 'Habit: past visits and times')
    """
    return "Habit: past visits and times" if name == HISTORY else capitalised(part_words(name).removeprefix("the "))


def ablations_of(scorer: "RecapScorer") -> dict[str, frozenset[str]]:
    """The ablations that a scorer has: for each, the terms or the graph token that it leaves out."""
    from recap.scores import GRAPH_TOKEN

    inactive = scorer.stage.inactive_parts(scorer.model.config)
    groups: dict[str, frozenset[str]] = {}
    for term in scorer.terms:
        if (term.group if term.group in ("core", "correction") else "prior") not in inactive:
            groups[slug(term.group)] = groups.get(slug(term.group), frozenset()) | {term.name}
    token = frozenset({GRAPH_TOKEN} - set(inactive))
    nothing: frozenset[str] = frozenset()
    terms_of = groups | {
        "graph_token": token,
        HISTORY: groups.get("past_visits", nothing) | groups.get("time_of_day_and_week", nothing),
        TWO_HOPS: token | groups.get("two_hop_paths", nothing),
    }
    return {name: terms_of[name] for name in ABLATIONS if terms_of.get(name)}


def feature_groups(scorer: "Scorer") -> frozenset[str]:
    """A scorer's ablations, or else its groups of terms; none for a published model."""
    if hasattr(scorer, "stage"):
        return frozenset(ablations_of(cast("RecapScorer", scorer)))
    return frozenset(slug(term.group) for term in getattr(scorer, "terms", ()))


def describe_ablations(predictor: "Predictor", cases: pd.DataFrame) -> pd.DataFrame:
    """Rank of the truth with and without each group, and each group's contribution to its score.

    Args:
        cases: rows of `Predictor.cases_of`.

    Returns:
        One row per case: ``case, rank`` (mean over ties), ``num_better, num_tied``, ``first`` (the first place),
        ``is_known`` (whether the user has been to the true place), ``kind_rank`` (among places of its kind),
        ``without_<ablation>`` and ``kind_without_<ablation>`` (these ranks), ``tied_<rank>`` (how many places share
        each of these ranks, the truth included) and ``contribution_<group>``, which sum to the truth's score. NaN if
        the model has no such part.
    """
    from recap.machine.device import one_thread

    starts = range(0, len(cases), _CASES_PER_BATCH)
    with one_thread():
        pieces = [_describe(predictor, cases.iloc[start : start + _CASES_PER_BATCH]) for start in starts]
    return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=list(COLUMNS), dtype=np.float64)


def _describe(predictor: "Predictor", cases: pd.DataFrame) -> pd.DataFrame:
    import torch

    from recap.evaluation.ranks import rank_targets
    from recap.scores import contributions_by_group

    scorer, histories = predictor.scorer, predictor.histories(cases[c.ROW].tolist())
    target_B = torch.tensor(cases[c.TARGET].to_numpy(np.int64))
    total_BP = predictor.score(histories).total  # what the records rank by, to the last digit
    is_known_BP = histories.known_places(predictor.dataset.num_pois)
    is_known_B1 = is_known_BP.gather(1, target_B[:, None])
    other_kind_BP = is_known_BP != is_known_B1

    def ranked(name: str, totals_BP: "Tensor") -> dict[str, np.ndarray]:
        counts = rank_targets(totals_BP, target_B)
        return {name: counts.mean_B.numpy(), f"tied_{name}": counts.num_tied_B.numpy()}

    def among_its_kind(totals_BP: "Tensor") -> "Tensor":
        return totals_BP.masked_fill(other_kind_BP, -torch.inf)

    ranks = rank_targets(total_BP, target_B)
    missing = np.full(len(cases), np.nan)
    columns: dict[str, np.ndarray] = dict.fromkeys(COLUMNS, missing) | {
        c.CASE: cases[c.CASE].to_numpy(np.int64),
        c.RANK: ranks.mean_B.numpy(),
        c.NUM_BETTER: ranks.num_better_B.numpy(),
        c.NUM_TIED: ranks.num_tied_B.numpy(),
        "first": total_BP.argmax(1).numpy(),
        c.IS_KNOWN: is_known_B1[:, 0].numpy(),
    }
    columns |= ranked(KIND_RANK, among_its_kind(total_BP))
    ablations = ablations_of(scorer)
    totals = scorer.scores_without_each(histories, ablations.values())
    for name, without_BP in zip(ablations, totals, strict=True):
        columns |= ranked(f"without_{name}", without_BP) | ranked(f"kind_without_{name}", among_its_kind(without_BP))
    added = contributions_by_group(scorer, histories, target_B[:, None])
    return pd.DataFrame(columns | {f"contribution_{slug(name)}": added_B1[:, 0] for name, added_B1 in added.items()})
