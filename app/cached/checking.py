"""Checks of a case among many places: made beside the page, which has its answer and tells how far they are.

Two hundred placebos are scored among all places: three times as long as the answer itself among 40,000 places, seconds
among a million. One case is checked at a time, whoever asks, and an explanation that somebody waits for need not wait
for it.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Final

from analysis.explain.checks import CaseChecks
from analysis.explain.state_totals import Report
from app.cached.background import give_way, run_beside
from recap.errors import RecapError

MANY_PLACES: Final = 20_000
"""Places beyond which checks would keep a page some tenths of a second from the next visitor's."""
PATIENCE_S: Final = 10.0
"""How long in all the checks of a case are put off while pages are being made for visitors."""
_ONE_AT_A_TIME: Final = threading.Lock()


class Checking:
    """Makes the checks of one case in a thread of its own.

    Attributes:
        share: how much is done.
        checks: what was found; None before.
        failure: what went wrong; empty while nothing has.
    """

    def __init__(self, make: Callable[[Report], CaseChecks]) -> None:
        self.share, self.failure = 0.0, ""
        self.checks: CaseChecks | None = None
        self._ended, self._awaited = threading.Event(), False
        run_beside(partial(self._run, make), "checking")

    @property
    def is_over(self) -> bool:
        """Whether they are made, or failed."""
        return self._ended.is_set()

    def wait(self) -> CaseChecks:
        """The checks, once they are made.

        Raises:
            RecapError: they failed.
        """
        self._awaited = True
        self._ended.wait()
        if self.checks is None:
            raise RecapError(self.failure)
        return self.checks

    def _run(self, make: Callable[[Report], CaseChecks]) -> None:
        patience = PATIENCE_S

        def report(done: int, total: int) -> None:
            nonlocal patience
            self.share = done / total
            patience -= give_way(patience, lambda: self._awaited)

        try:
            with _ONE_AT_A_TIME:
                self.checks = make(report)
        except Exception as error:  # whatever it was: a thread that dies silently would look busy
            known = isinstance(error, RecapError)
            if not known:
                logging.getLogger(__name__).exception("checking a case in the background failed")
            self.failure = str(error) if known else f"{type(error).__name__}; the server's log says more"
        finally:
            self._ended.set()
