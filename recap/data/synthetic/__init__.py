"""Saltmere, the invented demo city: check-ins, venues and a basemap from one seed, the same on every machine.

``recap.data`` knows no other module of this package than this one.
"""

from recap.data.synthetic.basemap import build_basemap
from recap.data.synthetic.city import PEOPLE, PINNED_SEED, build_demo_city, hash_checkins

__all__ = ["PEOPLE", "PINNED_SEED", "build_basemap", "build_demo_city", "hash_checkins"]
