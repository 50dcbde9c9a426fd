"""One scorer's core with another's rest: named score parts of both over the same catalogue, added up and ranked anew.

What comes out is a scorer, evaluated and compared like any other. With A = B it is A.
"""

from torch import Tensor

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
        f"core-{core_of.key[:8]}-rest-{rest_of.key[:8]}",
        f"core of {core_of.label}, rest of {rest_of.label}",
        SwappedScorer(core_of.scorer, rest_of.scorer),
        probabilistic=True,
    )
