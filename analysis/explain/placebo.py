"""Placebos: the same row's points for the same place, where the fact that the row rests on is drawn at random.

The user stays, with all earlier check-ins, but stands at another place (drawn as often as training left it), at
another time of the week. There as here the weights of two-step walks add up to one, so that two-hop points are held
against paths of equal weight. Popularity is held against that of another place, own visits against those of other
users, and the graph token is filled with the two hops of the other place.

Shape suffixes: N placebos, with the case itself first; U different tokens: the case's own, other places', none.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from analysis.explain.edited_case import EditedCase
from analysis.explain.state_totals import Report, StateTotals
from analysis.records.removals import evidence_points
from analysis.records.score_rows import row_of_term
from recap import columns as c
from recap.config import Config
from recap.counterfactuals import Counterfactual, pack_counterfactuals
from recap.device import one_thread
from recap.evidence.config import DENSE_FEATURES
from recap.history import SECONDS_PER_DAY, find_revisit_candidates
from recap.model.interventions import Interventions
from recap.model.recap import Recap
from recap.predictor import Predictor
from recap.scores import CaseBatch

NUM_PLACEBOS: Final = 200
"""Placebos of each row."""
PLACEBO_LEVEL: Final = 0.95
"""A row is better than placebo where its points lie beyond those of this share of the placebos, on its side of 0."""
_MINUTES_PER_WEEK: Final = 7 * 24 * 60


class PlaceboTest(Config):
    """A row's points of a place beside those of placebos; all less the mean over all places."""

    row: str
    points: float
    placebos: list[float]
    beaten: float = Field(description="Share of placebos with less on the row's side of 0.")
    reached: int = Field(description="Placebos that reach as far as the row, on its side of 0.")
    p_value: float = Field(description="(reached + 1) / (placebos + 1).")
    bar: float = Field(description="What 95 % of placebos stay within, on the row's side of 0.")

    @property
    def is_better(self) -> bool:
        """Beyond the placebos: not where the row gives the place no points."""
        return self.points != 0.0 and self.beaten >= PLACEBO_LEVEL


def placebo_tests(
    edited_case: EditedCase,
    poi: int,
    *,
    seed: int = 0,
    placebos: int = NUM_PLACEBOS,
    report: Report | None = None,
) -> list[PlaceboTest]:
    """Every row that the model has, but the opaque ones, held against placebos.

    Args:
        poi: whose points.
        seed: of the draws, with the case's number.
        report: told (places done, places in all) while the token's placebos are scored.
    """
    contexts = _elsewhere(edited_case, placebos, np.random.default_rng([seed, edited_case.case.number]))

    def network() -> dict[str, Tensor]:
        with torch.inference_mode():
            return _token_row(edited_case, contexts, poi, report)

    # The token is a matter of large matrices, the rest of many small ones: side by side each has a core.
    with one_thread(), ThreadPoolExecutor(1) as beside, torch.inference_mode():
        token = beside.submit(network)
        drawn = _evidence_rows(edited_case, contexts, poi) | _own_visits(edited_case, poi, placebos)
        drawn |= token.result()
    return [_test(row, points_N.double().numpy()) for row, points_N in drawn.items()]


def _test(row: str, points_N: np.ndarray) -> PlaceboTest:
    own, others = float(points_N[0]), points_N[1:]
    side = -1.0 if own < 0 else 1.0
    is_less = side * others < side * own - 1e-12
    reached = int((~is_less).sum())
    bar = side * float(np.quantile(side * others, PLACEBO_LEVEL))
    return PlaceboTest(
        row=row,
        points=own,
        placebos=others.tolist(),
        beaten=float(is_less.mean()),
        reached=reached,
        p_value=(reached + 1) / (len(others) + 1),
        bar=bar,
    )


