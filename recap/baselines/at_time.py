"""The counter that reads the time of the next check-in.

Shape suffixes: B cases, P POIs, C packed candidates, H past check-ins.
"""

from typing import Final

import torch

from recap.arithmetic.ragged import sum_within
from recap.baselines import AT_TIME
from recap.baselines.counting import CountingBaseline
from recap.features.catalogue import PAST
from recap.features.visits import same_hour
from recap.history.tensors import SECONDS_PER_DAY, Histories, local_hour_fraction, local_weekday
from recap.scores import Scores, Term

AGE_DAYS: Final = 90.0
WIDTH_HOURS: Final = 0.75
ANY_VISIT: Final = 0.05
OTHER_DAYS: Final = 0.1
"""Age and width of closeness, the weight of any visit, and of a close one on the other kind of
day; fixed by MRR over New York's validation weeks."""


class VisitCountAtTime(CountingBaseline):
    """Visits, each weighted exp(-age / `AGE_DAYS`) and by how close it is to the time given: around the clock, and of
    the same kind of day.
    """

    name = AT_TIME
    terms = (Term("visits", PAST),)
    reads_target_time = True

    def score(self, histories: Histories) -> Scores:
        checkins, (case_H, row_H) = histories.checkins, histories.past_rows()
        days_H = (histories.now_seconds_B[case_H] - checkins.seconds_T[row_H]).double() / SECONDS_PER_DAY
        hour_H = 24.0 * local_hour_fraction(histories.now_local_seconds_B)[case_H]
        close_H = same_hour(checkins.hour_T[row_H], hour_H, WIDTH_HOURS)
        is_such_H = (checkins.weekday_T[row_H] >= 5) == (local_weekday(histories.now_local_seconds_B) >= 5)[case_H]
        weight_H = torch.exp(-days_H / AGE_DAYS) * (ANY_VISIT + close_H * torch.where(is_such_H, 1.0, OTHER_DAYS))
        num_pois = len(self.popularity_P)
        key_C, slot_H = torch.unique(case_H * num_pois + checkins.poi_T[row_H], return_inverse=True)
        case_C = torch.div(key_C, num_pois, rounding_mode="floor")
        packed = {"visits": sum_within(weight_H, slot_H, len(key_C))}
        zeros_BP = torch.zeros(len(histories), num_pois, dtype=torch.float64)
        return Scores({"rest": zeros_BP}, packed, case_C, key_C - case_C * num_pois, tie_break_P=self.popularity_P)
