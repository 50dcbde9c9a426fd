"""The sentences of Next; names are escaped for Markdown."""

from datetime import UTC, date, datetime
from typing import Final

import pandas as pd

from analysis.explain.sentences import part_pill
from analysis.formatting import LIKELY, chance, day, next_sentence, number_word, on_day, ordinal, percent
from analysis.records.ablations import GROUP_NAMES
from analysis.trajectories.everyone import CHANGE, EXPECTED, LIKELY_PLACES, Everyone, shown_names
from analysis.trajectories.predictions import CasePrediction
from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.prediction import COUNTED_MINUTES
from recap.features.catalogue import PLACES
from recap.history.moments import Moment
from recap.history.one_user import NEW_GAP_MINUTES
from recap.machine.printable import markdown_text

BEGIN: Final = "Click a place on the map to begin"
BEGIN_HOW: Final = (
    "Or search it by name. Each place becomes a stop half an hour after the one before; the first is at noon."
)
NO_NEW_USER: Final = "This model cannot predict for a new user"
ADD_HINT: Final = "Add a stop: place name"
DOT_HELP: Final = "A dot marks places where the user has been."
MOST_STOPS: Final = "That is the most stops one can add: remove one first."
NO_PLACE: Final = "The user has been to every place."
REASON_HELP: Final = "The feature group that makes this place stand out in the list."
NEW_HELP: Final = "Rank only places where the user has never been."
AS_OF: Final = "As of"
AS_OF_HELP: Final = "The check-in to predict from: later ones are left out."
AS_OF_DAY: Final = "The day to predict from: later check-ins are left out."
OTHER_PLACES: Final = ":gray[• Other place: click to add a stop]"
UNREADABLE: Final = "The link's check-in or stops do not fit this data, so others are shown."
NOT_HERE: Final = "The places that the link closes are not in this data, so all are open."
NO_SUCH_PLACE: Final = "No place here is called {typed}."
MANY_USERS: Final = "The next places of {users:,} users"
NOBODY: Final = "No user passes these filters."
TABLE_ALT: Final = "Every user with last place and first choice; a ticked row opens the user"
OPEN_ROW: Final = "Tick a row to open the user."
EXACT_ROWS: Final = "Each user's predicted whereabouts, one row per user and place, as recap predict writes them."
DEFAULT_ROWS: Final = "Places where at least {people} people have been."
GO_AT: Final = "*Go there* adds a stop at the time given."
PROBABLE: Final = "A probability is not a fact: never base a decision about a person on it."
THERE: Final = "Users there, if all check in then"
COUNTED_HELP: Final = f"Only users whose next check-in is within {COUNTED_MINUTES} minutes of this time."
ONLY_SCORES: Final = "This model has no probabilities, so it expects no number of visits."
TOO_MANY: Final = "So many users and places take minutes: use `recap predict --by-place`."
PLAY_HELP: Final = "Play this day in half hours."
EXPECTED_ALT: Final = "Map of the most expected places"


def answer(
    opened: Workspace,
    itinerary: Moment,
    prediction: CasePrediction,
    last: pd.Series,
    *,
    show_truth: bool,
    whenever: CasePrediction | None = None,
) -> list[str]:
    """The headline, and the lines below it.

    Args:
        last: the last stop, a row of `read_stops`.
        whenever: the same prediction without the time given.
    """
    if not prediction.num_best:
        return [NO_PLACE]
    user = None if itinerary.is_new_user else opened.user_name(itinerary.user)
    when: datetime = last["local_time"]
    lines = [
        headline(
            user,
            prediction,
            changed=itinerary.is_changed,
            when="" if itinerary.at is None else on_day(pd.Timestamp(itinerary.at, unit="s"), when),
        ),
        f"From {markdown_text(last['name'])}, {day(when)}, {when:%H:%M}."
        if itinerary.at is None
        else _if_then(itinerary.at, last),
        "" if whenever is None or not whenever.num_best else _whenever_line(whenever),
        held_line(None if prediction.only_new else prediction.held_by, opened),
    ]
    if not itinerary.is_changed and itinerary.at is None:
        truth = opened.labels[int(prediction.case[c.TARGET])] if prediction.has_truth else None
        lines.append(truth_line(truth, prediction.target_rank, shown=show_truth))
    return [line for line in lines if line]


def headline(user: str | None, prediction: CasePrediction, *, changed: bool, when: str = "") -> str:
    """The first choice and its probability; None for a new user; ``changed``: stops differ from the recorded ones;
    ``when``: the time given.
    """
    best = prediction.candidates.iloc[0]
    who = "a new user" if user is None else markdown_text(user)
    named, probability = f":blue[{markdown_text(str(best['name']))}]", float(best["probability"])
    verb, text = "would" if changed else "will", ""
    if probability == probability:
        text = chance(probability) if probability < LIKELY else percent(probability).replace(" ", "\u00a0")
    return next_sentence(who, named, probability, text, only_new=prediction.only_new, verb=verb, when=when)


def _whenever_line(prediction: CasePrediction) -> str:
    """The first choice if no time is given."""
    best = prediction.candidates.iloc[0]
    return f"Whenever it comes, it would be {markdown_text(str(best['name']))} ({percent(best['probability'])})."


