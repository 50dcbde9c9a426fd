"""From explanations to a page to share: generalised by default, exact only on request, and then the page says so.

page = share_cases([explanation], opened)
render_html(page), page.model_dump_json()
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analysis.explain.explanation import CaseExplanation
from analysis.sharing.case_map import case_map, projection_of
from analysis.sharing.generalise import LISTED_PLACES, share_case, shared_points
from analysis.sharing.ground import Ground, draw_svg_ground, shareable_layers
from analysis.sharing.masking import Masking
from analysis.sharing.places import MaskedPlaces, masked_places
from analysis.sharing.reidentification import Crowd
from analysis.sharing.shared_case import Change, Reidentification, SharedCase, SharedPage, SharedPlace
from analysis.sharing.traces import traces_of
from analysis.workspace import Workspace
from recap.errors import CaseError
from recap.privacy import EXACT_NOTE, Generalisation

SAFE_NOTE: Final = "Safe to share: pseudonyms, no dates, rare places blurred."
INVENTED_NOTE: Final = "The city and its users are invented; what is masked is shown as for real people."
MASKED_NOTE: Final = "Pseudonyms, no dates, rare places blurred; somebody who knows the user may still recognise them."
"""Note if fewer than k users match a case."""
WIDEST: Final = 6
"""Hidden places are shown as cells of at most 2 to the power of this, less one, times the rule's side."""


def share_cases(explanations: Sequence[CaseExplanation], opened: Workspace, **options: Any) -> SharedPage:
    """The page that may be shared about these cases; ``options`` are those of `masked_cases`."""
    return masked_cases(explanations, opened, **options)[0]


def masked_cases(
    explanations: Sequence[CaseExplanation],
    opened: Workspace,
    *,
    exact: bool = False,
    hide_places: bool = False,
    title: str = "",
    notes: Sequence[str] = (),
    basemap: Mapping[str, Any] | None = None,
) -> tuple[SharedPage, Masking]:
    """The page that may be shared about these cases, and how it names places.

    Args:
        explanations: of cases of one checkpoint and dataset, in their order.
        opened: that dataset, on which k and the estimate are counted.
        exact: show everything as recorded, and say so.
        hide_places: show the user's own places as cells too, if possible so wide that k users match each case, and
            times without a weekday.
        title: of a collection; a single case has its finding.
        notes: one for each case, shown unchanged; empty for none.
        basemap: the city's map layers, of which `shareable_layers` are shown.

    Raises:
        CaseError: no case, notes for another number of cases, or cases of another dataset.
    """
    _check(explanations, opened, notes)
    rule = Generalisation()
    masking, estimate, fitting = _choose_masking(explanations, opened, rule, exact=exact, hide_places=hide_places)
    written = list(notes) or [""] * len(explanations)
    cases = [
        share_case(explanation, masking, number, note).model_copy(update={"matching_users": fits})
        for number, (explanation, note, fits) in enumerate(zip(explanations, written, fitting, strict=True), start=1)
    ]
    shown, first, invented = masking.shared_places(), explanations[0], opened.dataset.manifest.synthetic
    layers = shareable_layers(basemap, masking.rule, invented=invented, hides_places=hide_places)
    page = SharedPage(
        is_exact=exact,
        title=title or cases[0].headline.text,
        note=_note(estimate, rule, invented=invented),
        invented=invented,
        min_users=None if exact else rule.min_users,
        cell_km=None if masking.rule is None else round(masking.rule.cell_km, 1),
        hours=None if exact else rule.hours,
        changes=[] if masking.rule is None else _changes(cases, shown, masking, masking.rule, any(written)),
        estimate=estimate,
        places=shown,
        cases=cases,
        dataset_hash=first.dataset_hash if exact else None,
        checkpoint_hash=first.checkpoint_hash if exact else None,
        ground=_ground(cases, shown, masking, layers),
    )
    return page, masking


