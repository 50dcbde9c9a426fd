"""Lesson 10: four points tell most users apart; places of few people as cells and coarse times hide some again."""

from typing import Final

from analysis.formatting import percent, user_name
from analysis.learn.charts import Bar, Bars
from analysis.learn.hiding import crowd_at, fitting, generalised_for, trail
from analysis.learn.lesson import Deeper, Handle, Lesson, LessonUnavailableError, Outline, Scene
from analysis.learn.measure import share_question
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from recap import columns as c

OUTLINE: Final = Outline(
    "privacy",
    "Whose traces these are",
    "A few points give a person away; k-anonymity takes detail away until they do not.",
    3,
    "Estimate how fast points identify a person, and say what k does.",
    (
        "Who knows four of your points from last week?",
        "What would you share of a trace, and at which k?",
    ),
    ("unicity", "k_anonymity", "cell"),
)
MOST_POINTS: Final = 6
POINTS: Final = 4
KS: Final = (2, 5, 10, 20, 50)
START_K: Final = 1


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: nobody has four points.
    """
    opened = world
    recorded, drawn = crowd_at(opened, 1).unicity(POINTS, as_recorded=True)
    told, _ = crowd_at(opened, KS[START_K]).unicity(POINTS)
    if recorded is None or told is None:
        raise LessonUnavailableError(f"In this city nobody has {POINTS} points.")
    guess = share_question(
        say(
            "Draw {points} points of a {user}: {place} and hour. For how many {users} does nobody else fit?",
            points=POINTS,
        ),
        recorded,
        fact=f"{percent(recorded, 1)} of {drawn:,} users are alone with {POINTS} points of theirs.",
        too_low="Few people share even two places at the same hours.",
        too_high="Here many people share places and hours.",
    )
    user = choose_user(opened)

    def scene(at: tuple[int, ...]) -> Scene:
        return _scene(opened, say, user, at[0] + 1, KS[at[1]])

    check = share_question(
        say(
            "Now {places} of fewer than {k} people are told as map cells, and times as weekday and part of the day. "
            "With {points} points, how many {users} are still alone?",
            k=KS[START_K],
            points=POINTS,
        ),
        told,
        fact=f"{percent(told, 1)} are, against {percent(recorded, 1)} as recorded.",
        too_low="Even coarse points add up: k hides a place, not a whole trace.",
        too_high="Cells and coarse times make many people look alike.",
    )
    return Lesson(
        OUTLINE,
        intro=say(
            "All lessons used traces of people. In {city} {whose}. A trace has no name on it. "
            "But who knows a few points of it may know whose it is. "
            "Take {user_name_of}: we tell you where they were, one {place} after the other.",
            city=world.name,
            whose="they are invented" if opened.dataset.manifest.synthetic else "they are real",
            user_name_of=user_name(user),
        ),
        prediction=guess,
        handles=(
            Handle("points", "Points told", tuple(str(n + 1) for n in range(MOST_POINTS)), POINTS - 1),
            Handle("k", "k: at least so many people must fit", tuple(map(str, KS)), START_K),
        ),
        scene=scene,
        lesson_learned=say(
            "A name is not what gives a person away. Points do. To hide each {place} alone is too little: all of them "
            "together must fit k people. When you share a case, RECAP can widen its cells until they do. It says how "
            "many fit."
        ),
        aside={
            "student": "Home, work, gym and a café: who else goes to all four?",
            "stakeholder": "Taking names out is not enough. Ask for k, and for how many points are shown.",
            "researcher": "Unicity after de Montjoye et al. (2013), mean over five draws for each user. The bars: "
            "k-anonymity of the whole trail, cells doubled from 0.02°.",
        },
        check=check,
        deeper=Deeper("cases", "Share a case safely in Cases"),
    )


def choose_user(opened: Workspace) -> int:
    """The user of the first test case, else the first one."""
    return int(opened.cases[c.USER].iloc[0]) if len(opened.cases) else 0


def _scene(opened: Workspace, say: Say, user: int, number: int, k: int) -> Scene:
    places = trail(opened, user, MOST_POINTS)[:number]
    fits = [fitting(opened, places[: at + 1]) for at in range(len(places))]
    told = generalised_for(opened, tuple(places), k)
    finding = say(
        "{n} of their {unit}: {alone} as recorded. Told for k = {k}, {fit}.",
        n=len(places),
        unit=say("{place}") if len(places) == 1 else say("{places}"),
        alone="only this person fits" if fits[-1] == 1 else f"{fits[-1]:,} people fit",
        k=k,
        fit=f"{told.fits:,} fit" if told.reached else f"only {told.fits:,} fit, which is too few to share",
    )
    bars = [
        Bar(
            say("{n} {unit}", n=at + 1, unit=say("{place}") if at == 0 else say("{places}")),
            count,
            f"{count:,}",
            "truth",
        )
        for at, count in enumerate(fits)
    ]
    bars.append(Bar(f"Told for k = {k}", told.fits, f"{told.fits:,}", "model"))
    says = f"{finding} People who fit: " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
    note = say(
        "Told one by one: {names}. For k the {places} become cells of at least {km} km. Times are not told.",
        names=", ".join(opened.labels[place] for place in places),
        km=f"{told.cell_km:.1f}",
    )
    return Scene(finding, (Bars(says, "People who fit", tuple(bars)),), note)
