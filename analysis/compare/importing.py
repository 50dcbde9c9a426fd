"""Check imported predictions row by row and turn them into evaluation records.

Shape suffixes: R rows of the file, N cases.
"""

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from analysis.compare.prediction_file import PLACE, read_prediction_file
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import DataError
from recap.evaluation.metrics import reciprocal_rank
from recap.evaluation.ranks import mean_rank
from recap.evaluation.scoring import LIST_LENGTH
from recap.machine.printable import one_line

_EXAMPLES: Final = 3
_FAR_MORE: Final = 3
_PROBLEMS: Final = {
    "unknown_cases": "rows of cases that the dataset does not have",
    "double_cases": "cases with one place twice",
    "missing_cases": "test cases without a list",
    "unknown_pois": "rows with places that the dataset does not know",
    "no_number": "scores that are not finite numbers",
    "rank_against_score": "cases whose rank column contradicts their scores",
}
"""Problems that are refused unless an option allows them."""
REMARKS: Final = {
    "ties": "cases with equal scores; ranks are the mean over their orders",
    "ties_with_truth": "of them, cases whose truth is tied",
    "ties_at_the_end": "cases whose truth is tied with the end of its list; places left out may be tied too",
    "not_in_list": "cases whose truth is not in its list",
}
"""Facts that are only reported."""


@dataclass(frozen=True)
class Finding:
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportReport:
    """A `Finding` for each of `_PROBLEMS` and `REMARKS`, and how many places the shortest and longest list have."""

    rows: int
    cases: int
    shortest: int
    longest: int
    findings: dict[str, Finding]

    def sentences(self, *names: str) -> list[str]:
        """One sentence per problem that occurs."""
        words = _PROBLEMS | REMARKS
        findings = {name: self.findings[name] for name in names or words if self.findings[name].count}
        return [
            f"{item.count:,} {words[name]}" + (f" ({', '.join(item.examples)}, …)" if item.examples else "")
            for name, item in findings.items()
        ]


def import_predictions(
    path: Path, opened: Workspace, *, missing_as_miss: bool = False, drop_unknown: bool = False
) -> tuple[pd.DataFrame, ImportReport, str]:
    """Read and check predictions, and rank the truth of every test case in its list.

    Ranks are exact within a list (`num_better` scores above the truth's, `num_tied` equal to it). A truth outside its
    list is ranked behind every place, so MRR becomes a lower bound.

    Args:
        path: CSV or Parquet, see `read_prediction_file`.
        missing_as_miss: count a case without a list as not found; otherwise refuse it.
        drop_unknown: leave out rows with unknown places; otherwise refuse them.

    Returns:
        The evaluation records with ``listed`` and ``in_list``, the report, and the content's hash.

    Raises:
        DataError: not such a file, or problems that were not allowed; the line counts them.
    """
    rows = read_prediction_file(path)
    given = len(rows)
    findings: dict[str, Finding] = {}
    num_cases = len(opened.cases)
    rows, findings["unknown_cases"] = _split_off(rows, ~rows[c.CASE].between(0, num_cases - 1), c.CASE)
    rows, findings["no_number"] = _split_off(rows, ~np.isfinite(rows[c.SCORE]), c.CASE)
    from_one = _are_from_one(rows, opened)
    rows = rows.assign(**{c.POI: _places(rows[PLACE], opened)})
    rows, findings["unknown_pois"] = _split_off(rows, rows[c.POI] < 0, PLACE)
    double = rows[rows.duplicated([c.CASE, c.POI])]
    findings["double_cases"] = _finding(double[c.CASE].unique())
    listed_N = np.bincount(rows[c.CASE], minlength=num_cases)
    findings["missing_cases"] = _finding(np.flatnonzero(listed_N == 0))
    findings["rank_against_score"] = _finding(_contradictions(rows))
    records, remarks = opened.cases, dict.fromkeys(REMARKS, Finding(0))
    if not findings["double_cases"].count:
        records, remarks = _rank(rows, opened, listed_N)
    findings |= remarks
    known = listed_N[listed_N > 0]
    report = ImportReport(
        given, int((listed_N > 0).sum()), int(min(known, default=0)), int(max(known, default=0)), findings
    )
    allowed = {"missing_cases": missing_as_miss, "unknown_pois": drop_unknown and not from_one}
    refused = [lines for name in _PROBLEMS if not allowed.get(name, False) for lines in report.sentences(name)]
    options = "--missing-as-miss (no list counts as not found)"
    if from_one:
        refused.append("every place index is one too high: places look numbered from 1, and RECAP counts from 0")
    else:
        options += " or --drop-unknown (such rows are left out)"
    if refused:
        raise DataError(f"{path.name} was not imported: {'; '.join(refused)}. Correct the file, or use {options}")
    return records, report, _content_hash(rows, num_cases)


def _split_off(rows: pd.DataFrame, bad: pd.Series, shown: str) -> tuple[pd.DataFrame, Finding]:
    """The good rows, and a finding on the bad ones."""
    values = rows.loc[bad, shown]
    return rows[~bad], Finding(int(bad.sum()), _examples(values.unique()))


def _finding(cases: np.ndarray) -> Finding:
    return Finding(len(cases), _examples(cases))


