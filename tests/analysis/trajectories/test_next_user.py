"""Typing a user's number: the next user with a chosen case, in the direction that was taken."""

from pathlib import Path

import numpy as np
import pytest

from analysis.trajectories.trajectory import case_of_next_user
from analysis.workspace import Workspace
from recap import columns as c


@pytest.fixture(scope="module")
def city(city_folder: Path) -> Workspace:
    return Workspace.open(city_folder)


def test_the_next_walker_with_a_case(city: Workspace) -> None:
    """Only the third and the sixth user are chosen: the number between leads on to the one or back to the other."""
    users = city.cases[c.USER].to_numpy()
    third, sixth = np.unique(users)[[2, 5]]
    chosen = np.flatnonzero(np.isin(users, [third, sixth]))
    first = {user: int(np.flatnonzero(users == user)[0]) for user in (third, sixth)}
    between = int(third) + 1
    assert case_of_next_user(city, chosen, int(third), forwards=True) == first[third]
    assert case_of_next_user(city, chosen, between, forwards=True) == first[sixth]
    assert case_of_next_user(city, chosen, between, forwards=False) == first[third]
    assert case_of_next_user(city, chosen, 10**6, forwards=True) == first[sixth]  # beyond the last
    assert case_of_next_user(city, chosen, 0, forwards=False) == first[third]  # before the first
