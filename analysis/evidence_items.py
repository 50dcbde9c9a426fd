"""The evidence items of a candidate: what leave-one-out, minimal sets and faithfulness take away."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from analysis.ledger import ledger
from analysis.paths import two_hop_paths
from analysis.situation import Situation
from recap.config import Config
from recap.model.interventions import REVISIT_TERMS
from recap.variants import Variant

ItemKind = Literal["checkin", "user", "graph_token", "count", "recency", "window", "correction", "path"]


class EvidenceItem(Config):
    """One thing that can be taken away.

    A check-in, the user and the graph token are masked in the encoder: content gone, position kept, not attended to;
    history and graph stay. A revisit term leaves the candidate's own score. A path is cut frozen.
    """

    kind: ItemKind
    key: int = Field(description="Encoder slot, -1 for a revisit term, or the path's middle POI.")
    label: str
    visit: int | None = Field(None, description="Number of a check-in, as edits name it.")
    poi: int | None = Field(None, description="Place of a check-in or of a path's middle.")


def evidence_items(situation: Situation, candidate: int, *, with_paths: bool = False) -> list[EvidenceItem]:
    """The items that act on a candidate here: window check-ins (newest first), user, graph token, revisit terms, paths.

    Parts that are inactive, terms that are zero for this candidate and paths outside the token are left out.
    """
    config, label = situation.config, situation.predictor.dataset.poi_label
    items = []
    for steps, at in enumerate(window_positions(situation)):
        poi = int(situation.variant.history.poi_H[at])
        name = "current check-in" if steps == 0 else f"{steps} back"
        items.append(
            EvidenceItem(
                kind="checkin",
                key=config.suffix_length - steps,
                label=f"{label(poi)}, {name}",
                visit=int(situation.visit_H[at]),
                poi=poi,
            )
        )
    items.append(EvidenceItem(kind="user", key=0, label="The walker's own token"))
    if situation.is_active("graph_token"):
        items.append(EvidenceItem(kind="graph_token", key=1 + config.suffix_length, label="The two-hop token"))
    (entry,) = ledger(situation, [candidate])
    labels = {"count": "Visit count", "recency": "Recency", "window": "Recent window", "correction": "Correction"}
    items += [
        EvidenceItem(kind=term, key=-1, label=labels[term]) for term in REVISIT_TERMS if getattr(entry, term) != 0.0
    ]
    if with_paths and situation.is_active("graph_token") and config.num_hops == 2:
        items += [
            EvidenceItem(kind="path", key=path["middle"], label=f"Path via {path['name']}", poi=path["middle"])
            for path in two_hop_paths(situation, candidate)
        ]
    return items


def window_positions(situation: Situation) -> list[int]:
    """Positions in the history of the check-ins that the encoder sees, the source first."""
    history, config = situation.variant.history, situation.config
    source = len(history) - 2
    positions = range(source, max(-1, source - config.suffix_length), -1)
    if not config.within_trajectory:
        return list(positions)
    return [at for at in positions if history.trajectory_H[at] == history.trajectory_H[source]]


def without(situation: Situation, candidate: int, items: Iterable[EvidenceItem]) -> Variant:
    """The situation with all given items taken away at once."""
    base = situation.variant
    items = list(items)
    masked = {item.key for item in items if item.kind in ("checkin", "user", "graph_token")}
    kinds = {item.kind for item in items}
    terms = frozenset(term for term in REVISIT_TERMS if term in kinds)
    cuts = tuple((item.key, candidate) for item in items if item.kind == "path")
    return replace(
        base,
        masked=base.masked | masked,
        cuts=(*base.cuts, *cuts),
        focus=candidate,
        focus_off=base.focus_off | terms,
    )


def each_without(situation: Situation, candidate: int, items: Sequence[EvidenceItem]) -> list[Variant]:
    """One variant per item, without that item alone."""
    return [without(situation, candidate, [item]) for item in items]
