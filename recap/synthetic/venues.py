"""Venues of the city: hubs, parks, beaches, and the rest along streets."""

import tomllib
from itertools import accumulate, product
from math import isqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from recap.synthetic.categories import CATEGORIES, CATEGORY_INDEX, GROUPS, KINDS
from recap.synthetic.draws import Draws, Gravity, pick_weighted
from recap.synthetic.layout import DISTRICTS, MAP, District, Layout, build_layout, dry_shore
from recap.synthetic.shapes import Line, Point, inside

_NAMES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
_KINDS_OF_WORDS: Final = ("adjectives", "nouns", "stems", "surnames", "surnames", "streets", "ways")
_LETTERS: Final = dict(zip("anspqrw", _KINDS_OF_WORDS, strict=True))
"""What stands for a letter in a pattern of names."""
_WORDS: Final[dict[str, list[str]]] = {kind: _NAMES[kind].split() for kind in _KINDS_OF_WORDS}

# Appeal of a venue, drawn evenly from the row `Category.spread`
_APPEAL: Final = (
    (8, 9, 10, 11, 12),
    (4, 5, 6, 7, 9, 11, 14, 18, 24, 32),
    (2, 3, 3, 4, 5, 6, 8, 10, 14, 20, 30, 50),
    (1, 1, 2, 2, 3, 4, 6, 9, 15, 26, 48, 100),
)
_PARK_APPEAL: Final = 60  # of the parks on the map
NEAR: Final = Gravity(softening=3, power=4)
"""For homes, workplaces and new places."""
_HEART_METRES: Final = 700  # streets this far from a district's heart have half its density


class Venue(NamedTuple):
    """One place of the city; `at` in metres, `district` an index into `DISTRICTS` (-1: outside all)."""

    name: str
    category: int
    at: Point
    appeal: int
    district: int = -1


class City:
    """Venues, arranged for quick choices."""

    def __init__(self, venues: list[Venue]) -> None:
        self.at = [venue.at for venue in venues]
        self.category = [venue.category for venue in venues]
        self.airport = self.category.index(CATEGORY_INDEX["Airport"])
        self.where = np.array(self.at, dtype=np.int64)
        self.appeal = np.array([venue.appeal for venue in venues], dtype=np.int64)
        kinds = np.array([*(district.kind for district in DISTRICTS), "outside"])
        self.district_kind = kinds[[venue.district for venue in venues]]
        self._members = [self.of(index) for index in range(len(CATEGORIES))]
        self._hubs = self.of(*GROUPS["hub"])

    def of(self, *categories: int) -> npt.NDArray[np.int64]:
        """The venues of some categories."""
        return np.flatnonzero(np.isin(self.category, categories))

    def discover(self, category: int, origin: int, known: list[int], draws: Draws) -> int | None:
        """A new venue of the category, by appeal and gravity; None when all are known."""
        members = self._members[category]
        weights = self.appeal[members] * NEAR.of_all(self.where[members], self.at[origin])
        weights[np.isin(members, known)] = 0
        chosen = pick_weighted(weights, draws)
        return None if chosen is None else int(members[chosen])

    def hub_near(self, venue: int) -> int:
        away = self.where[self._hubs] - self.where[venue]
        return int(self._hubs[(away * away).sum(axis=1).argmin()])


def build_venues(seed: int, people: int) -> list[Venue]:
    """Place the venues for this many people, hubs and mapped parks first."""
    draws = Draws(seed, 1)
    layout = build_layout()
    density = [_site_weights(district, sites) for district, sites in zip(DISTRICTS, layout.sites, strict=True)]
    green, strand = _park_sites(layout), _beach_sites(layout)
    venues = [Venue(name, CATEGORY_INDEX[kind], (x, y), weight) for name, kind, (x, y), weight in MAP["hubs"]]
    park = CATEGORY_INDEX["Park"]
    venues += [Venue(name, park, sites[len(sites) // 2], _PARK_APPEAL) for name, sites in green.items() if sites]
    taken, used = {venue.name for venue in venues}, {venue.at for venue in venues}
    for index, category in enumerate(CATEGORIES):
        appeals = _APPEAL[category.spread]
        thickness = [
            int(category.where[KINDS.index(district.kind)]) * weights[-1]
            for district, weights in zip(DISTRICTS, density, strict=True)
        ]
        for _ in range(max(category.venues * people // 620, 2) if category.venues else 0):
            spot: Point | None = None
            while spot is None or spot in used:
                if category.name == "Beach":
                    spot = strand[draws.below(len(strand))]
                elif index == park:
                    lawn = list(green.values())[draws.below(len(green))]
                    spot = lawn[draws.below(len(lawn))] if lawn else None
                else:
                    quarter = draws.pick(thickness)
                    spot = layout.sites[quarter][draws.pick_cumulated(density[quarter])]
            used.add(spot)
            name = _draw_name(category.name, spot, taken, draws)
            venues.append(Venue(name, index, spot, appeals[draws.below(len(appeals))]))
    quarters = _districts_of([venue.at for venue in venues])
    return [venue._replace(district=quarter) for venue, quarter in zip(venues, quarters, strict=True)]


def _site_weights(district: District, sites: Line) -> list[int]:
    """Running sums of weights that fall with the distance from the district's heart."""
    heart_x, heart_y = district.heart
    away = (isqrt((x - heart_x) ** 2 + (y - heart_y) ** 2) for x, y in sites)
    return list(accumulate(1_000_000 // (_HEART_METRES + metres) for metres in away))


def _park_sites(layout: Layout) -> dict[str, Line]:
    """Dry points in each park, 90 m apart."""
    sites: dict[str, Line] = {}
    for name, outline in layout.parks.items():
        xs, ys = [x for x, _ in outline], [y for _, y in outline]
        net = np.array(list(product(range(min(xs), max(xs), 90), range(min(ys), max(ys), 90))), dtype=np.int64)
        fine = inside(net, outline) & dry_shore(net, layout)
        sites[name] = [(x, y) for x, y in net[fine].tolist()]
    return sites


def _beach_sites(layout: Layout) -> Line:
    near = [(x, y + 90) for x, y in layout.coast if -22_000 < x < 19_000]
    dry = dry_shore(np.array(near, dtype=np.int64), layout)
    return [point for point, ok in zip(near, dry.tolist(), strict=True) if ok]


def _districts_of(points: Line) -> list[int]:
    """The district each point lies in, -1 outside all."""
    where = np.array(points, dtype=np.int64)
    quarters = np.full(len(where), -1)
    for index, district in reversed(list(enumerate(DISTRICTS))):
        quarters[inside(where, district.outline)] = index
    return quarters.tolist()


def _draw_name(category: str, spot: Point, taken: set[str], draws: Draws) -> str:
    """A new venue name, added to `taken`."""
    near = min(DISTRICTS, key=lambda d: (d.heart[0] - spot[0]) ** 2 + (d.heart[1] - spot[1]) ** 2)

    def drawn(kind: str) -> str:
        return _WORDS[kind][draws.below(len(_WORDS[kind]))]

    patterns = _NAMES["patterns"][category]
    for attempt in range(200):
        pattern = str(patterns[draws.below(len(patterns))])
        name = pattern.format(d=near.name, **{letter: drawn(kind) for letter, kind in _LETTERS.items()})
        if attempt > 20:
            name = f"{name}, {drawn('streets')} {drawn('ways')}"
        if name not in taken:
            taken.add(name)
            return name
    raise AssertionError(f"no name left for {category} in {near.name}")
