"""From explanations to a page that may leave: generalised by default, exact only where that is asked for and said.

page = share_cases([explanation], opened)
render_html(page), page.model_dump_json()
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from analysis.explain.explanation import CaseExplanation
from analysis.sharing.case_map import case_map
from analysis.sharing.generalise import BEST, share_case, shared_points
from analysis.sharing.ground import Ground, Projection, draw_ground
from analysis.sharing.places import ToldPlaces, told_places
from analysis.sharing.reidentification import MOST_POINTS, Crowd
from analysis.sharing.shared_case import Change, Reidentification, SharedCase, SharedPage, SharedPlace
from analysis.sharing.telling import Telling
from analysis.sharing.told_ground import told_layers
from analysis.sharing.traces import traces_of
from analysis.workspace import Workspace
from recap.errors import CaseError
from recap.privacy import EXACT_NOTE, Generalisation

PRIVATE_NOTE: Final = (
    "Made to be shared: who, where and when are told coarsely; scores, ranks and contributions are exact. It holds no "
    "case number, hash or link; who made it can open the cases again."
)

WIDEST: Final = 6
"""Hidden places are told as cells of at most 2 to the power of this, less one, times the rule's side."""


def share_cases(
    explanations: Sequence[CaseExplanation],
    opened: Workspace,
    *,
    exact: bool = False,
    hide_places: bool = False,
    title: str = "",
    notes: Sequence[str] = (),
    rule: Generalisation | None = None,
    basemap: Mapping[str, Any] | None = None,
) -> SharedPage:
    """What a file about these cases may hold.

    Args:
        explanations: of cases of one checkpoint and dataset, in their order.
        opened: that dataset, on which k and the estimate are counted.
        exact: tell everything as it is, and say so.
        hide_places: tell the user's own places as cells too, wide enough that k users fit each case if any are,
            and times without a weekday.
        title: of a collection; a single case has its finding.
        notes: one for each case, told as written; empty for none.
        rule: how much is taken away; by default `Generalisation` with a new salt.
        basemap: the city's map layers; which of them a file shows, see `analysis.sharing.told_ground`.

    Raises:
        CaseError: no case, notes for another number of cases, or cases of another dataset.
    """
    _check(explanations, opened, notes)
    rule = rule or Generalisation()
    telling, estimate, fitting = _choose_telling(explanations, opened, rule, exact=exact, hide_places=hide_places)
    written = list(notes) or [""] * len(explanations)
    cases = [
        share_case(explanation, telling, number, note).model_copy(update={"matching_users": fits})
        for number, (explanation, note, fits) in enumerate(zip(explanations, written, fitting, strict=True), start=1)
    ]
    shown = telling.shared_places()
    first = explanations[0]
    return SharedPage(
        is_exact=exact,
        title=title or cases[0].headline.text,
        note=EXACT_NOTE if exact else PRIVATE_NOTE,
        min_users=None if exact else rule.min_users,
        cell_km=None if telling.rule is None else round(telling.rule.cell_km, 1),
        hours=None if exact else rule.hours,
        changes=[] if telling.rule is None else _changes(cases, shown, telling, telling.rule, any(written)),
        estimate=estimate,
        places=shown,
        cases=cases,
        dataset_hash=first.dataset_hash if exact else None,
        checkpoint_hash=first.checkpoint_hash if exact else None,
        ground=_ground(
            cases,
            shown,
            telling,
            told_layers(basemap, telling.rule, invented=opened.dataset.manifest.synthetic, hides_places=hide_places),
        ),
    )


def projection_of(page: SharedPage) -> Projection:
    """The map units of a page, made from the places that it tells; see `analysis.sharing.ground`."""
    return _projection(page.places)


def _projection(places: list[SharedPlace]) -> Projection:
    known = [(place.latitude, place.longitude) for place in places if place.latitude is not None]
    return Projection(
        np.array([latitude for latitude, _ in known], dtype=np.float64),
        np.array([longitude for _, longitude in known], dtype=np.float64),
    )


def _ground(
    cases: list[SharedCase], places: list[SharedPlace], telling: Telling, basemap: Mapping[str, Any] | None
) -> Ground:
    projection = _projection(places)
    if projection.is_empty:
        return Ground(layers=[], dots=[])
    maps = [case_map(case, places, projection) for case in cases]
    told = telling.places
    dots = ~told.is_cell
    frames = [drawn.frame for drawn in maps if drawn is not None]
    return draw_ground(projection, basemap, told.latitude[dots], told.longitude[dots], frames)


