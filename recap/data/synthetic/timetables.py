"""What fills a day: errands by type of person, with their hours and how likely they are on each kind of day."""

from typing import Final, NamedTuple


class Errand(NamedTuple):
    """One possible stop of a day, in the order of the day.

    group: a venue group, or the person's own 'home', 'anchor' (workplace), 'family',
        'school run', 'airport', 'home_hub' and 'work_hub' (the stations next to them).
    start, end: local minutes of the day between which it begins. weekday, saturday, sunday: chance per mille.
    near: where a venue is sought from, 'here' (the last stop) or 'home'.
    """

    name: str
    group: str
    start: int
    end: int
    weekday: int
    saturday: int
    sunday: int
    near: str = "here"


_EVENING: Final = (
    Errand("dinner", "dinner", 1110, 1230, 200, 330, 200),
    Errand("show", "show", 1150, 1230, 35, 90, 45),
    Errand("night", "night", 1220, 1530, 150, 330, 80),
)
_HOMEWARD: Final = (
    Errand("shopping", "grocery", 1040, 1170, 300, 0, 0, "home"),
    Errand("training", "sport", 1030, 1160, 200, 0, 0, "home"),
)
_WEEKEND: Final = (
    Errand("brunch", "coffee", 560, 690, 0, 400, 420, "home"),
    Errand("weekly shop", "grocery", 600, 800, 0, 420, 170, "home"),
    Errand("weekend training", "sport", 580, 780, 0, 170, 170, "home"),
    Errand("browsing", "shop", 680, 960, 0, 320, 130),
    Errand("outing", "outdoor", 720, 1000, 0, 330, 420),
    Errand("culture", "culture", 720, 960, 0, 80, 130),
    Errand("weekend lunch", "lunch", 740, 850, 0, 150, 150),
    Errand("seeing friends", "friend", 900, 1100, 20, 100, 80),
    Errand("family", "family", 840, 1140, 35, 150, 250),
)
_HOME: Final = Errand("home", "home", 1110, 1560, 640, 520, 640)

TIMETABLES: Final[dict[str, tuple[Errand, ...]]] = {
    "worker": (
        Errand("early flight", "airport", 350, 420, 7, 5, 5),
        Errand("school run", "school run", 455, 490, 350, 0, 0),
        Errand("leaving", "home_hub", 425, 490, 450, 40, 40),
        Errand("arriving", "work_hub", 480, 520, 300, 0, 0),
        Errand("morning coffee", "coffee", 465, 540, 330, 0, 0),
        Errand("work", "anchor", 480, 560, 930, 60, 20),
        Errand("lunch", "lunch", 715, 800, 480, 0, 0),
        Errand("afternoon work", "anchor", 790, 850, 330, 0, 0),
        Errand("errand", "service", 840, 960, 50, 60, 0),
        Errand("meeting", "work", 850, 960, 130, 0, 0),
        Errand("break", "coffee", 890, 980, 130, 0, 0),
        *_WEEKEND,
        Errand("heading back", "work_hub", 1010, 1090, 300, 0, 0),
        Errand("browsing after work", "shop", 1010, 1110, 70, 0, 0),
        Errand("after-work drink", "night", 1020, 1130, 110, 0, 0),
        *_HOMEWARD,
        *_EVENING,
        _HOME,
    ),
    "student": (
        Errand("early flight", "airport", 350, 420, 4, 6, 4),
        Errand("leaving", "home_hub", 470, 540, 250, 20, 20),
        Errand("morning coffee", "coffee", 490, 580, 300, 0, 0),
        Errand("lectures", "campus", 500, 600, 780, 80, 40),
        Errand("second lecture", "campus", 620, 690, 500, 0, 0),
        Errand("lunch", "lunch", 715, 810, 500, 0, 0),
        Errand("afternoon lecture", "campus", 810, 900, 560, 60, 60),
        Errand("break", "coffee", 900, 1000, 200, 0, 0),
        *_WEEKEND,
        Errand("browsing after class", "shop", 980, 1090, 100, 0, 0),
        *_HOMEWARD,
        *_EVENING,
        Errand("student night", "night", 1260, 1400, 180, 300, 60),
        _HOME,
    ),
    "local": (
        Errand("early flight", "airport", 350, 420, 5, 5, 5),
        Errand("school run", "school run", 460, 500, 350, 0, 0),
        Errand("morning bread", "coffee", 450, 560, 420, 0, 0, "home"),
        Errand("morning training", "sport", 520, 620, 160, 0, 0, "home"),
        Errand("market", "grocery", 560, 690, 380, 0, 0, "home"),
        Errand("errand", "service", 600, 760, 220, 120, 0, "home"),
        Errand("lunch out", "lunch", 715, 810, 200, 0, 0),
        Errand("walk", "outdoor", 800, 960, 380, 0, 0, "home"),
        Errand("afternoon at home", "home", 780, 930, 250, 0, 0),
        Errand("browsing", "shop", 840, 1000, 130, 0, 0),
        *_WEEKEND,
        Errand("afternoon culture", "culture", 840, 960, 60, 0, 0),
        Errand("shopping", "grocery", 1020, 1130, 260, 0, 0, "home"),
        *_EVENING,
        _HOME,
    ),
    "visitor": (
        Errand("flight", "airport", 420, 480, 90, 90, 90),
        Errand("breakfast", "coffee", 500, 590, 450, 450, 450),
        Errand("first sight", "culture", 590, 680, 480, 480, 480),
        Errand("stroll", "outdoor", 660, 760, 500, 500, 500),
        Errand("lunch", "lunch", 730, 830, 520, 520, 520),
        Errand("second sight", "culture", 840, 930, 350, 350, 350),
        Errand("shopping", "shop", 870, 990, 400, 400, 300),
        Errand("coffee", "coffee", 930, 1010, 300, 300, 300),
        Errand("back at the hotel", "home", 1010, 1090, 450, 450, 450),
        Errand("dinner", "dinner", 1110, 1220, 700, 700, 700),
        Errand("show", "show", 1170, 1230, 120, 160, 100),
        Errand("night", "night", 1260, 1390, 350, 400, 250),
    ),
}