def _elsewhere(edited_case: EditedCase, placebos: int, generator: np.random.Generator) -> list[Counterfactual]:
    """The case itself, then copies of it at another place and time of the week."""
    base, graph = edited_case.variant, edited_case.predictor.graph
    weight_P = np.asarray(graph.counts.sum(axis=1), dtype=np.float64).ravel()
    weight_P[base.history.source] = 0.0
    if not weight_P.any():
        weight_P = np.ones(len(weight_P))
    places = generator.choice(len(weight_P), placebos, p=weight_P / weight_P.sum())
    minutes = generator.integers(0, _MINUTES_PER_WEEK, placebos)
    contexts = [base]
    for place, minute in zip(places.tolist(), minutes.tolist(), strict=True):
        poi_H, local_H = base.history.poi_H.copy(), base.history.local_seconds_H.copy()
        poi_H[-2] = place
        local_H[-2] += 60 * minute - local_H[-2] % (7 * SECONDS_PER_DAY)
        contexts.append(replace(base, history=replace(base.history, poi_H=poi_H, local_seconds_H=local_H)))
    return contexts


def _evidence_rows(edited_case: EditedCase, contexts: list[Counterfactual], poi: int) -> dict[str, Tensor]:
    terms, predictor = edited_case.predictor.model.evidence, edited_case.predictor
    if terms is None or not edited_case.is_active("evidence"):
        return {}
    # Without the graph's rows, of which evidence takes none.
    batch, changes = pack_counterfactuals(contexts, predictor.model.config, None, terms.weight_F.dtype)
    poi_N = torch.full((len(contexts),), poi)
    values = predictor.evidence_values(batch, changes)
    points = evidence_points(terms, values, poi_N, predictor.dataset.num_pois)
    chosen = ("hour_and_weekday", "own_transitions", "others_transitions", "two_hop_addends", "distance")
    weight = dict(zip(terms.names, values.weight_BF[0].tolist(), strict=True))
    known = float((edited_case.variant.history.poi_H[:-1] == poi).any())
    popularity_P = values.evidence.dense["popularity"].double().reshape(-1, predictor.dataset.num_pois)[0]
    generator = torch.Generator().manual_seed(poi)
    others_N = popularity_P[torch.randint(len(popularity_P), (len(contexts) - 1,), generator=generator)]
    slope = weight["popularity"] + known * weight["known_popularity"]
    own_1 = points["popularity"][:1]
    popularity_N = torch.cat([own_1, own_1 + slope * (others_N - popularity_P[poi])])
    return {**{row: points[row] for row in chosen}, "popularity": popularity_N}


def _own_visits(edited_case: EditedCase, poi: int, placebos: int) -> dict[str, Tensor]:
    if not edited_case.is_active("prior") and not edited_case.is_active("evidence"):
        return {}
    batch, changes = edited_case.predictor.pack([edited_case.variant])
    own_1 = _visit_points(edited_case.predictor, batch, changes).of(poi)
    return {"own_visits": torch.cat([own_1, _other_users(edited_case.predictor, placebos).of(poi)])}


@dataclass(frozen=True, eq=False)
class _VisitPoints:
    """Points of the row own visits for the few places that have any; every other place has none.

    Attributes:
        case_C, poi_C, value_C: addends of a case and a place.
        num_cases, num_pois: sizes of the table that these are the filled cells of.
    """

    case_C: Tensor
    poi_C: Tensor
    value_C: Tensor
    num_cases: int
    num_pois: int

    def of(self, poi: int) -> Tensor:
        """One place's points less their mean over all places, (N,)."""
        zeros_N = torch.zeros(self.num_cases, dtype=torch.float64)
        here = self.poi_C == poi
        own_N = zeros_N.index_add(0, self.case_C[here], self.value_C[here])
        return own_N - zeros_N.index_add(0, self.case_C, self.value_C) / self.num_pois


_OTHERS: WeakKeyDictionary[Recap, tuple[int, _VisitPoints]] = WeakKeyDictionary()


