"""The right answers of all lessons, found again in other ways: by dictionaries and loops, by scoring single cases.

Nothing here calls `analysis.learn`; constants of lessons are written out.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.robustness import check_rows
from analysis.sharing.places import MaskedPlaces
from analysis.workspace import Workspace
from recap import columns as c
from recap.counterfactuals import GRAPH_TOKEN
from recap.data.dataset import Dataset
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor
from recap.privacy import Generalisation

QUARTERS = (0.25, 0.5, 0.75)


def bucket(share: float, edges: tuple[float, ...] = QUARTERS) -> int:
    """Which answer holds a share."""
    return sum(share >= edge for edge in edges)


def larger(a: float, b: float, alike: float) -> int:
    """0 where a is larger, 1 where b is, 2 where they are alike."""
    return 2 if abs(a - b) < alike else 0 if a > b else 1


class Answers:
    """Right answers of a city, by lesson: (prediction, check)."""

    def __init__(self, dataset: Dataset, predictor: Predictor) -> None:
        self.dataset, self.predictor = dataset, predictor
        table = dataset.checkins
        self.poi = table[c.POI].tolist()
        self.user = table[c.USER].tolist()
        self.steps = Counter((self.poi[row], self.poi[row + 1]) for row in dataset.cases(c.TRAIN).tolist())
        self.visits = Counter(table[table[c.SPLIT] == c.TRAIN][c.POI].tolist())
        self.next: dict[int, set[int]] = defaultdict(set)
        for source, target in self.steps:
            self.next[source].add(target)
        self.alone: list[float] = []  # shares of returns found by each clue of habit, filled by `habit`
        self.returns = 0
        self.tests = [(row, self.poi[row], self.poi[row + 1]) for row in dataset.cases(c.TEST).tolist()]

    @cached_property
    def unseen(self) -> list[tuple[int, int]]:
        return [(source, target) for _, source, target in self.tests if not self.steps[source, target]]

    def popular(self) -> tuple[int, int]:
        places = range(self.dataset.num_pois)
        named = min(20, max(1, len(places) // 10))
        ordered = sorted((self.visits[place] for place in places), reverse=True)
        cut = max(1, ordered[max(1, round(0.1 * len(places))) - 1])

        def is_missed(source: int, target: int) -> bool:
            mine = self.steps[source, target], self.visits[target]
            others = [(self.steps[source, place], self.visits[place]) for place in places if place != target]
            return 1 + sum(o > mine for o in others) + sum(o == mine for o in others) / 2 > named

        rare_known, popular_new, lost = [], [], []
        for _, source, target in self.tests:
            missed, count = is_missed(source, target), self.steps[source, target]
            if self.visits[target] >= cut:
                popular_new += [missed] if count == 0 else []
                lost += [count == 0] if missed else []
            elif count > 1:
                rare_known.append(missed)
        a, b = (sum(found) / len(found) for found in (rare_known, popular_new))
        return larger(a, b, 0.05), bucket(sum(lost) / len(lost))

    def tails(self) -> tuple[int, int]:
        targets, pairs = {t for _, _, t in self.tests}, {(s, t) for _, s, t in self.tests}
        rare = [self.visits[t] <= 1 for t in targets], [self.steps[pair] <= 1 for pair in pairs]
        return larger(sum(rare[0]) / len(rare[0]), sum(rare[1]) / len(rare[1]), 0.05), 1

    def compose(self) -> tuple[int, int]:
        linked = [any(target in self.next[middle] for middle in self.next[source]) for source, target in self.unseen]
        return 1, bucket(sum(linked) / len(linked))

    def hops(self) -> tuple[int, int]:
        pairs = sorted(set(self.unseen))
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

    def habit(self) -> tuple[int, int]:
        prior = self.predictor.model.prior
        assert prior is not None
        names = (prior.count_weight, prior.recency_weight, prior.window_weight)
        trained = [float(prior.scale) * float(weight) for weight in names if weight is not None]
        tau, window = math.exp(float(prior.log_recency_steps)), self.predictor.model.config.recent_window

        def points(weights: list[float], seen: list[int]) -> float:
            clues = math.log(1 + len(seen)), math.exp(-min(seen) / tau), float(min(seen) <= window)
            return sum(weight * clue for weight, clue in zip(weights, clues, strict=True))

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
            for clue in range(3):
                weights = [float(clue == other) for other in range(3)]
                scores = [points(weights, ago) for ago in seen.values()]
                mine = points(weights, seen[target])
                top = sum(abs(score - mine) < 1e-12 for score in scores)
                found[clue] += 0.0 if any(score > mine + 1e-12 for score in scores) else 1 / top
            if check is None:
                often = min(seen, key=lambda place: (-len(seen[place]), place))
                late = min(seen, key=lambda place: min(seen[place]))
                if len(seen[often]) > len(seen[late]) and min(seen[often]) > min(seen[late]):
                    check = larger(points(trained, seen[often]), points(trained, seen[late]), 0.005)
        assert check is not None
        self.alone = [value / self.returns for value in found]
        return found.index(max(found)), check

    def habit_points(self, case: int, hour: int) -> float:
        """Total less the total without the visit history: what habit and its correction give the true place."""
        edited = build_edited_case(self.predictor, case, parse_edits(f"hour:{hour:02d}:00"))
        without_P = self.predictor.score_counterfactuals([edited.without("past visits")])[0]
        return float((edited.total_P - without_P)[edited.target])

    def habit_without_time(self, case: int) -> float:
        """Habit of the true place before the gate (Eq. 9), which no clock changes."""
        edited = build_edited_case(self.predictor, case)
        parts = self.predictor.score(self.predictor.batch([edited.row])).parts_at(torch.tensor([edited.target]))
        return float(parts["prior"])

    def context(self, case: int, habit: float) -> tuple[int, int]:
        morning, evening = self.habit_points(case, 8), self.habit_points(case, 20)
        change = morning - habit
        return larger(morning, evening, 0.05), sorted((morning, habit - change, change)).index(morning)

    def holdout(self) -> tuple[int, int]:
        frequent = sorted(pair for pair, count in self.steps.items() if count > 1)
        order = np.random.default_rng(0).permutation(len(frequent))[: round(0.5 * len(frequent))]
        hidden = {frequent[at] for at in order}
        left = {source: {t for t in targets if (source, t) not in hidden} for source, targets in self.next.items()}
        linked = [any(target in left.get(middle, ()) for middle in left[source]) for source, target in hidden]
        often = sum(count for count in self.steps.values() if count > 1)
        return bucket(sum(linked) / len(linked)), bucket(often / self.steps.total())

    def cause(self, strongest: int) -> tuple[int, int]:
        lost, found = 0, 0
        for case, (_, source, target) in enumerate(self.tests):
            if self.steps[source, target] > 1 or not any(target in self.next[m] for m in self.next[source]):
                continue
            edited = build_edited_case(self.predictor, case)
            if rank_of(edited.total_P, target) <= 20:
                found += 1
                lost += self._rank_without_two_hops(edited) > 20
        edited = build_edited_case(self.predictor, strongest)
        rank, after = rank_of(edited.total_P, edited.target), self._rank_without_two_hops(edited)
        move = 3 if after > 20 else 2 if after > rank else 0 if after < rank else 1
        return bucket(lost / found, (0.05, 0.25, 0.75)), move

    def _rank_without_two_hops(self, edited: EditedCase) -> float:
        off = frozenset({GRAPH_TOKEN, "two-hop paths"})
        return rank_of(self.predictor.score_counterfactuals([replace(edited.variant, off=off)])[0], edited.target)

    def ledger(self, case: int) -> tuple[str, int]:
        """The group that leads furthest, and how many are stable: none, some, all."""
        edited = build_edited_case(self.predictor, case)
        runner_up = next(poi for poi in edited.total_P.argsort(descending=True).tolist() if poi != edited.target)
        batch = self.predictor.batch([edited.row] * 2)
        mine, theirs = self.predictor.scorer.contributions(batch, torch.tensor([edited.target, runner_up])).tolist()
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
        table = self.dataset.checkins
        offset = table[c.TZ_OFFSET_MINUTES].astype("int64").mul(60)
        local = (
            table[c.TIME].astype("int64") // 10 ** (9 if table[c.TIME].dtype.name.startswith("datetime64[ns") else 0)
        ) + offset
        told = MaskedPlaces.generalised(Workspace.of(self.dataset), Generalisation(salt="any", min_users=5)).point
        exact = [(poi, second // 3600) for poi, second in zip(self.poi, local, strict=True)]
        coarse = [
            (told[poi], (second // 86400 + 3) % 7, second % 86400 // 14400)
            for poi, second in zip(self.poi, local, strict=True)
        ]
        return self._alone(exact), self._alone(coarse)

    def _alone(self, points: Sequence[tuple[int, ...]]) -> int:
        """The answer for the share of people alone with four of their points, over twenty draws of other chance."""
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


def planted_rank(dataset: Dataset, source: str, target: str) -> int:
    """Where a place stands among all two steps away, by dictionaries of shares: the toy town's prediction."""
    poi, names = dataset.checkins[c.POI].tolist(), dataset.pois[c.POI_NAME].tolist()
    steps = Counter((poi[row], poi[row + 1]) for row in dataset.cases(c.TRAIN).tolist())
    left = Counter[int]()
    for (start, _), count in steps.items():
        left[start] += count
    chance: dict[int, float] = defaultdict(float)
    for (start, middle), count in steps.items():
        for (again, end), further in steps.items():
            if start == names.index(source) and again == middle:
                chance[end] += count / left[start] * further / left[middle]
    mine = chance[names.index(target)]
    return 1 + sum(value > mine for value in chance.values())
