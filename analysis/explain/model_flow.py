"""The model as a diagram: what each part reads in one case, and what it adds to two places' scores."""

from datetime import UTC, datetime
from typing import Final

import numpy as np
from pydantic import Field

from analysis.explain import model_words as words
from analysis.explain.curves import learned_numbers, values_at
from analysis.explain.edited_case import EditedCase
from analysis.explain.explain_case import choose_runner_up, decompose_scores
from analysis.explain.paths import paths_between, transitions_from
from analysis.explain.types import ExplainedPlace, Role, roles_of
from analysis.formatting import days, signed_points
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.config import Config
from recap.evaluation.ranks import rank_of
from recap.features.catalogue import FEATURES, PAST, PATHS, PLACES, TIME, TRANSITIONS
from recap.history.graph import rows_of_power
from recap.machine.device import one_thread
from recap.machine.printable import count_of, shortened
from recap.model.recap import CLIP, CORE, CORRECTION
from recap.model.revisit_prior import PRIOR_TERMS

_NAMED_CHECKINS: Final = 3


class FlowPart(Config):
    """One part of the model in one case; pairs are values of the explained place and its runner-up."""

    name: str = Field(description="A group of terms, a term of the paper's prior, or the graph token.")
    title: str = Field(description="What it reads.")
    reads: tuple[str, str] = Field(description="What it reads in this case, for each place.")
    reader: tuple[str, str] = Field(description="What turns it into points.")
    adds: tuple[float, float] | None = Field(description="To each score; None for the graph token, which adds none.")
    without: tuple[float, float] | None = Field(description="Each place's rank without it; None where it is inactive.")


class ModelFlow(Config):
    """All parts in drawing order; their contributions to a place sum to its score."""

    terms: tuple[str, ...] = Field(description="Groups that the score is the sum of.")
    parts: list[FlowPart]
    places: tuple[ExplainedPlace, ExplainedPlace]
    roles: tuple[Role, Role]
    num_places: int
    source_name: str
    hops: int = Field(description="Of the graph token; 0 without one.")
    numbers: dict[str, float] = Field(description="Single learned numbers of prior and correction, by symbol.")
    core_reads_all: bool = Field(description="Whether the core scores every place, not only new ones.")
    given_time: bool = Field(False, description="Whether the model is asked where at a given time.")

    @property
    def pois(self) -> tuple[int, int]:
        return self.places[0].poi, self.places[1].poi

    @property
    def gates(self) -> tuple[float | None, float | None]:
        """Gates of both places; None without a correction."""
        return self.places[0].gate, self.places[1].gate

    def part(self, name: str) -> FlowPart | None:
        return next((part for part in self.parts if part.name == name), None)

    def explain(self, name: str) -> words.PartWords:
        """Sentences and equation of a part, as they are in this model."""
        part = words.PART_WORDS[words.TIME_GIVEN_PART if name == TIME and self.given_time else name]
        if name == words.SCORE_PART:
            symbols = {CORE: r"\ell_t^{\mathrm{core}}(d)", CORRECTION: r"\Delta_t(d)"}
            terms = [symbols.get(term, "R_t(d)") for term in self.terms]
            return part._replace(equation=r"\ell_t(d) = " + " + ".join(dict.fromkeys(terms)))
        if name == GRAPH_TOKEN:
            does = part.does.format(hops=words.HOP_WORDS.get(self.hops, self.hops))
            return part._replace(does=does, equation=part.equation.format(n=self.hops))
        if name == CORE and not self.core_reads_all:
            return part._replace(does=part.does.replace("each place", "each place new to the user"))
        return part


@one_thread()
def describe_flow(edited_case: EditedCase, against: int | None = None) -> ModelFlow:
    """How the model scores the explained place and its runner-up; CaseError as in `choose_runner_up`."""
    pois = [edited_case.target, choose_runner_up(edited_case, against)]
    places = decompose_scores(edited_case, pois)
    names = [name for name in _part_names(edited_case) if name != CLIP or any(place.terms[CLIP] for place in places)]
    without = _ranks_without(edited_case, names, pois)
    model = edited_case.predictor.model
    numbers = learned_numbers(edited_case.predictor)
    facts = _Facts(edited_case, pois, numbers)
    terms = edited_case.groups
    parts = []
    for name in names:
        adds = None
        if name != GRAPH_TOKEN:
            adds = tuple(place.groups[name] if name in terms else place.terms[name] for place in places)
        parts.append(
            FlowPart(
                name=name,
                title=words.input_title(name),
                reads=(facts.reads(name, 0), facts.reads(name, 1)),
                reader=(facts.reader(name, 0), facts.reader(name, 1)),
                adds=adds,
                without=without.get(name),
            )
        )
    return ModelFlow(
        terms=tuple(name for name in (CORE, *terms) if name in terms),
        parts=parts,
        places=(places[0], places[1]),
        roles=roles_of(pois[0], pois[1], edited_case.truth),
        num_places=len(edited_case.total_P),
        source_name=edited_case.ranker.dataset.poi_labels[edited_case.source],
        hops=0 if model.graph_token is None else model.graph_token.num_hops,
        numbers=numbers,
        core_reads_all=model.config.core_scope == "everywhere",
        given_time=edited_case.ranker.checkpoint.is_given_time,
    )


