"""A model opened on a dataset: it ranks cases, edited cases and what comes next, in float64.

Shape suffixes: B cases or variants, P POIs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import pandas as pd
import torch
from torch import Tensor

from recap import columns as c
from recap.asking.counterfactuals import Counterfactual, pack_counterfactuals, terms_off
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CaseError, CheckpointError, VocabularyError
from recap.evaluation.cases import describe_cases
from recap.evaluation.ranks import check_scores, rank_targets
from recap.evaluation.scoring import histories_per_pass
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment, is_moment, named_case
from recap.history.one_user import History, pack_histories
from recap.history.tensors import CaseBatch, CheckinTensors, Histories
from recap.model.curve_prior import CurveValues
from recap.model.recap import UNCHANGED, Interventions, RevisitParts
from recap.model.scorer import RecapScorer
from recap.probabilities import UNFITTED, Temperature
from recap.published.network import PublishedScorer
from recap.scores import Scorer, Scores
from recap.vocabulary import Match

_VARIANTS_PER_PASS = 256


class PlaceRanks(NamedTuple):
    """One place in B counterfactual copies: its total, and its mean rank over ties, 1 is best."""

    total_B: Tensor
    rank_B: Tensor


class CaseRanker:
    """A model opened on a dataset: it scores histories, cases and edited copies of them. A baseline has no checkpoint
    but a ``scorer``. ``scorer, graph, checkins``: if computed already; ``num_candidates``: only the first places are
    candidates for the next place; None takes all. Raises VocabularyError: another dataset.
    """

    scorer: Scorer

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        dataset: Dataset,
        *,
        scorer: Scorer | None = None,
        graph: TransitionGraph | None = None,
        checkins: CheckinTensors | None = None,
        num_candidates: int | None = None,
    ) -> None:
        self._checkpoint, self.dataset = checkpoint, dataset
        self.graph = graph or TransitionGraph.from_dataset(dataset)
        self.checkins = checkins or CheckinTensors.from_dataset(dataset)
        self.num_candidates = num_candidates or dataset.num_pois
        self._cases: dict[int, pd.DataFrame] = {}
        self.scorer = scorer or self.checkpoint.scorer(dataset, self.graph)

    def with_cases(self, cases: pd.DataFrame) -> Self:
        """The same model with its test cases, if they were described before."""
        self._cases[c.TEST] = cases
        return self

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint; raises CheckpointError for a baseline."""
        if self._checkpoint is None:
            raise CheckpointError(f"{self.scorer.name} is a baseline: name a checkpoint folder")
        return self._checkpoint

    @property
    def is_baseline(self) -> bool:
        return self._checkpoint is None

    @property
    def match(self) -> Match | None:
        """Which users and places the checkpoint knows; None for a baseline or the checkpoint's own dataset."""
        return None if self._checkpoint is None else self._checkpoint.match(self.dataset)

    @property
    def label(self) -> str:
        """The checkpoint's label, or the baseline's name."""
        return self.scorer.name if self._checkpoint is None else self._checkpoint.label

    @property
    def temperature(self) -> Temperature | None:
        """Turns scores into probabilities; None for a model without them, as counts are."""
        if self._checkpoint is None:
            return UNFITTED if isinstance(self.scorer, RecapScorer) else None
        return self._checkpoint.temperature

    def _totals(self, groups: Sequence[Sequence[Counterfactual]]) -> Iterable[Tensor]:
        """Totals (B, P) of groups of copies that differ in what is left out only; here, nothing can be."""
        return [self.scorer.score(pack_histories([variant.history for variant in group])).total for group in groups]

    def score_counterfactuals(self, variants: Sequence[Counterfactual]) -> Tensor:
        """Totals (B, P) of counterfactual copies."""
        totals_BP = torch.zeros(len(variants), self.dataset.num_pois, dtype=torch.float64)
        for some, total_BP in self._passes(variants):
            totals_BP[some] = total_BP
        return totals_BP

    def place_ranks(self, variants: Sequence[Counterfactual], poi: int) -> PlaceRanks:
        """Rank of one place in each counterfactual copy."""
        found = PlaceRanks(*torch.zeros(2, len(variants), dtype=torch.float64))
        for some, total_BP in self._passes(variants):
            found.total_B[some] = total_BP[:, poi]
            found.rank_B[some] = rank_targets(total_BP, torch.full((len(some),), poi)).mean_B.double()
        return found

    def _passes(self, variants: Sequence[Counterfactual]) -> Iterator[tuple[list[int], Tensor]]:
        """Positions and totals of some copies at a time. What differs only in what is left out is read once."""
        size = histories_per_pass(self.dataset.num_pois, _VARIANTS_PER_PASS)
        alike: dict[tuple[object, ...], list[int]] = {}
        for at, variant in enumerate(variants):
            alike.setdefault(variant.shared, []).append(at)
        batches: dict[tuple[object, ...], list[list[int]]] = {}
        for group in alike.values():
            for some in (group[start : start + size] for start in range(0, len(group), size)):
                batches.setdefault(tuple(variants[at].read for at in some), []).append(some)
        for groups in batches.values():
            yield from zip(groups, self._totals([[variants[at] for at in some] for some in groups]), strict=True)

    @cached_property
    def cases(self) -> pd.DataFrame:
        """The test cases, see `describe_cases`."""
        return self.cases_of(c.TEST)

    def cases_of(self, split: int) -> pd.DataFrame:
        """The cases of a split in records order, cached."""
        if split not in self._cases:
            self._cases[split] = describe_cases(self.dataset, self.graph, split)
        return self._cases[split]

    def case(self, number: int, split: int = c.TEST) -> pd.Series:
        """One case of a split. Raises CaseError: no such case."""
        cases, name = self.cases_of(split), "validation" if split == c.VAL else c.SPLIT_NAMES[split]
        if not 0 <= number < len(cases):
            known = f"cases 0 to {len(cases) - 1}" if len(cases) else f"no {name} case"
            raise CaseError(f"there is no {name} case {number}; this dataset has {known}")
        return cases.iloc[number]

    def moment(self, case: int | Moment, split: int = c.TEST) -> Moment:
        """The case of a number, or a user's moment, with its number where a test case starts. Raises CaseError: no such
        case, or a row that is not the user's.
        """
        if not isinstance(case, Moment):
            return Moment.of_case(self.case(case, split), split)
        if case.is_empty or not is_moment(self.dataset, case):
            raise CaseError(f"check-in {case.row} of {self.dataset.manifest.name} is not one of user {case.user}")
        return named_case(case, self.cases)

    def histories(self, rows: list[int]) -> Histories:
        """What was known at the check-ins of these rows; with the next check-in's time for a model that reads it."""
        batch = CaseBatch(self.checkins, torch.tensor(rows, dtype=torch.int64))
        return batch.histories(target_time=self.scorer.reads_target_time)

    def score(self, histories: Histories) -> Scores:
        """Scores of a batch. Raises ScoreError for NaN, VocabularyError for a new user whom the model does not know."""
        has_new = bool((histories.user_B >= self.dataset.num_users).any())
        if has_new and isinstance(self.scorer, PublishedScorer) and self.scorer.model.learns_users:
            raise VocabularyError(
                f"{self.label} learned one vector for each user and does not know a new one: choose another model"
            )
        scores = self.scorer.score(histories)
        check_scores(scores.total, self.scorer.name)
        return scores

    def known_at(self, moment: Moment) -> History:
        """The user's check-ins up to a moment, as changed."""
        return History.at(moment, self.dataset, self.checkins)

    def history(self, moment: Moment) -> History:
        """The user's check-ins up to a moment; with the next check-in's time for a model that reads it. CaseError: the
        model reads that time, and there is no next check-in.
        """
        known = self.known_at(moment)
        if not self.scorer.reads_target_time:
            return known
        next_seconds = moment.at
        if next_seconds is None:
            if moment.next_place(self.dataset) is None:
                raise CaseError(f"{self.label} reads the time of the next check-in, which is not known yet: use --at")
            next_seconds = int(self.checkins.local_seconds_T[moment.row + 1])
        if next_seconds < known.local_seconds_H[-1]:
            raise CaseError("the time given is before the last check-in: choose a later time, or move the check-in")
        return replace(known, next_local_seconds=next_seconds)

    def histories_at(self, moment: Moment) -> Histories:
        """What is known at a moment, as a batch of one; raises as `history`."""
        history = self.history(moment)
        if moment.is_changed or moment.at is not None:
            return pack_histories([history])
        return self.histories([moment.row])


