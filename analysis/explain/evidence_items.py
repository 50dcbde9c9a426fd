"""The evidence items of a candidate: what leave-one-out removes."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer
from recap.model.evidence_terms import evidence_names

from analysis.explain.clues import clues
from analysis.explain.edited_case import EditedCase
from analysis.explain.paths import cut_paths
from analysis.explain.score_parts import decompose_scores
from analysis.glossary import PART_NAMES, TERMS
from analysis.phrases import phrase
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.model.interventions import REVISIT_TERMS

ItemKind = Literal["checkin", "user", "graph_token", "count", "recency", "window", "correction", "evidence", "path"]


class EvidenceItem(Config):
    """One thing that can be taken away.

    A check-in, the user and the graph token are masked in the encoder: content gone, position kept, not attended to;
    history and graph stay. A revisit or evidence term leaves the candidate's own score. A path is cut frozen.
    """

    kind: ItemKind
    key: int = Field(
        description="Encoder slot, -1 for a revisit term, position of an evidence term (the first of several), or a "
        "path's middle POI."
    )
    label: str
    visit: int | None = Field(None, description="Number of a check-in, as edits name it.")
    poi: int | None = Field(None, description="Place of a check-in or of a path's middle.")
    terms: list[str] = Field(
        default_factory=list, description="Evidence terms that go together, of a clue that is more than one."
    )

    @model_serializer(mode="wrap")
    def _without_absent_terms(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return values if self.terms else {k: v for k, v in values.items() if k != "terms"}


def evidence_items(
    edited_case: EditedCase, candidate: int, *, with_paths: bool = False, with_unread: bool = False
) -> list[EvidenceItem]:
    """The items that act on a candidate here: window check-ins (newest first), user, graph token, revisit terms, paths.

    Parts that are inactive, terms that are zero for this candidate and paths outside the token are left out; tokens,
    the user's too, where nothing reads the encoder.

    Args:
        with_unread: check-ins also there, for removals that take them from history and evidence.
    """
    config, places = edited_case.config, edited_case.predictor.dataset.poi_labels
    items = []
    for steps, at in enumerate(window_positions(edited_case) if config.reads_state or with_unread else []):
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
    if config.reads_state:
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
            EvidenceItem(
                kind="evidence", key=names.index(clue[0]), label=label, terms=list(clue) if len(clue) > 1 else []
            )
            for label, clue in clues(entry.evidence_terms).items()
        ]
    if with_paths and edited_case.is_active("graph_token") and config.num_hops == 2:
        items += [
            EvidenceItem(kind="path", key=path.middle, label=f"Path via {path.name}", poi=path.middle)
            for path in cut_paths(edited_case, candidate)
        ]
    return items


def item_label(item: EvidenceItem) -> str:
    """What an item is called.

    >>> item_label(EvidenceItem(kind="count", key=-1, label="Visit count"))
    'Visit count'
    """
    if item.kind in PART_NAMES and item.kind != "evidence":
        return TERMS[item.kind].word
    own = {"user": "own_token", "graph_token": "two_hop_token"}
    if item.kind in own:
        return phrase(own[item.kind])
    return item.label


def window_positions(edited_case: EditedCase) -> list[int]:
    """Positions in the history of the check-ins that the encoder sees, the source first."""
    history, config = edited_case.variant.history, edited_case.config
    source = len(history) - 2
    positions = range(source, max(-1, source - config.suffix_length), -1)
    if not config.within_trajectory:
        return list(positions)
    return [at for at in positions if history.trajectory_H[at] == history.trajectory_H[source]]


def without(edited_case: EditedCase, candidate: int, item: EvidenceItem) -> Counterfactual:
    """The edited case without one item."""
    base = edited_case.variant
    match item.kind:
        case "checkin" | "user" | "graph_token":
            return replace(base, masked=base.masked | {item.key})
        case "path":
            return replace(base, focus=candidate, cuts=(*base.cuts, (item.key, candidate)))
        case "evidence":
            assert edited_case.config.evidence is not None
            gone = frozenset(item.terms or [evidence_names(edited_case.config.evidence)[item.key]])
            return replace(base, focus=candidate, focus_evidence_off=base.focus_evidence_off | gone)
        case _:
            return replace(base, focus=candidate, focus_off=base.focus_off | {item.kind})
