"""The right answers of all lessons, found again in other ways: by dictionaries and loops, by scoring single cases.

Nothing here calls `analysis.learn`; constants of lessons are written out.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import torch

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.robustness import check_rows
from analysis.sharing.places import MaskedPlaces
from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.asking.predictor import Predictor
from recap.data.dataset import Dataset
from recap.evaluation.ranks import rank_of
from recap.history.moments import Moment
from recap.privacy import Generalisation
from tests.recap.features.reference_features import paths_by_loops

QUARTERS = (0.25, 0.5, 0.75)


def bucket(share: float, edges: tuple[float, ...] = QUARTERS) -> int:
    """Which answer holds a share."""
    return sum(share >= edge for edge in edges)


def larger(a: float, b: float, close: float) -> int:
    """0 where a is larger, 1 where b is, 2 where they are close."""
    return 2 if abs(a - b) < close else 0 if a > b else 1


class Answers:
    """Right answers of a city, by lesson: (guess, check)."""

    def __init__(self, dataset: Dataset, predictor: Predictor) -> None:
        self.dataset, self.predictor = dataset, predictor
        table = dataset.checkins
        self.poi = table[c.POI].tolist()
        self.user = table[c.USER].tolist()
        self.transitions = Counter((self.poi[row], self.poi[row + 1]) for row in dataset.cases(c.TRAIN).tolist())
        self.next: dict[int, set[int]] = defaultdict(set)
        for source, target in self.transitions:
            self.next[source].add(target)
        self.alone: list[float] = []  # shares of returns found by each number alone, filled by `visits`
        self.returns = 0
        self.tests = [(row, self.poi[row], self.poi[row + 1]) for row in dataset.cases(c.TEST).tolist()]

    def rare(self) -> tuple[int, int]:
        rare = [self.transitions[source, target] <= 1 for _, source, target in self.tests]
        return bucket(sum(rare) / len(rare)), 1

    def two_hops(self) -> tuple[int, int]:
        lost, found = 0, 0
        for case, (_, source, target) in enumerate(self.tests):
            if self.transitions[source, target] > 1 or not any(target in self.next[m] for m in self.next[source]):
                continue
            edited = build_edited_case(self.predictor, case)
            if rank_of(edited.total_P, target) <= 20:
                found += 1
                lost += self._rank_without_two_hops(edited) > 20
        return 1, bucket(lost / found, (0.05, 0.25, 0.75))

    def hops(self) -> tuple[int, int]:
        pairs = sorted({(source, target) for _, source, target in self.tests if not self.transitions[source, target]})
        coverage, size = [], []
        reach = {source: set(self.next[source]) for source, _ in pairs}
        for _ in range(5):
            coverage.append(sum(target in reach[source] for source, target in pairs) / len(pairs))
            size.append(sum(len(reach[source]) for source, _ in pairs) / len(pairs))
            for source in reach:
                reach[source] |= set().union(*(self.next[place] for place in reach[source]))
        signal = [reached / places for reached, places in zip(coverage, size, strict=True)]
        best = signal.index(max(signal))
        at = min(best, 3)
        ratio = (size[at + 1] / size[at]) / (coverage[at + 1] / coverage[at])
        return best, 2 if abs(ratio - 1) < 0.1 else 0 if ratio > 1 else 1

    def visits(self) -> tuple[int, int]:
        prior = self.predictor.model.prior
        names = (prior.count_weight, prior.recency_weight, prior.window_weight)
        trained = [float(prior.scale) * float(weight) for weight in names if weight is not None]
        tau, window = math.exp(float(prior.log_recency_steps)), self.predictor.model.config.recent_window

        def points(weights: list[float], seen: list[int]) -> float:
            numbers = math.log(1 + len(seen)), math.exp(-min(seen) / tau), float(min(seen) <= window)
            return sum(weight * number for weight, number in zip(weights, numbers, strict=True))

        found = [0.0, 0.0, 0.0]
        check: int | None = None
        for row, _, target in self.tests:
            first = self.user.index(self.user[row])
            seen: dict[int, list[int]] = defaultdict(list)
            for at in range(first, row):
                seen[self.poi[at]].append(row - at)
            if target not in seen:
                continue
            self.returns += 1
            for one in range(3):
                weights = [float(one == other) for other in range(3)]
                scores = [points(weights, ago) for ago in seen.values()]
                mine = points(weights, seen[target])
                top = sum(abs(score - mine) < 1e-12 for score in scores)
                found[one] += 0.0 if any(score > mine + 1e-12 for score in scores) else 1 / top
            if check is None:
                often = min(seen, key=lambda place: (-len(seen[place]), place))
                late = min(seen, key=lambda place: min(seen[place]))
                if len(seen[often]) > len(seen[late]) and min(seen[often]) > min(seen[late]):
                    check = larger(points(trained, seen[often]), points(trained, seen[late]), 0.005)
        assert check is not None
        self.alone = [value / self.returns for value in found]
        return found.index(max(found)), check

    def clock(self, given: Predictor, row: int, asked: int) -> tuple[int, int]:
        """The first place at a time, and where it is found more often with the time than without.

        ``given``: the same model asked where at a given time.
        """
        moment = Moment(self.user[row], row, at=asked)
        gains = {"rare": defaultdict[int, list[int]](list), "new": defaultdict[int, list[int]](list)}
        rows = [row for row, _, _ in self.tests]
        totals = [model.score(model.histories(rows)).total for model in (self.predictor, given)]
        for case, (at, source, target) in enumerate(self.tests):
            is_new = target not in self.poi[self.user.index(self.user[at]) : at + 1]
            if is_new or self.transitions[source, target] <= 1:
                without, timed = (rank_of(total[case], target) <= (20 if is_new else 1) for total in totals)
                gains["new" if is_new else "rare"][self.user[at]].append(timed - without)
        rare, new = (lower_end(list(users.values())) > 0 for users in gains.values())
        answers = {(True, False): 0, (False, True): 1, (True, True): 2, (False, False): 3}
        return int(given.score(given.histories_at(moment)).total[0].argmax()), answers[rare, new]

    def _rank_without_two_hops(self, edited: EditedCase) -> float:
        off = frozenset({GRAPH_TOKEN, "two-hop paths"})
        return rank_of(self.predictor.score_counterfactuals([replace(edited.variant, off=off)])[0], edited.target)

    def score(self, case: int) -> tuple[str, int]:
        """The group that leads furthest, and how many are stable: none, some, all."""
        edited = build_edited_case(self.predictor, case)
        runner_up = next(poi for poi in edited.total_P.argsort(descending=True).tolist() if poi != edited.target)
        batch = self.predictor.histories([edited.moment.row])
        pois = torch.tensor([[edited.target, runner_up]])
        mine, theirs = self.predictor.scorer.contributions(batch, pois)[0].tolist()
        leads: dict[str, float] = defaultdict(float)
        sizes: dict[str, float] = defaultdict(float)
        for group in {term.group for term in self.predictor.scorer.terms}:
            at = [index for index, term in enumerate(self.predictor.scorer.terms) if term.group == group]
            leads[group] = sum(mine[index] - theirs[index] for index in at)
            sizes[group] = abs(sum(mine[index] for index in at)) + abs(sum(theirs[index] for index in at))
        first = dict(sorted(leads.items(), key=lambda entry: -abs(entry[1]))[:4])
        checked = [check for check in check_rows(edited) if sizes.get(check.row, 0.0) >= 0.005]
        stable = sum(not check.problems for check in checked)
        return max(first, key=lambda row: first[row]), 0 if not stable else 1 if stable < len(checked) else 2

    def privacy(self) -> tuple[int, int]:
        local = [int(time.timestamp()) for time in self.dataset.local_time.dt.tz_localize("UTC")]
        masked = MaskedPlaces.generalised(Workspace.of(self.dataset), Generalisation(salt="any", min_users=5)).point
        exact = [(poi, second // 3600) for poi, second in zip(self.poi, local, strict=True)]
        coarse = [(masked[poi], (hour // 24 + 3) % 7, hour % 24 // 4) for poi, hour in exact]
        return self._alone(exact), self._alone(coarse)

    def _alone(self, points: Sequence[tuple[int, ...]]) -> int:
        """The answer for the share of people alone with four of their points, over twenty draws with another seed."""
        been: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        for user, point in zip(self.user, points, strict=True):
            been[user].add(point)
        draw = random.Random(1)  # noqa: S311 # draws of a test
        alone = []
        for mine in been.values():
            for _ in range(20 if len(mine) >= 4 else 0):
                four = set(draw.sample(sorted(mine), 4))
                alone.append(sum(four <= other for other in been.values()) == 1)
        return bucket(sum(alone) / len(alone))


def lower_end(values: list[list[int]]) -> float:
    """Lower end of the mean's 95 % interval when users are drawn again, by other draws; 0 with fewer than two users."""
    if len(values) < 2:
        return 0.0
    draw = random.Random(2)  # noqa: S311 # draws of a test
    means = []
    for _ in range(1000):
        drawn = [value for user in draw.choices(values, k=len(values)) for value in user]
        means.append(sum(drawn) / len(drawn))
    return sorted(means)[25]


def planted_rank(dataset: Dataset, source: str, target: str) -> int:
    """Where a place stands among all two steps away, by loops over paths: the toy town's prediction."""
    poi, names = dataset.checkins[c.POI].tolist(), dataset.pois[c.POI_NAME].tolist()
    transitions = Counter((poi[row], poi[row + 1]) for row in dataset.cases(c.TRAIN).tolist())
    chance: dict[int, float] = defaultdict(float)
    for (_, end), product in paths_by_loops(transitions, names.index(source)).items():
        chance[end] += product
    return 1 + sum(value > chance[names.index(target)] for value in chance.values())
