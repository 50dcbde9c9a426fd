"""What leaves this machine: nothing that names a person, a second or a house number, unless asked for and said."""

import numpy as np

from recap.privacy import Generalisation, users_per_group

RULE = Generalisation(salt="pepper")


def test_pseudonyms_depend_on_the_salt_alone() -> None:
    """The same person keeps a name within a file and has another in the next one."""
    assert RULE.pseudonym(7) == RULE.pseudonym("7") != RULE.pseudonym(8)
    assert RULE.pseudonym(7) != Generalisation().pseudonym(7)


def test_no_two_people_share_a_name() -> None:
    """Whole cities keep apart; with six characters the first pair came among some three thousand."""
    numbers = range(60_000)
    assert len({RULE.pseudonym(number) for number in numbers}) == len(numbers)


def test_a_part_of_the_week_has_no_date() -> None:
    assert RULE.part_of_week(1, 18.9) == "Tuesday, 16 to 20 h" and RULE.part_of_week(None, 0.0) == "0 to 4 h"


def test_cells_and_people() -> None:
    """A cell's middle is at most half a side away; place 0 has two people, place 1 one."""
    degrees = np.linspace(-90, 90, 500)
    assert np.abs(RULE.cell(degrees) - degrees).max() <= 0.01 + 1e-6
    assert users_per_group(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), 2).tolist() == [2, 1]
