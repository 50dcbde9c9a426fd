"""Names of cases, and the case or place that typed words mean."""

import re
from collections.abc import Sequence

import numpy as np

from analysis.formatting import day
from analysis.workspace import Workspace
from recap import columns as c
from recap.data.dataset import Dataset
from recap.history.moments import Moment


def case_name(opened: Workspace, number: int) -> str:
    """``Case 214 · User 041 · Thu 3 Oct, 18:20``, in local time.

    Raises:
        CaseError: no such case.
    """
    case = opened.case(number)
    time = opened.dataset.local_time.iloc[int(case[c.ROW])]
    return f"Case {number:,} · {opened.user_name(int(case[c.USER]))} · {day(time)}, {time:%H:%M}"


def moment_name(opened: Workspace, moment: Moment) -> str:
    """The name of a case, or ``User 041 · from the last check-in``."""
    if moment.case is not None:
        return case_name(opened, moment.case)
    who = "New user" if moment.is_new_user else opened.user_name(moment.user)
    return f"{who} · {moment_words(opened.dataset, moment)}"


def moment_words(dataset: Dataset, moment: Moment) -> str:
    """``from the last check-in``, or ``as of 20 Oct, 12:47`` in local time; or that stops were changed."""
    if moment.is_changed:
        return "after the chosen stops" if moment.is_new_user else "after changed stops"
    if moment.next_place(dataset) is None:
        return "from the last check-in"
    time = dataset.local_time.iloc[moment.row]
    return f"as of {time.day} {time:%b, %H:%M}"


def cases_of_user(opened: Workspace, number: int, most: int) -> list[int]:
    """At most ``most`` cases of a case's user around it, in order."""
    user_N = opened.cases[c.USER].to_numpy()
    (mine,) = np.nonzero(user_N == user_N[number])
    return around(mine.tolist(), int(np.searchsorted(mine, number)), most)


def around(numbers: Sequence[int], position: int, most: int) -> list[int]:
    """At most ``most`` numbers around the one at a position.

    >>> around(range(10), 1, 4), around(range(10), 6, 4), around(range(3), 2, 4)
    ([0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2])
    """
    start = max(0, min(position - most // 2, len(numbers) - most))
    return list(numbers[start : start + most])


def last_case(opened: Workspace, moment: Moment) -> int:
    """The last test case before a moment, of the same user if there is one; 0 if none is before it."""
    return max(0, int(np.searchsorted(opened.cases[c.ROW].to_numpy(), moment.row)) - 1)


def find_case(opened: Workspace, text: str) -> int | None:
    """The case of a typed number, or a user's first case (``user 41``, or the own id); None if there is none."""
    number = re.search(r"\d+", text.replace(",", ""))
    user = re.match(r"\s*user\s*0*(\d{1,9})\b", text, re.IGNORECASE)
    wanted = users_of_id(opened.own_ids, text) or ([int(user[1])] if user is not None else [])
    if wanted:
        (mine,) = np.nonzero(opened.cases[c.USER].isin(wanted).to_numpy())
        return int(mine[0]) if len(mine) else None
    if number is None or len(number[0]) > 12 or int(number[0]) >= len(opened.cases):
        return None
    return int(number[0])


def places_by_visits(opened: Workspace) -> np.ndarray:
    """All places, those with the most training check-ins first, int64."""
    return np.argsort(-opened.dataset.pois[c.TRAIN_CHECKINS].to_numpy(), kind="stable")


def find_place(opened: Workspace, text: str) -> int | None:
    """The most visited place with this name or else containing it, or None."""
    visits = opened.dataset.pois[c.TRAIN_CHECKINS].to_numpy()
    return max(places_named(opened.labels, text), key=visits.__getitem__, default=None)


def places_named(labels: Sequence[str], text: str, taken: int = -1) -> list[int]:
    """Numbers of the places with this name, or else of those containing it, without one that is taken.

    >>> labels = ["Pier 9", "pier", "Old pier"]
    >>> places_named(labels, " Pier"), places_named(labels, "9"), places_named(labels, " ")
    ([1], [0], [])
    >>> places_named(labels, "pier", taken=1)
    [0, 2]
    """
    wanted = " ".join(text.casefold().split())
    named = {poi: label.casefold() for poi, label in enumerate(labels) if poi != taken}
    exact = [poi for poi, label in named.items() if label == wanted]
    return exact or [poi for poi, label in named.items() if wanted and wanted in label]


def users_of_id(own_ids: Sequence[str], text: str) -> list[int]:
    """Users with this id, whatever its case; ``user`` may stand before it.

    >>> users_of_id(["K00518", "k2"], "user K2"), users_of_id(["K00518", "k2"], "k00518"), users_of_id([], "7")
    ([1], [0], [])
    """
    typed = " ".join(text.casefold().split())
    return [user for user, own in enumerate(own_ids) if own.casefold() in (typed, typed.removeprefix("user "))]