def _other_users(predictor: Predictor, placebos: int) -> _VisitPoints:
    """Own-visit points of users drawn at random, each at one of their test cases; made once for a model."""
    known = _OTHERS.get(predictor.model)
    if known is None or known[0] != placebos:
        rows = np.random.default_rng(placebos).choice(predictor.cases[c.ROW].to_numpy(), placebos)
        known = placebos, _visit_points(predictor, predictor.batch(rows.tolist()), None)
        _OTHERS[predictor.model] = known
    return known[1]


def _visit_points(predictor: Predictor, batch: CaseBatch, changes: Interventions | None) -> _VisitPoints:
    terms = predictor.model.evidence
    empty = torch.zeros(0, dtype=torch.int64)
    addends = [(empty, empty, torch.zeros(0, dtype=torch.float64))]
    prior = predictor.model.prior
    if prior is not None and predictor.stage.prior:
        config = predictor.model.config
        candidates = find_revisit_candidates(
            batch.checkins, batch.row_B, recent_window=config.recent_window, max_candidates=config.max_candidates
        )
        factor_C4 = None if changes is None else changes.term_factors(candidates)
        prior_C = prior(candidates, None if factor_C4 is None else factor_C4[:, :3]).prior_C
        addends.append((candidates.case_C, candidates.poi_C, prior_C.double()))
    if terms is not None and predictor.stage.prior:
        values = predictor.evidence_values(batch, changes)
        evidence, first = values.evidence, len(DENSE_FEATURES) + 1
        packed = slice(first, first + evidence.packed_CF.shape[1])
        is_visit_F = torch.tensor([row_of_term(name) == "own_visits" for name in terms.names[packed]])
        weight_CF = values.weight_BF[:, packed][evidence.case_C].double() * is_visit_F
        addends.append((evidence.case_C, evidence.poi_C, (evidence.packed_CF * weight_CF).sum(1)))
        for at, name in enumerate(terms.names):
            if name in evidence.dense and row_of_term(name) == "own_visits":
                points_NP = values.weight_BF[:, at, None].double() * evidence.dense[name]
                case_D, poi_D = points_NP.nonzero(as_tuple=True)
                addends.append((case_D, poi_D, points_NP[case_D, poi_D]))
    case_C, poi_C, value_C = (torch.cat(column) for column in zip(*addends, strict=True))
    return _VisitPoints(case_C, poi_C, value_C, len(batch), predictor.dataset.num_pois)


def _token_row(
    edited_case: EditedCase, contexts: list[Counterfactual], poi: int, report: Report | None
) -> dict[str, Tensor]:
    """What the token, filled from each context's place, adds to the log probability; core and correction follow it."""
    predictor, base = edited_case.predictor, edited_case.variant
    if not edited_case.is_active("graph_token"):
        return {}
    sources = torch.tensor([context.history.source for context in contexts[1:]])
    places_U, drawn_N = torch.unique(sources, return_inverse=True)  # the token of a place drawn twice is the same
    batch, changes = predictor.pack([base, replace(base, off=base.off | {"graph_token"})])
    assert changes.propagated_BE is not None and changes.graph_factor_B is not None and changes.masked_BS is not None
    copies = torch.cat([torch.zeros(1 + len(places_U), dtype=torch.int64), torch.ones(1, dtype=torch.int64)])
    filled_UE = changes.propagated_BE[copies]
    propagated_PE = predictor.scorer.propagated_PE
    assert propagated_PE is not None
    filled_UE[1:-1] = propagated_PE[places_U]
    repeated = Interventions(
        propagated_BE=filled_UE, graph_factor_B=changes.graph_factor_B[copies], masked_BS=changes.masked_BS[copies]
    )
    state_UD = predictor.state(CaseBatch(batch.checkins, batch.row_B[copies]), repeated)
    log_U = StateTotals(edited_case).log_probability(state_UD, poi, report)
    gained_U = log_U[:-1] - log_U[-1]
    return {"graph_token": torch.cat([gained_U[:1], gained_U[1:][drawn_N]])}