def _examples(values: np.ndarray) -> tuple[str, ...]:
    return tuple(one_line(str(value))[:40] for value in values[:_EXAMPLES])


def _places(place: pd.Series, opened: Workspace) -> np.ndarray:
    """Index of each place, -1 if the dataset does not know it; text is an outside id, a number an index."""
    if pd.api.types.is_integer_dtype(place):
        return np.where(place.between(0, opened.dataset.num_pois - 1), place, -1).astype(np.int64)
    known = pd.Index(opened.dataset.pois[c.POI_ID].astype(str))
    return np.asarray(known.get_indexer(pd.Index(place.astype(str))), dtype=np.int64)


def _are_from_one(rows: pd.DataFrame, opened: Workspace) -> bool:
    """Whether places look numbered from 1: none is 0, and one is beyond the last or far more truths are one higher."""
    place = rows[PLACE]
    if not pd.api.types.is_integer_dtype(place) or not len(place) or place.min() < 1:
        return False
    truth_R = opened.cases[c.TARGET].to_numpy(np.int64)[rows[c.CASE].to_numpy(np.int64)]
    hits, shifted = (int((place.to_numpy() == truth_R + above).sum()) for above in (0, 1))
    return bool(place.max() == opened.dataset.num_pois) or shifted > _FAR_MORE * (hits + _EXAMPLES)


def _contradictions(rows: pd.DataFrame) -> np.ndarray:
    """Cases in which a later rank has a higher score."""
    if c.RANK not in rows:
        return np.zeros(0, dtype=np.int64)
    ordered = rows.sort_values([c.CASE, c.RANK], kind="stable")
    same = ordered[c.CASE].to_numpy()[1:] == ordered[c.CASE].to_numpy()[:-1]
    rises = np.diff(ordered[c.SCORE].to_numpy()) > 0
    return np.unique(ordered[c.CASE].to_numpy()[1:][same & rises])


def _rank(rows: pd.DataFrame, opened: Workspace, listed_N: np.ndarray) -> tuple[pd.DataFrame, dict[str, Finding]]:
    num_cases, num_pois = len(opened.cases), opened.dataset.num_pois
    rows = rows.sort_values([c.CASE, c.SCORE], ascending=[True, False], kind="stable")
    case_R, score_R, poi_R = (rows[name].to_numpy() for name in (c.CASE, c.SCORE, c.POI))
    target_N = opened.cases[c.TARGET].to_numpy(np.int64)
    is_truth_R = poi_R == target_N[case_R]
    in_list_N = np.zeros(num_cases, dtype=bool)
    in_list_N[case_R[is_truth_R]] = True
    truth_N = np.full(num_cases, np.nan)
    truth_N[case_R[is_truth_R]] = score_R[is_truth_R]
    better_N = np.bincount(case_R, weights=score_R > truth_N[case_R], minlength=num_cases).astype(np.int64)
    tied_N = np.bincount(case_R, weights=score_R == truth_N[case_R], minlength=num_cases).astype(np.int64)
    better_N, tied_N = np.where(in_list_N, better_N, num_pois - 1), np.where(in_list_N, tied_N, 1)
    lowest_N = np.full(num_cases, np.inf)
    np.minimum.at(lowest_N, case_R, score_R)
    equal_R = (np.diff(case_R) == 0) & (np.diff(score_R) == 0)
    first_N = np.concatenate([[0], np.cumsum(listed_N)])
    spans = [slice(first, min(first + LIST_LENGTH, last)) for first, last in pairwise(first_N)]
    records = opened.cases.assign(
        **{
            c.NUM_BETTER: better_N,
            c.NUM_TIED: tied_N,
            c.RANK: mean_rank(better_N, tied_N),
            c.RECIPROCAL_RANK: reciprocal_rank(better_N, tied_N),
            c.SCORE: truth_N,
            c.LISTED: listed_N,
            c.IN_LIST: in_list_N,
        }
    )
    records[c.TOP_POIS] = pd.Series([poi_R[span] for span in spans], dtype=object)
    records[c.TOP_SCORES] = pd.Series([score_R[span] for span in spans], dtype=object)
    at_the_end = in_list_N & (tied_N > 1) & (truth_N == lowest_N) & (listed_N < num_pois)
    remarks = {
        "ties": _finding(np.unique(case_R[1:][equal_R])),
        "ties_with_truth": _finding(np.flatnonzero(in_list_N & (tied_N > 1))),
        "ties_at_the_end": _finding(np.flatnonzero(at_the_end)),
        "not_in_list": _finding(np.flatnonzero(~in_list_N & (listed_N > 0))),
    }
    return records, remarks


def _content_hash(rows: pd.DataFrame, num_cases: int) -> str:
    """Hash of the lists; the file's format and order do not matter."""
    ordered = rows.sort_values([c.CASE, c.SCORE, c.POI], ascending=[True, False, True], kind="stable")
    digest = hashlib.sha256(f"{num_cases}".encode())
    for name, kind in ((c.CASE, "<i8"), (c.POI, "<i8"), (c.SCORE, "<f8")):
        digest.update(ordered[name].to_numpy().astype(kind).tobytes())
    return digest.hexdigest()
