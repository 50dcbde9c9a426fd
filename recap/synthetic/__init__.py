"""Saltmere, the invented demo city: the same on every machine for one seed."""

from recap.synthetic.city import PEOPLE, PINNED_SEED, build_demo_city

__all__ = ["PEOPLE", "PINNED_SEED", "build_demo_city"]