def _part_names(edited_case: EditedCase) -> list[str]:
    """Groups of terms (the paper's prior by term), the correction, the core and the graph token."""
    groups = list(edited_case.groups)
    if edited_case.predictor.model.prior is not None:
        past = groups.index(PAST)
        groups[past : past + 1] = [*PRIOR_TERMS, CLIP]
    ordered = [name for name in groups if name not in (CORE, CORRECTION)]
    ordered += [name for name in (CORRECTION, CORE) if name in groups]
    return [*ordered, *([GRAPH_TOKEN] if edited_case.predictor.model.graph_token is not None else [])]


def _ranks_without(edited_case: EditedCase, names: list[str], pois: list[int]) -> dict[str, tuple[float, float]]:
    inactive = set(edited_case.inactive)
    prior_parts = {*PRIOR_TERMS, PAST, TIME, TRANSITIONS, PATHS, PLACES} if "prior" in inactive else set()
    acting = [name for name in names if name not in inactive | prior_parts | {CLIP}]
    totals = edited_case.ranker.score_counterfactuals([edited_case.without(name) for name in acting])
    return {
        name: (rank_of(total_P, pois[0]), rank_of(total_P, pois[1]))
        for name, total_P in zip(acting, totals, strict=True)
    }


class _Facts:
    """What each part reads in a case, as text."""

    def __init__(self, edited_case: EditedCase, pois: list[int], numbers: dict[str, float]) -> None:
        self._case, self._pois, self._numbers = edited_case, pois, numbers
        self._model = edited_case.predictor.model
        self._visits = [edited_case.past_visits(poi) for poi in pois]

    def reads(self, name: str, which: int) -> str:
        last, count = self._visits[which].last, len(self._visits[which].visits)
        often = "never visited" if last is None else count_of(count, "visit")
        match name:
            case "past visits":
                return often if last is None else f"{often}, last {days(last.days_ago)} ago"
            case "count":
                return often
            case "recency":
                return words.recency_read(None if last is None else last.checkins_ago)
            case "window":
                length = self._model.config.recent_window
                is_in = last is not None and last.checkins_ago <= length
                return f"last {length} check-ins: {'yes' if is_in else 'no'}"
            case "clip":
                return "0 to 10 points"
            case "time of day and week" | "correction":
                return datetime.fromtimestamp(self._case.now_local_seconds, UTC).strftime("%A %H:%M")
            case "transitions from here":
                return self._transitions(which)
            case "two-hop paths":
                paths = paths_between(self._case, self._pois[which])
                return count_of(len(paths), "path") if paths else "no path"
            case "popularity and distance":
                return self._place(which)
            case "core":
                return shortened(f"last {self._model.config.suffix_length}: {', '.join(self._checkins())}", 28)
            case _:
                hops = f"{words.HOP_WORDS.get(self._hops, self._hops)} hop{'s' * (self._hops != 1)}"
                return f"{count_of(self._neighbourhood(), 'place')} {hops} away"

    def reader(self, name: str, which: int) -> str:
        if name in PRIOR_TERMS:
            return words.prior_reader(name, self._numbers)
        if name == CORRECTION:
            gate = self._case.gates.get(self._pois[which])
            return "gate" if gate is None else f"gate {signed_points(gate)}"
        fixed = {CORE: "Sequence model", CLIP: "limit", GRAPH_TOKEN: ""}.get(name)
        return count_of(sum(term.group == name for term in self._model.terms), "curve") if fixed is None else fixed

    def _transitions(self, which: int) -> str:
        source, poi = self._case.source, self._pois[which]
        poi_H = self._case.variant.history.poi_H
        own = int(np.sum((poi_H[:-1] == source) & (poi_H[1:] == poi)))
        others = transitions_from(self._case, source, others_only=True)
        return f"{own:,} own, {others.get(poi, 0):,} of {sum(others.values()):,} by others"

    def _place(self, which: int) -> str:
        values = values_at(self._case, [self._pois[which]])
        amounts = {
            name.rsplit("_", 1)[0]: FEATURES[name].in_unit(value)
            for name, (value,) in values.items()
            if FEATURES[name].group == PLACES and value is not None
        }
        far = amounts["distance"]
        away = f"{far:.1f} km away" if far < 100 else f"{far:,.0f} km away"
        return f"{count_of(round(amounts['popularity']), 'check-in')} by others, {away}"

    def _checkins(self) -> list[str]:
        """Categories (or else names) of the latest check-ins, latest first."""
        dataset = self._case.ranker.dataset
        categories = dataset.pois[c.CATEGORY]
        latest = self._case.variant.history.poi_H[::-1][:_NAMED_CHECKINS]
        return [str(categories.iloc[poi]) or dataset.poi_labels[poi] for poi in latest.tolist()]

    @property
    def _hops(self) -> int:
        token = self._model.graph_token
        return 0 if token is None else token.num_hops

    def _neighbourhood(self) -> int:
        """Number of places that the token averages."""
        adjacency = self._case.ranker.graph.adjacency
        return int(rows_of_power(adjacency, np.array([self._case.source]), self._hops).nnz)