def _choose_telling(
    explanations: Sequence[CaseExplanation],
    opened: Workspace,
    rule: Generalisation,
    *,
    exact: bool,
    hide_places: bool,
) -> tuple[Telling, Reidentification | None, list[int] | list[None]]:
    """How to tell these cases, the estimate, and how many users fit each; wider cells until k do, if places hide."""
    if exact:
        return Telling(opened, ToldPlaces.exact(opened), None), None, [None] * len(explanations)
    if not hide_places:
        telling = Telling(opened, told_places(opened, rule), rule)
        return telling, *_estimate(explanations, telling, rule)
    telling = Telling(opened, ToldPlaces.exact(opened), rule)
    own = frozenset(point.poi for explanation in explanations for point in shared_points(explanation, telling))
    for level in range(WIDEST):
        wide = rule.model_copy(update={"cell_degrees": rule.cell_degrees * 2**level})
        telling = Telling(opened, ToldPlaces.generalised(opened, wide, own), wide, hides_user=True)
        estimate, fitting = _estimate(explanations, telling, wide)
        if estimate.matching_users >= rule.min_users:
            break
    return telling, estimate, fitting


def _estimate(
    explanations: Sequence[CaseExplanation], telling: Telling, rule: Generalisation
) -> tuple[Reidentification, list[int]]:
    assert telling.opened is not None
    traces = traces_of(telling.opened.dataset)
    crowd = Crowd(traces, telling.places, traces.part_of_week(rule.hours, weekday=not telling.hides_user))
    points = [shared_points(explanation, telling) for explanation in explanations]
    fitting = [crowd.fitting(of_case) for of_case in points]
    most = min(max(map(len, points)), MOST_POINTS)
    unicity, drawn = crowd.unicity(most)
    recorded, _ = crowd.unicity(most, as_recorded=True)
    return (
        Reidentification(
            matching_users=min(fitting),
            fitting_as_recorded=min(crowd.fitting_as_recorded(of_case) for of_case in points),
            users=traces.num_users,
            points=most,
            unicity=unicity,
            unicity_as_recorded=recorded,
            users_drawn=drawn,
        ),
        fitting,
    )


def _changes(
    cases: list[SharedCase], places: list[SharedPlace], telling: Telling, rule: Generalisation, has_notes: bool
) -> list[Change]:
    """The report, line by line."""
    cells = sum(place.is_cell for place in places)
    users = len({case.user for case in cases})
    why = f"visited by fewer than {rule.min_users} people" + (", or the user's own," if telling.hides_user else "")
    when = f"{rule.hours} hours of the day" if telling.hides_user else f"weekday and {rule.hours} hours of the day"
    lines = [
        ("Users", f"{users:,} new name{'s' * (users != 1)}, others in every file"),
        ("Places", f"{len(places) - cells:,} by name; {cells:,} {why} as cells of {rule.cell_km:.0f} km or more"),
        ("Times", f"{when}, no date; spans in whole days and weeks"),
        ("History", "visits to the two places compared; no other check-in"),
        ("Other people", "counted; no name or time"),
        ("Other places", f"the {BEST} best by rank and score, without contributions"),
        ("Left out", "case number, dataset and checkpoint hash, link"),
        ("Exact", "scores, ranks, contributions and counts"),
    ]
    if has_notes:
        lines.append(("Notes", "as written: read them before you share"))
    return [Change(what=what, how=how) for what, how in lines]


def _check(explanations: Sequence[CaseExplanation], opened: Workspace, notes: Sequence[str]) -> None:
    if not explanations:
        raise CaseError("there is no case to share; choose at least one")
    if notes and len(notes) != len(explanations):
        raise CaseError(f"{len(explanations)} cases need as many notes (empty ones too), got {len(notes)}")
    for explanation in explanations:
        if explanation.dataset_hash != opened.dataset.hash:
            raise CaseError(
                f"case {explanation.case} was explained on dataset {explanation.dataset_hash[:12]}…, but "
                f"{opened.dataset.hash[:12]}… is open; share cases of one dataset"
            )
