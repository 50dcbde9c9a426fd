"""What Next says on a slide: pseudonyms, blurred places and no date, as on a shared page."""

from dataclasses import replace
from datetime import date, datetime

from analysis.figures.next_map import expected_bars
from analysis.sharing.places import masked_places
from analysis.sharing.share import INVENTED_NOTE, MASKED_NOTE
from analysis.trajectories.everyone import Everyone
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from app.cached import maps
from app.components.next import words
from app.components.present.add import Said, bar_picture
from app.sources import Source
from recap import columns as c
from recap.history.moments import Moment
from recap.machine.printable import unmarked
from recap.privacy import Generalisation


def say_prediction(
    source: Source, opened: Workspace, itinerary: Moment, prediction: CasePrediction, walked: Trajectory
) -> Said:
    """The first choice of one user, and the masked map; never what happened."""
    rule, prediction = Generalisation(), prediction.without_truth()
    masked = masked_places(opened, rule)
    named = prediction.candidates.assign(name=[masked.name[int(poi)] for poi in prediction.candidates[c.POI]])
    user = None if itinerary.is_new_user else rule.pseudonym(itinerary.user)
    when = words.on_weekday(itinerary.at)
    headline = words.headline(user, replace(prediction, candidates=named), changed=itinerary.is_changed, when=when)
    held = words.held_line(None if prediction.only_new else prediction.held_by, opened)
    note = INVENTED_NOTE if opened.dataset.manifest.synthetic else MASKED_NOTE
    picture = maps.walk_image(source, walked, prediction, "light", show_truth=False, show_paths=False, exact=False)
    return Said(unmarked(headline), " ".join(filter(None, (held, words.PROBABLE, note))), picture)


def say_everyone(everyone: Everyone, last: date, at: datetime | None) -> Said:
    """The place that leads, and the most expected places that may be named."""
    people = Generalisation().min_users
    bars = expected_bars(everyone.places, people)
    headline = unmarked(words.everyone(everyone, last, at)[0])
    caveat = words.everyone_caveat(len(everyone.users), people, at)
    return Said(headline, caveat, bar_picture([("", bars)], top=max([bar.value for bar in bars], default=1.0)))
