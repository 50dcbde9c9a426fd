"""Why A rather than B: the margin split over the score parts, and the smallest single edit that turns it round."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from pydantic import Field

from analysis.explain.edited_case import EditedCase, apply_edit
from analysis.explain.edits import Edit, RemoveVisit, SetEdge, SetHour, SetWeekday, SwitchOff
from analysis.explain.evidence_items import window_positions
from analysis.explain.paths import two_hop_paths
from analysis.explain.score_parts import decompose_scores
from analysis.explain.types import ScoreDecomposition
from analysis.glossary import SCORE_PARTS
from recap.config import Config
from recap.counterfactuals import COMPONENTS
from recap.errors import CaseError
from recap.history import SECONDS_PER_DAY, local_weekday

_MAX_TRIED: Final = 512


class Flip(Config):
    """A single edit after which B stands above A (or A above B, whoever was behind)."""

    edit: Edit
    text: str
    size: float = Field(description="Recorded facts changed: one visit or the clock 1, an edge its training count.")
    shift_hours: float = Field(description="How far the clock moves; 0 for other edits.")
    margin: float = Field(description="Total of A minus total of B after the edit.")


class Contrast(Config):
    """A against B in one case."""

    a: ScoreDecomposition
    b: ScoreDecomposition
    margin: float = Field(description="Total of A minus total of B; positive where A stands above B.")
    parts: dict[str, float] = Field(description="A minus B for each part; they add up to margin minus residual.")
    residual: float = Field(description="Residual of A minus residual of B.")
    flip: Flip | None = Field(None, description="The smallest single edit tried that turns the order round.")
    tried: int | None = Field(None, description="How many single edits were tried; None if the search was not run.")


def choose_rival(edited_case: EditedCase) -> int:
    """The best place that is not the target."""
    best = edited_case.total_P.topk(min(2, len(edited_case.total_P))).indices.tolist()
    others = [poi for poi in best if poi != edited_case.target]
    return others[0] if others else best[0]


def contrast(edited_case: EditedCase, a: int, b: int, *, search: bool = True) -> Contrast:
    """Split the margin between two candidates and, if asked, search the smallest edit that turns it round.

    Raises:
        CaseError: an unknown POI, or twice the same.
    """
    for poi in (a, b):
        edited_case.check_poi(poi)
    if a == b:
        raise CaseError(f"two different places are needed to compare, got {a} twice")
    entry_a, entry_b = decompose_scores(edited_case, [a, b])
    parts = {name: getattr(entry_a, name) - getattr(entry_b, name) for name in SCORE_PARTS}
    parts["clip_loss"] = -parts["clip_loss"]
    flip, tried = smallest_flip(edited_case, a, b) if search else (None, None)
    return Contrast(
        a=entry_a,
        b=entry_b,
        margin=entry_a.total - entry_b.total,
        parts=parts,
        residual=entry_a.residual - entry_b.residual,
        flip=flip,
        tried=tried,
    )


def smallest_flip(edited_case: EditedCase, a: int, b: int) -> tuple[Flip | None, int]:
    """Try single edits in one batch; returns the smallest one that turns the order round, and how many were tried.

    Tried are: every other full hour and weekday of the current check-in; removing each visit to A or B and each other
    check-in of the encoder's or the recent window; removing each edge of a two-hop path to A or B; each component off.
    Smaller means fewer recorded facts changed, then a shorter shift of the clock, then the larger turn. A component
    off comes last.
    """
    edits = list(_single_edits(edited_case, a, b))[:_MAX_TRIED]
    if not edits:
        return None, 0
    variants = [apply_edit(edited_case, edit).variant for edit, _, _ in edits]
    total_BP = edited_case.predictor.score_counterfactuals(variants)
    margins = (total_BP[:, a] - total_BP[:, b]).tolist()
    before = float(edited_case.total_P[a] - edited_case.total_P[b])
    flips = [
        Flip(edit=edit, text=edit.text, size=size, shift_hours=shift, margin=margin)
        for (edit, size, shift), margin in zip(edits, margins, strict=True)
        if (margin < 0 <= before) or (before <= 0 < margin)
    ]
    flips.sort(key=lambda flip: (isinstance(flip.edit, SwitchOff), flip.size, flip.shift_hours, -abs(flip.margin)))
    return (flips[0] if flips else None), len(edits)


def _single_edits(edited_case: EditedCase, a: int, b: int) -> Iterator[tuple[Edit, float, float]]:
    """Edits with their size and the hours they shift the clock."""
    history = edited_case.variant.history
    now = len(history) - 2
    local = int(history.local_seconds_H[now])
    for hour in range(24):
        shift = abs(hour - local % SECONDS_PER_DAY / 3600)
        if hour != local % SECONDS_PER_DAY // 3600:
            yield SetHour(hour=hour), 1.0, min(shift, 24 - shift)
    today = local_weekday(local)
    for weekday in range(7):
        if weekday != today:
            yield SetWeekday(weekday=weekday), 1.0, 24.0 * min((weekday - today) % 7, (today - weekday) % 7)
    near = set(window_positions(edited_case)) | set(range(max(0, now - edited_case.config.recent_window), now))
    visits = set(np.flatnonzero(np.isin(history.poi_H[:now], [a, b])).tolist()) | near
    if now > 1:
        for at in sorted(visits - {now}, reverse=True):
            yield RemoveVisit(visit=int(edited_case.visit_H[at])), 1.0, 0.0
    if edited_case.is_active("graph_token"):
        edges: dict[tuple[int, int], int] = {}
        for candidate in (a, b):
            for path in two_hop_paths(edited_case, candidate):
                edges[edited_case.source, path.middle] = path.count_in
                edges[path.middle, candidate] = path.count_out
        for (source, destination), count in edges.items():
            yield SetEdge(source=source, destination=destination, count=0), float(count), 0.0
    for component in COMPONENTS:
        if edited_case.is_active(component):
            yield SwitchOff(component=component), float("1e9"), 0.0