def _note(estimate: Reidentification | None, rule: Generalisation, *, invented: bool) -> str:
    if estimate is None:
        return EXACT_NOTE
    if invented:
        return INVENTED_NOTE
    return SAFE_NOTE if estimate.matching_users >= rule.min_users else MASKED_NOTE


def _ground(
    cases: list[SharedCase], places: list[SharedPlace], masking: Masking, basemap: Mapping[str, Any] | None
) -> Ground:
    projection = projection_of(places)
    if projection.is_empty:
        return Ground(layers=[], dots=[])
    shown, dots = masking.places, ~masking.places.is_cell
    frames = [drawn.frame for case in cases if (drawn := case_map(case, places)) is not None]
    return draw_svg_ground(projection, basemap, shown.latitude[dots], shown.longitude[dots], frames)


def _choose_masking(
    explanations: Sequence[CaseExplanation],
    opened: Workspace,
    rule: Generalisation,
    *,
    exact: bool,
    hide_places: bool,
) -> tuple[Masking, Reidentification | None, list[int] | list[None]]:
    """Masking, estimate, and matching users of each case; hidden places get wider cells until k users match."""
    if exact:
        return Masking(opened, MaskedPlaces.exact(opened), None), None, [None] * len(explanations)
    if not hide_places:
        masking = Masking(opened, masked_places(opened, rule), rule)
        return masking, *_estimate(explanations, masking, rule)
    masking = Masking(opened, MaskedPlaces.exact(opened), rule)
    own = frozenset(point.poi for explanation in explanations for point in shared_points(explanation, masking))
    for level in range(WIDEST):
        wide = rule.model_copy(update={"cell_degrees": rule.cell_degrees * 2**level})
        masking = Masking(opened, MaskedPlaces.generalised(opened, wide, own), wide, hides_user=True)
        estimate, fitting = _estimate(explanations, masking, wide)
        if estimate.matching_users >= rule.min_users:
            break
    return masking, estimate, fitting


def _estimate(
    explanations: Sequence[CaseExplanation], masking: Masking, rule: Generalisation
) -> tuple[Reidentification, list[int]]:
    assert masking.opened is not None
    traces = traces_of(masking.opened.dataset)
    crowd = Crowd(traces, masking.places, traces.part_of_week(rule.hours, weekday=not masking.hides_user))
    points = [shared_points(explanation, masking) for explanation in explanations]
    fitting = [crowd.fitting(of_case) for of_case in points]
    return (
        Reidentification(
            matching_users=min(fitting),
            fitting_as_recorded=min(crowd.fitting_as_recorded(of_case) for of_case in points),
            users=traces.num_users,
        ),
        fitting,
    )


def _changes(
    cases: list[SharedCase], places: list[SharedPlace], masking: Masking, rule: Generalisation, has_notes: bool
) -> list[Change]:
    cells = sum(place.is_cell for place in places)
    users = len({case.user for case in cases})
    why = f"visited by fewer than {rule.min_users} people" + (", or the user's own," if masking.hides_user else "")
    when = f"{rule.hours} hours of the day" if masking.hides_user else f"weekday and {rule.hours} hours of the day"
    lines = [
        ("Users", f"{users:,} pseudonym{'s' * (users != 1)}, new in every file"),
        ("Places", f"{len(places) - cells:,} by name; {cells:,} {why} as cells of {rule.cell_km:.0f} km or more"),
        ("Times", f"{when}, no date; spans in whole days and weeks"),
        ("History", "visits to the two places compared; no other check-in"),
        ("Other people", "counted; no name or time"),
        ("Other places", f"the {LISTED_PLACES} best by rank and score, without contributions"),
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
        if explanation.dataset_hash != opened.dataset.stored_hash:
            raise CaseError(
                f"check-in {explanation.row} was explained on dataset {explanation.dataset_hash[:12]}…, but "
                f"{opened.dataset.stored_hash[:12]}… is open; share cases of one dataset"
            )
