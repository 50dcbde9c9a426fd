"""Shares with intervals, and questions whose answer is a share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.learn.charts import Chart
from analysis.learn.lesson import Choice, Question
from analysis.records.bootstrap import UserBootstrap, interval

QUARTERS: Final = (
    "Fewer than a quarter",
    "A quarter up to half",
    "Half up to three quarters",
    "Three quarters or more",
)
QUARTER_EDGES: Final = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Share:
    """A mean over ``n`` cases with its 95 % interval, over resampled users; NaN where there is no case."""

    value: float
    low: float
    high: float
    n: int


def share_of(hits: np.ndarray, users: np.ndarray, samples: int = 400) -> Share:
    """The share of hits among cases of these users.

    >>> share_of(np.array([True, False, True, True]), np.array([0, 0, 1, 1])).value
    0.75
    """
    if not len(hits):
        return Share(np.nan, np.nan, np.nan, 0)
    values = np.asarray(hits, dtype=np.float64)
    bootstrap = UserBootstrap(users, samples)
    low, high = interval(bootstrap.means(values, np.zeros(len(values), dtype=np.int64), 1))
    return Share(float(values.mean()), float(low[0]), float(high[0]), len(values))


def share_question(
    prompt: str,
    share: float,
    *,
    fact: str,
    too_low: str,
    too_high: str,
    labels: tuple[str, ...] = QUARTERS,
    edges: tuple[float, ...] = QUARTER_EDGES,
    picture: Chart | None = None,
) -> Question:
    """A question for a share; a share on an edge belongs to the answer above it.

    Args:
        fact: a sentence with the numbers, part of every reply.
        too_low, too_high: a hint after such a guess.

    >>> share_question("?", 0.5, fact="It is half.", too_low="More.", too_high="Fewer.").right
    2
    """
    right = int(np.searchsorted(edges, share, side="right"))
    replies = [
        f"Right. {fact}"
        if at == right
        else f"{'More than that' if at < right else 'Fewer than that'}: {_lower(labels[right])}. {fact} {hint}"
        for at, hint in enumerate([too_low] * right + [""] + [too_high] * (len(labels) - right - 1))
    ]
    return Question(prompt, tuple(Choice(*pair) for pair in zip(labels, replies, strict=True)), right, picture)


def choose(prompt: str, labels: Sequence[str], right: int, fact: str, picture: Chart | None = None) -> Question:
    """A question whose replies give the verdict and the fact.

    >>> choose("?", ("A", "B"), 1, "It is B.").choices[0].reply
    'Not quite, the answer is “B”. It is B.'
    """
    wrong = f"Not quite, the answer is “{labels[right]}”"
    replies = (f"{'Right' if at == right else wrong}. {fact}" for at in range(len(labels)))
    return Question(prompt, tuple(map(Choice, labels, replies)), right, picture)


def _lower(label: str) -> str:
    return label[:1].lower() + label[1:]


def larger(first: float, second: float, close: float) -> int:
    """0 if the first number is larger, 1 if the second is, 2 if they are close.

    >>> larger(0.5, 0.1, 0.05), larger(0.1, 0.12, 0.05)
    (0, 2)
    """
    return 2 if abs(first - second) < close else 0 if first > second else 1
