"""Venues of the city: hubs placed by hand, parks in the green, beaches on the shore, the rest beside streets."""

from math import isqrt
from typing import Final, NamedTuple

import numpy as np

from recap.data.synthetic import places
from recap.data.synthetic.categories import CATEGORIES, CATEGORY_INDEX, KINDS
from recap.data.synthetic.draws import Draws
from recap.data.synthetic.layout import Layout, build_layout
from recap.data.synthetic.names import draw_name
from recap.data.synthetic.shapes import Line, Point, inside

# Appeal of a venue, drawn evenly from one row; rows go from equals to a few favourites. Row: Category.spread.
_APPEAL: Final = (
    (8, 9, 10, 11, 12),
    (4, 5, 6, 7, 9, 11, 14, 18, 24, 32),
    (2, 3, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50),
    (1, 1, 2, 2, 3, 4, 6, 9, 15, 26, 48, 100),
)
_HEART_METRES = 700  # streets this far from a district's heart have half its density


class Venue(NamedTuple):
    """One place of the city; `at` in metres, `district` an index into `places.DISTRICTS` (-1: outside all)."""

    name: str
    category: int
    at: Point
    district: int
    appeal: int


def build_venues(seed: int, people: int) -> list[Venue]:
    """Lay out the venues for a city of so many people; hubs come first."""
    draws = Draws(seed, 1)
    layout = build_layout()
    taken = {hub.name for hub in places.HUBS} | set(places.PARKS)
    venues = [
        Venue(hub.name, CATEGORY_INDEX[hub.category], hub.at, _district_at(hub.at), hub.weight) for hub in places.HUBS
    ]
    used = {hub.at for hub in places.HUBS}
    density = [_site_weights(district, sites) for district, sites in zip(places.DISTRICTS, layout.sites, strict=True)]
    green, strand = _park_sites(layout), _beach_sites(layout)
    for index, category in enumerate(CATEGORIES):
        appeals = _APPEAL[category.spread]
        count = max(category.venues * people // 640, 2) if category.venues else 0
        thickness = [
            int(category.where[KINDS.index(district.kind)]) * weights[-1] if weights else 0
            for district, weights in zip(places.DISTRICTS, density, strict=True)
        ]
        for _ in range(count):
            if category.name == "Park":
                at = _free(green, used, draws)
            elif category.name == "Beach":
                at = _free(strand, used, draws)
            else:
                district = draws.pick(thickness)
                at = layout.sites[district][draws.pick_cumulated(density[district])]
                while at in used:
                    at = layout.sites[district][draws.pick_cumulated(density[district])]
            used.add(at)
            district = _district_at(at)
            nearest = places.DISTRICTS[district].name if district >= 0 else _nearest(at).name
            name = draw_name(category.name, nearest, taken, draws)
            venues.append(Venue(name, index, at, district, appeals[draws.below(len(appeals))]))
    return venues


def _site_weights(district: places.District, sites: Line) -> list[int]:
    """Running sums of the sites' weights: density falls off from the district's heart."""
    total = 0
    sums: list[int] = []
    for x, y in sites:
        away = isqrt((x - district.heart[0]) ** 2 + (y - district.heart[1]) ** 2)
        total += 1_000_000 // (_HEART_METRES + away)
        sums.append(total)
    return sums


def _park_sites(layout: Layout) -> Line:
    """A net of points in the parks, 90 m apart and on dry land."""
    sites: Line = []
    for outline in layout.parks.values():
        xs, ys = [x for x, _ in outline], [y for _, y in outline]
        net = np.array(
            [(x, y) for x in range(min(xs), max(xs), 190) for y in range(min(ys), max(ys), 190)], dtype=np.int64
        ).reshape(-1, 2)
        fine = inside(net, outline) & ~layout.in_water(net)
        sites += [(x, y) for x, y in net[fine].tolist()]
    return sites


def _beach_sites(layout: Layout) -> Line:
    """Points just inland of the open coast within reach of the city."""
    near = [(x, y + 60) for x, y in layout.coast if -22_000 < x < 19_000]
    dry = ~layout.in_water(np.array(near, dtype=np.int64))
    return [point for point, ok in zip(near, dry.tolist(), strict=True) if ok]


def _free(sites: Line, used: set[Point], draws: Draws) -> Point:
    while (at := sites[draws.below(len(sites))]) in used:
        pass
    return at


def _district_at(at: Point) -> int:
    point = np.array([at], dtype=np.int64)
    for index, district in enumerate(places.DISTRICTS):
        if inside(point, district.outline)[0]:
            return index
    return -1


def _nearest(at: Point) -> places.District:
    return min(places.DISTRICTS, key=lambda d: (d.heart[0] - at[0]) ** 2 + (d.heart[1] - at[1]) ** 2)
