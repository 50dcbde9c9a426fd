"""Records that grow in the background where ranking all test cases would make people wait; shared by all visitors.

One thread for a model draws more and more cases (`analysis.records.growing_records`) and publishes every draw as a
whole; views read the latest. The thread ends when all cases are in, or with a failure that the views tell.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from analysis.records.case_draw import draw_sizes, is_drawn_first
from analysis.records.evaluation_records import models_beside, records_key
from analysis.records.growing_records import LISTS, DrawnRecords, Ranker, grow_records, whole_records
from analysis.records.table_cache import Pieces, kept_table
from app.cached import datasets
from app.cached.background import PAUSE_S, give_way, run_beside
from app.cached.keys import BY_MODEL
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.baselines import EVIDENCE
from recap.errors import RecapError

if TYPE_CHECKING:
    from analysis.records.loaded_dataset import LoadedDataset

STAND_BACK_S: Final = 3.0
"""How long a turn is put off while pages are being made for visitors; then it is taken, or it would never come."""
Report = Callable[[float, int], None]
"""Told (cases done, cases in all); one that one of n models has ranked is 1/n of a case."""


class Growing:
    """Draws that a thread publishes one after another, and how far it is."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_begun = False
        self._awaited = 0
        self._started = 0.0
        self.latest: DrawnRecords | None = None
        self.failure = ""
        self.done, self.num_cases = 0.0, 0

    def start(self, draw: Callable[[Report], Iterator[DrawnRecords]]) -> None:
        """Begin in a thread of its own, unless it was begun before."""
        with self._changed:
            if not self._is_begun:
                self._is_begun, self.done, self._started = True, 0.0, time.monotonic()
                run_beside(partial(self._run, draw), "refining")

    def forget_failure(self) -> None:
        """Let the next `start` begin again, after a failure."""
        with self._changed:
            if self.failure:
                self._is_begun, self.failure = False, ""

    @property
    def is_whole(self) -> bool:
        """Whether all cases are in."""
        return self.latest is not None and self.latest.is_whole

    @property
    def share(self) -> float:
        """How much of all work is done."""
        return min(self.done / self.num_cases, 1.0) if self.num_cases else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far; None while nothing is known."""
        share = self.share
        return (time.monotonic() - self._started) * (1 - share) / share if share > 0 else None

    def wait_for_draw(self, seconds: float | None = None) -> None:
        """Until there is a draw to show, or a failure."""
        with self._changed:
            self._changed.wait_for(lambda: self.latest is not None or bool(self.failure), seconds)

    def wait_for_end(self, seconds: float | None = None) -> bool:
        """Until all cases are in, or a failure; whether that is so."""
        with self._changed:
            self._awaited += 1
            try:
                return self._changed.wait_for(lambda: self.is_whole or bool(self.failure), seconds)
            finally:
                self._awaited -= 1

    def stand_back(self) -> None:
        """Let pages be made for visitors first, unless one of them waits for the end."""
        time.sleep(PAUSE_S)
        give_way(STAND_BACK_S, lambda: self._awaited > 0)

    def _run(self, draw: Callable[[Report], Iterator[DrawnRecords]]) -> None:
        def report(done: float, num_cases: int) -> None:
            self.done, self.num_cases = done, num_cases

        try:
            for drawn in draw(report):
                with self._changed:
                    self.latest = drawn
                    self._changed.notify_all()
        except Exception as error:  # whatever it was: a thread that dies silently would look busy
            known = isinstance(error, RecapError)
            if not known:
                logging.getLogger(__name__).exception("ranking the test cases in the background failed")
            with self._changed:
                self.failure = str(error) if known else f"{type(error).__name__}; the server's log says more"
                self._changed.notify_all()


def is_large(source: Source) -> bool:
    """Whether ranking all of the source's test cases takes too long to be waited for."""
    opened = datasets.open_dataset(source)
    return is_drawn_first(len(opened.cases), opened.dataset.num_pois, AppSettings.from_environment().most_scores)


def is_refined(source: Source) -> bool:
    """Whether a draw of the test cases is shown while the others are ranked.

    Not where the records of all models are kept: then nobody waits.
    """
    if source.imported is not None or not is_large(source):
        return False
    return not all(records_key(source.dataset_hash, key).is_kept(source.bundle) for key in model_keys(source))


def model_keys(source: Source) -> list[str]:
    """The models that Overview shows: the source's own first.

    Where ranking takes long, or would be done again at every start, `evidence` joins them with its records alone.
    """
    may_rank = not (AppSettings.from_environment().read_only or is_large(source))
    beside = models_beside(source.dataset_hash, source.bundle, may_rank=may_rank)
    return list(dict.fromkeys([datasets.model_key(source), *beside]))


def lacks_evidence(source: Source) -> bool:
    """Whether `evidence` could stand beside the model after one command."""
    return not AppSettings.from_environment().read_only and not is_large(source) and EVIDENCE not in model_keys(source)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_MODEL)
def growing(source: Source) -> Growing:
    """The source's draws, perhaps not begun."""
    return Growing()


def refine(source: Source) -> Growing:
    """The source's draws; begins them where nobody did."""
    draws = growing(source)
    draws.start(partial(_draw, source))
    return draws


def _draw(source: Source, report: Report) -> Iterator[DrawnRecords]:
    opened = datasets.open_dataset(source)
    keys = model_keys(source)
    keep = not AppSettings.from_environment().read_only
    rankers = {key: _ranker(source, opened, key, keep=keep) for key in keys}
    done, num_cases = 0, len(opened.cases)

    def add(cases: int) -> None:
        nonlocal done
        done += cases
        report(done / len(keys), num_cases)

    sizes = draw_sizes(len(opened.cases))
    for drawn in grow_records(opened.cases, rankers, num_pois=opened.dataset.num_pois, sizes=sizes, report=add):
        if drawn.is_whole and keep:
            _keep_whole(source, drawn, rankers, sizes)
        yield drawn


def _ranker(source: Source, opened: "LoadedDataset", key: str, *, keep: bool) -> Ranker:
    """Kept records are looked up, others made by the model, which is opened when the first cases need it."""
    table = records_key(source.dataset_hash, key)
    if table.is_kept(source.bundle):
        kept = kept_table(table, pd.DataFrame, rows=len(opened.cases), keep=False, bundle=source.bundle, without=LISTS)
        if len(kept):
            return Ranker(lambda cases: kept.iloc[cases[c.CASE].to_numpy()])

    def rank(cases: pd.DataFrame) -> pd.DataFrame:
        from app.cached import models, threads  # here: torch is loaded to rank, not to look up
        from recap.evaluation.scoring import score_cases

        model = models.open_model(source, None if key == datasets.model_key(source) else key)
        with threads.TURNS:
            ranked = score_cases(model.scorer, cases, opened.checkins)
        growing(source).stand_back()
        return ranked

    return Ranker(rank, Pieces(table, keep=keep))


def _keep_whole(source: Source, drawn: DrawnRecords, rankers: dict[str, Ranker], sizes: list[int]) -> None:
    """Put whole records where every view, and the next start, finds them."""
    for key, ranker in rankers.items():
        if ranker.pieces is None:
            continue
        whole = whole_records(drawn.models[key], ranker.pieces, sizes)
        if whole is not None:
            kept_table(records_key(source.dataset_hash, key), partial(_same, whole), rows=len(whole))
            ranker.pieces.drop()


def _same(table: pd.DataFrame) -> pd.DataFrame:
    return table
