"""The evidence items of a candidate: what leave-one-out, minimal sets and faithfulness take away."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.explain.paths import two_hop_paths
from analysis.explain.score_parts import decompose_scores
from analysis.glossary import PART_NAMES
from analysis.registers import Words
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.model.evidence_terms import evidence_names
from recap.model.interventions import REVISIT_TERMS

ItemKind = Literal["checkin", "user", "graph_token", "count", "recency", "window", "correction", "evidence", "path"]


TERM_LABELS: Final = {
    "popularity": "Popularity",
    "distance": "Distance",
    "others_two_hop": "Others in two steps",
    "known": "Visited before",
    "stay": "Staying here",
    "once": "Visited once",
    "recent_visits": "Recent visits",
    "visits_at_hour": "Visits at this hour",
    "visits_on_day": "Visits on such days",
    "next_at_hour": "Next after this hour",
    "own_transitions": "Own steps from here",
    "own_pairs": "Own steps after the last two",
    "others_transitions": "Others' steps from here",
    "in_burst": "Visits a moment ago",
    "in_trajectory": "Visits on this walk",
    "just_before": "The place before this one",
    "own_transitions_at_hour": "Own steps from here at this hour",
    "week_slot": "Visits on this weekday and hour",
    "next_at_hour_on_day": "Next after this hour on such days",
    "slow_transitions": "Own steps from here after a stay",
    "visitors_alike": "Visitors with similar places",
    "known_popularity": "Popularity, visited before",
    "known_distance": "Distance, visited before",
}
"""Words for evidence terms; recency terms are told by their name."""


class EvidenceItem(Config):
    """One thing that can be taken away.

    A check-in, the user and the graph token are masked in the encoder: content gone, position kept, not attended to;
    history and graph stay. A revisit or evidence term leaves the candidate's own score. A path is cut frozen.
    """

    kind: ItemKind
    key: int = Field(
        description="Encoder slot, -1 for a revisit term, position of an evidence term, or a path's middle POI."
    )
    label: str
    visit: int | None = Field(None, description="Number of a check-in, as edits name it.")
    poi: int | None = Field(None, description="Place of a check-in or of a path's middle.")

    @property
    def set_label(self) -> str:
        """What is taken away where only the token is masked; a check-in stays in history and evidence there."""
        return f"the token of {self.label}" if self.kind == "checkin" else self.label


def evidence_items(edited_case: EditedCase, candidate: int, *, with_paths: bool = False) -> list[EvidenceItem]:
    """The items that act on a candidate here: window check-ins (newest first), user, graph token, revisit terms, paths.

    Parts that are inactive, terms that are zero for this candidate and paths outside the token are left out.
    """
    config, places = edited_case.config, edited_case.predictor.dataset.poi_labels
    items = []
    for steps, at in enumerate(window_positions(edited_case)):
        poi = int(edited_case.variant.history.poi_H[at])
        name = "current check-in" if steps == 0 else f"{steps} back"
        items.append(
            EvidenceItem(
                kind="checkin",
                key=config.suffix_length - steps,
                label=f"{places[poi]}, {name}",
                visit=int(edited_case.visit_H[at]),
                poi=poi,
            )
        )
    items.append(EvidenceItem(kind="user", key=0, label="The walker's own token"))
    if edited_case.is_active("graph_token"):
        items.append(EvidenceItem(kind="graph_token", key=1 + config.suffix_length, label="The two-hop token"))
    (entry,) = decompose_scores(edited_case, [candidate])
    items += [
        EvidenceItem(kind=term, key=-1, label=PART_NAMES[term]) for term in REVISIT_TERMS if getattr(entry, term) != 0.0
    ]
    if edited_case.config.evidence is not None:
        names = evidence_names(edited_case.config.evidence)
        items += [
            EvidenceItem(kind="evidence", key=names.index(name), label=evidence_label(name))
            for name in entry.evidence_terms
        ]
    if with_paths and edited_case.is_active("graph_token") and config.num_hops == 2:
        items += [
            EvidenceItem(kind="path", key=path.middle, label=f"Path via {path.name}", poi=path.middle)
            for path in two_hop_paths(edited_case, candidate)
        ]
    return items


def evidence_label(name: str) -> str:
    """An evidence term in words.

    >>> evidence_label("others_two_hop")
    'Others in two steps'
    """
    return TERM_LABELS.get(name, name.replace("_", " ").capitalize())


def item_label(item: EvidenceItem, words: Words) -> str:
    """What an item is called in a register.

    >>> item_label(EvidenceItem(kind="count", key=-1, label="Visit count"), Words("stakeholder"))
    'Habit: how often'
    """
    if item.kind in PART_NAMES and item.kind != "evidence":
        return words.term(item.kind)
    own = {"user": "own_token", "graph_token": "two_hop_token"}
    if item.kind in own:
        return words.say(own[item.kind])
    return words.clue(item.label) if item.kind == "evidence" else item.label


def window_positions(edited_case: EditedCase) -> list[int]:
    """Positions in the history of the check-ins that the encoder sees, the source first."""
    history, config = edited_case.variant.history, edited_case.config
    source = len(history) - 2
    positions = range(source, max(-1, source - config.suffix_length), -1)
    if not config.within_trajectory:
        return list(positions)
    return [at for at in positions if history.trajectory_H[at] == history.trajectory_H[source]]


def without(edited_case: EditedCase, candidate: int, items: Iterable[EvidenceItem]) -> Counterfactual:
    """The edited case with all given items taken away at once."""
    base = edited_case.variant
    items = list(items)
    masked = {item.key for item in items if item.kind in ("checkin", "user", "graph_token")}
    kinds = {item.kind for item in items}
    terms = frozenset(term for term in REVISIT_TERMS if term in kinds)
    cuts = tuple((item.key, candidate) for item in items if item.kind == "path")
    evidence: frozenset[str] = frozenset()
    if edited_case.config.evidence is not None:
        names = evidence_names(edited_case.config.evidence)
        evidence = frozenset(names[item.key] for item in items if item.kind == "evidence")
    return replace(
        base,
        masked=base.masked | masked,
        cuts=(*base.cuts, *cuts),
        focus=candidate,
        focus_off=base.focus_off | terms,
        focus_evidence_off=base.focus_evidence_off | evidence,
    )


def each_without(edited_case: EditedCase, candidate: int, items: Sequence[EvidenceItem]) -> list[Counterfactual]:
    """One variant per item, without that item alone."""
    return [without(edited_case, candidate, [item]) for item in items]