def on_weekday(at: int | None) -> str:
    """``on Monday at 18:00``, without a date."""
    return "" if at is None else f"on {datetime.fromtimestamp(at, UTC):%A at %H:%M}"


def _if_then(at: int, last: pd.Series) -> str:
    """The condition of a prediction at a time."""
    hours = (at - int(pd.Timestamp(last["local_time"]).timestamp())) / 3600
    return f"If the next check-in is then: {_span(round(60 * hours))} after {markdown_text(last['name'])}."


def pause_line(low: int, middle: int, high: int) -> str:
    """Where the clock begins, and how far this user's pauses spread."""
    usual = f"After a check-in at this hour the next usually follows after {_span(middle)}"
    return f"{usual}, half of the time after {_span(low)} to {_span(high)}."


def _span(minutes: int) -> str:
    return f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"


def expected_heading(at: datetime | None) -> str:
    return "Expected next visits" if at is None else THERE


def held_line(places: int | None, opened: Workspace) -> str:
    """How many places hold 90 % of the probability; empty without probabilities."""
    if places is None:
        return ""
    first = "the first" if places == 1 else f"the first {places:,}"
    model = opened.checkpoint
    if model is not None and model.temperature is not None and not model.is_unfitted:  # fitted to validation cases
        return f"Nine times in ten, the next place is {first if places == 1 else f'on a list of {places:,}'}."
    verb = "place holds" if places == 1 else "places hold"
    return f"T{first[1:]} {verb} 90 % of the probability."


def truth_line(truth: str | None, rank: float, *, shown: bool) -> str:
    """What happened, if it is known and shown."""
    if truth is None:
        return "This prediction has not come true or false yet."
    if not shown:
        return "What happened is known: turn it on above."
    listed = "" if rank != rank else f", {ordinal(rank)} here"
    return f"The user went to :orange[{markdown_text(truth)}]{listed}."


def gap_line(median: int | None) -> str:
    """How far the time moves on with a new stop, in minutes.

    >>> gap_line(None)
    '*Go there* moves the time on by 30 minutes.'
    """
    minutes = NEW_GAP_MINUTES if median is None else median
    span = f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
    return f"*Go there* moves the time on by {span}{'' if median is None else ', the median gap inside trajectories'}."


def reason(group: str) -> str:
    """The group that sets a place apart."""
    name = GROUP_NAMES.get(group, group.replace("_", " "))
    return "Near or popular" if name == PLACES else part_pill(name)


def everyone_caveat(users: int, people: int, at: datetime | None) -> str:
    """What a slide says next to the headline of everyone."""
    named = f"Places where fewer than {people} people have been stay unnamed."
    return f"{expected_heading(at)}: {users:,} users, each after the last check-in. {named} {PROBABLE}"


def everyone(shown: Everyone, last: date, at: datetime | None = None) -> tuple[str, str]:
    """The headline and the line below it; ``last``: the data's last day."""
    users, places = len(shown.users), shown.places
    if places.empty:
        return MANY_USERS.format(users=users), ONLY_SCORES
    if shown.closed:
        line = f"From the last check-in of each of {users:,} users, up to {last:%-d %B %Y}."
        return _closed(shown, at), " ".join([line, *shown.notes])
    best, most = markdown_text(str(shown_names(places)[0])), places[EXPECTED][0]
    line = f"From the last check-in of each of {users:,} users, up to {last:%-d %B %Y}. These visits are still to come."
    if shown.followed:
        expected, counted = shown.calibration()
        line = (
            f"{shown.followed:,} of {users:,} users checked in later: the {number_word(LIKELY_PLACES)} most expected "
            f"places were to get {expected:.0f} of these visits and got {counted:,}."
        )
    if at is not None:
        line = f"{users:,} users, each after the last check-in up to {last:%-d %B %Y}."
        if shown.followed:
            line = (
                f"{line} {shown.followed:,} of them have the next one within {COUNTED_MINUTES} minutes of this time: "
                f"the first {number_word(LIKELY_PLACES)} places were to have {expected:.0f} and had {counted:,}."
            )
        headline = f"At {at:%a %H:%M}, if all check in then, :blue[{best}] leads: {most:.1f} users there."
        return headline, " ".join([line, *shown.notes])
    headline = f"Most next visits are expected at :blue[{best}]: {most:.0f} of {users:,}."
    return headline, " ".join([line, *shown.notes])


def _closed(shown: Everyone, at: datetime | None) -> str:
    """Where the expected number of closed places goes."""
    changes, names = shown.changes, shown_names(shown.changes).map(markdown_text)
    is_closed = changes[c.POI].isin(shown.closed)
    one = len(shown.closed) == 1
    who, its = (names[is_closed].iloc[0], "its") if one else (f"{len(shown.closed)} places", "their")
    what = "expected next visits" if at is None else f"users at {at:%a %H:%M}, if all check in then,"
    moved, gain = -changes[CHANGE][is_closed].sum(), changes[CHANGE][~is_closed].iloc[0]
    best = names[~is_closed].iloc[0]
    return f"Without {who}, {its} {moved:.1f} {what} go elsewhere: :blue[{best}] gains most, {gain:.2f}."