class Predictor(CaseRanker):
    """Splits the scores of a RECAP, or of curves alone, into contributions. ``opened``: see `CaseRanker`. Raises
    CheckpointError: it holds a published model; VocabularyError: the checkpoint does not open with this dataset.
    """

    scorer: RecapScorer

    def __init__(self, checkpoint: Checkpoint | None, dataset: Dataset, **opened: Any) -> None:
        super().__init__(checkpoint, dataset, **opened)
        self.stage, self.model = self.scorer.stage, self.scorer.model
        self.model.requires_grad_(False)

    def pack(self, variants: Sequence[Counterfactual]) -> tuple[Histories, Interventions]:
        return pack_counterfactuals(variants, self.model, self.graph)

    def _totals(self, groups: Sequence[Sequence[Counterfactual]]) -> Iterable[Tensor]:
        left_out = [terms_off(self.model, group[0].off) for group in groups]
        histories, changes = self.pack(groups[0])
        return self.scorer.scores_without_each(histories, left_out, changes)

    def revisit_parts(self, histories: Histories, changes: Interventions = UNCHANGED) -> RevisitParts | None:
        """Prior terms, gates and corrections of the packed candidates; None while the prior is inactive."""
        with torch.inference_mode():
            state_BD = self.model.encode(histories, self.stage, self.scorer.propagated_PE, changes)
            values = None if self.model.curves is None else self.model.features_of(histories, changes)
            return self.model.revisit(histories, self.stage, state_BD, changes, values)

    def curve_values(self, histories: Histories, changes: Interventions = UNCHANGED) -> CurveValues:
        with torch.inference_mode():
            return self.model.features_of(histories, changes)
