"""One scorer's core with another's rest: named score parts of both over the same catalogue, added up and ranked anew.

What comes out is a scorer, evaluated and compared like any other. With A = B it is A.
"""

import pandas as pd
from torch import Tensor

from analysis.compare.comparison import PairedCases, compare
from analysis.compare.scorers import OpenedScorer
from analysis.compare.side import Side
from analysis.records.evaluation_records import evaluation_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap.errors import ConfigError
from recap.scores import CaseBatch, Scorer, Scores

CORE = "core"


class SwappedScorer:
    """Part ``core`` of one scorer and every other part of another.

    Args:
        core_of, rest_of: scorers over the same catalogue whose scores have a part named ``core``.
    """

    def __init__(self, core_of: Scorer, rest_of: Scorer) -> None:
        self.core_of, self.rest_of = core_of, rest_of
        self.name = f"{core_of.name} core, {rest_of.name} rest"

    def score(self, batch: CaseBatch) -> Scores:
        """Every POI's score for every case.

        Raises:
            ConfigError: a scorer without the part ``core``.
        """
        core, rest = self.core_of.score(batch), self.rest_of.score(batch)
        for scores, scorer in ((core, self.core_of), (rest, self.rest_of)):
            if CORE not in scores.dense:
                raise ConfigError(
                    f"{scorer.name} has no part named {CORE} to swap; its parts are {', '.join(scores.names)}"
                )
        dense: dict[str, Tensor] = {**rest.dense, CORE: core.dense[CORE]}
        return Scores(dense, rest.packed, rest.case_C, rest.poi_C, rest.tie_break_P)


def swap_core(core_of: NamedScorer, rest_of: NamedScorer) -> NamedScorer:
    """``core_of``'s core with ``rest_of``'s prior, correction and evidence, as a scorer of its own.

    Raises:
        ConfigError: one of them is not a checkpoint, whose scores alone have these parts.
    """
    for side in (core_of, rest_of):
        if side.checkpoint is None:
            raise ConfigError(f"parts are swapped between two checkpoints; {side.label} is none")
    return NamedScorer(
        f"swap-{core_of.key[:9]}-{rest_of.key[:9]}",
        f"core of {core_of.label}, rest of {rest_of.label}",
        SwappedScorer(core_of.scorer, rest_of.scorer),
        probabilistic=True,
    )


def swap_table(
    paired: PairedCases, opened: LoadedDataset, a: OpenedScorer, b: OpenedScorer, metric: str, *, keep: bool = True
) -> pd.DataFrame:
    """A, B, and each one's core with the other's rest, beside A on the same cases.

    Args:
        keep: whether to write the records of the exchanged ones to the user's cache.

    Returns:
        One row for each: ``core_of, rest_of, n, value, against_a`` (difference to A), ``low, high`` (95 % interval over
        users), ``sign_flip_p``.

    Raises:
        ConfigError: a side is not a checkpoint.
    """
    named = []
    for scorer in (a, b):
        if scorer.checkpoint is None:
            raise ConfigError(f"parts are swapped between two checkpoints; {scorer.label} is none")
        named.append(NamedScorer.of_checkpoint(scorer.checkpoint, opened))
    sides = {("A", "A"): a.side(), ("B", "B"): b.side()}
    for core, rest in (("A", "B"), ("B", "A")):
        mixed = swap_core(named["AB".index(core)], named["AB".index(rest)])
        records = evaluation_records(opened, mixed.key, lambda mixed=mixed: mixed, keep=keep)  # type: ignore[misc]
        sides[core, rest] = Side(mixed.key, mixed.label, (records,))
    rows = []
    for (core, rest), side in sides.items():
        row = compare(paired, sides["A", "A"], side, metric).row("all")
        told = {"n": row["n"], "value": row["b"], "against_a": row["difference"]}
        rows.append({"core_of": core, "rest_of": rest} | told | row[["low", "high", "sign_flip_p"]].to_dict())
    return pd.DataFrame(rows)
