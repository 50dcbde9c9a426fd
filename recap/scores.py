"""The interface of scorers: histories in, named additive score parts out.

Shape suffixes: B histories, P POIs, C packed candidates.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final, Literal, Protocol

import torch
from torch import Tensor

from recap.history.tensors import Histories


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of all POIs for a batch of cases, as a sum of named parts. A part is dense (B, P) or packed: values (C,)
    for a few candidates of each case, aligned with ``case_C`` and ``poi_C``, each pair at most once, zero elsewhere.
    ``tie_break_P`` orders POIs with equal totals (higher first); None leaves them tied.
    """

    dense: dict[str, Tensor]
    packed: dict[str, Tensor] = field(default_factory=dict)
    case_C: Tensor | None = None
    poi_C: Tensor | None = None
    tie_break_P: Tensor | None = None

    @cached_property
    def total(self) -> Tensor:
        """Sum of all parts, (B, P)."""
        first, *others = self.dense.values()
        total = first if not others else torch.stack([first, *others]).sum(0)
        return self._scatter(total, torch.stack(list(self.packed.values())).sum(0)) if self.packed else total

    @property
    def parts(self) -> dict[str, Tensor]:
        """Every part as a dense (B, P) tensor, in order."""
        zeros = torch.zeros_like(next(iter(self.dense.values())))
        return {**self.dense, **{name: self._scatter(zeros, values) for name, values in self.packed.items()}}

    def parts_at(self, poi_B: Tensor) -> dict[str, Tensor]:
        """Each part's value for one POI per case: name -> (B,)."""
        index_B = torch.arange(len(poi_B), device=poi_B.device)
        values = {name: part[index_B, poi_B] for name, part in self.dense.items()}
        if self.packed:
            assert self.case_C is not None and self.poi_C is not None
            mine = self.poi_C == poi_B[self.case_C]
            for name, part in self.packed.items():
                values[name] = part.new_zeros(len(poi_B)).index_add(0, self.case_C[mine], part[mine])
        return values

    def _scatter(self, base_BP: Tensor, values_C: Tensor) -> Tensor:
        assert self.case_C is not None and self.poi_C is not None
        # A bfloat16 core must not round the sum.
        dtype = torch.promote_types(base_BP.dtype, values_C.dtype)
        index_C = self.case_C * base_BP.shape[1] + self.poi_C
        flat = base_BP.to(dtype).reshape(-1).index_add(0, index_C, values_C.to(dtype))
        return flat.view_as(base_BP)


TargetTime = Literal["cannot", "can", "must"]
"""Whether a model cannot, can or must read the time of the check-in to predict."""


class Scorer(Protocol):
    """Scores all POIs as the next place of a batch of histories."""

    @property
    def name(self) -> str: ...

    @property
    def reads_target_time(self) -> bool:
        """Whether it needs `Histories`."""
        ...

    def score(self, histories: Histories) -> Scores:
        """Score every POI for every history. Must not read any later row."""
        ...


@dataclass(frozen=True)
class Term:
    """One term of a score. ``group``: terms of a group are shown and left out together."""

    name: str
    group: str


class Explainable(Scorer, Protocol):
    """A scorer whose scores are a sum of named terms."""

    @property
    def terms(self) -> tuple[Term, ...]: ...

    def contributions(self, histories: Histories, poi_BK: Tensor) -> Tensor:
        """What each term adds to the score of some POIs of each case, (B, K, T) float64; rows sum to `Scores.total`."""
        ...


def contributions_by_group(scorer: Explainable, histories: Histories, poi_BK: Tensor) -> dict[str, Tensor]:
    """What each group of terms adds to the score of some POIs of each case, (B, K)."""
    added_BKT = scorer.contributions(histories, poi_BK)
    groups = [term.group for term in scorer.terms]
    return {group: added_BKT[..., [other == group for other in groups]].sum(-1) for group in dict.fromkeys(groups)}


GRAPH_TOKEN: Final = "graph_token"  # noqa: S105 # no password
"""Parts that can be left out, next to the terms of a score and their groups."""


class PartTerms:
    """`Explainable` for independent parts; a subclass names its terms by part."""

    terms: ClassVar[tuple[Term, ...]]
    reads_target_time: ClassVar[bool] = False

    def score(self, histories: Histories) -> Scores:
        raise NotImplementedError  # pragma: no cover

    def contributions(self, histories: Histories, poi_BK: Tensor) -> Tensor:
        parts = self.score(histories).parts
        return torch.stack([parts[term.name].gather(1, poi_BK).double() for term in self.terms], dim=2)
