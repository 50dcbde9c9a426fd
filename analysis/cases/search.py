"""Search all test cases by case number, user or place."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.cases.case_table import FROM, TO
from analysis.trajectories.case_names import users_of_id
from recap import columns as c


def search_cases(table: pd.DataFrame, text: str, own_ids: Sequence[str] = ()) -> np.ndarray:
    """Find the cases that a text means, in the table's order; none for an empty text.

    A number means the case of that number, then the cases of the user of that number. ``user 17`` means only the user.
    Other words must all occur in the name of either place or in the category of the target.

    Args:
        table: from `analysis.cases.case_table.case_table`.
        own_ids: of the users, which come before their numbers; empty where they have only numbers.
    """
    words = text.casefold().split()
    cases = table[c.CASE].to_numpy(np.int64)
    if not words:
        return cases[:0]
    number = re.fullmatch(r"(case|user)? ?#?([\d,]{1,12})", " ".join(words))
    kind, wanted = (number[1], int(number[2].replace(",", "") or -1)) if number is not None else (None, -1)
    named = users_of_id(own_ids, text)
    if number is not None or named:
        of_case = cases[cases == wanted] if kind != "user" else cases[:0]
        of_user = cases[table[c.USER].isin(named or [wanted]).to_numpy()] if kind != "case" else cases[:0]
        numbers = np.concatenate([of_case, of_user[~np.isin(of_user, of_case)]])
        if len(numbers) or kind:
            return numbers
    kept = np.ones(len(table), dtype=bool)
    columns = [table[name].str.casefold() for name in (FROM, TO, c.CATEGORY)]
    for word in words:
        kept &= np.logical_or.reduce([column.str.contains(word, regex=False).to_numpy(bool) for column in columns])
    return cases[kept]
