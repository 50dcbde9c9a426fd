"""What kinds of venues the city has: how many, where, when they are busy, how often a visit there is checked in."""

from typing import Final, NamedTuple

KINDS: Final = ("centre", "harbour", "nightlife", "business", "works", "homes", "campus", "village", "town")
"""Kinds of districts, in the order of the digits of `Category.where`."""

# Busyness by hour of the day, one digit per hour from midnight; 0 is closed. (Monday to Friday, Saturday and Sunday)
_HOURS: Final = {
    "always": ("111111111111111111111111", "111111111111111111111111"),
    "office": ("000001368876777775421100", "000000011222222211000000"),
    "campus": ("000000039987788765432100", "000000002333333221000000"),
    "coffee": ("000000379976666655321000", "000000025899876654321000"),
    "lunch": ("000000000139999742221000", "000000000138998652110000"),
    "dinner": ("100000000002554113899642", "100000000003665335899743"),
    "night": ("532100000000000012456899", "864200000000112234568999"),
    "show": ("000000000000000002699630", "000000000000034446898630"),
    "shop": ("000000001355666668972000", "000000002588999997630000"),
    "grocery": ("000000135445555579974310", "000000124688888777532100"),
    "service": ("000000024666665677410000", "000000003676542110000000"),
    "sport": ("000003774323443268994200", "000000136887654455431000"),
    "outdoor": ("000001333333445567764200", "000000124678899987642100"),
    "culture": ("000000000356666653210000", "000000001588999875310000"),
    "market": ("000000134566654565420000", "000000379999875431000000"),
}


class Category(NamedTuple):
    """One kind of venue.

    venues: how many in a city of 620 people. group: the errand it serves. share: its part of the group when something
    new is tried. where: how thickly it lies in each of `KINDS` (a digit each). hours: a key of the busyness table.
    recorded: visits checked in, per mille. spread: how unequal venues are in appeal (0 alike, 3 very unequal).
    """

    name: str
    group: str
    venues: int
    share: int
    where: str
    hours: str
    recorded: int
    spread: int

    def busy(self, weekend: bool, hour: int) -> int:
        """Busyness 0 .. 9 at an hour of the local day."""
        return int(_HOURS[self.hours][weekend][hour])


CATEGORIES: Final = (
    Category("Residential Building", "home", 1100, 10, "212126224", "always", 280, 0),
    Category("Hotel", "hotel", 22, 10, "453310021", "always", 450, 1),
    Category("Office", "work", 860, 10, "444841111", "office", 440, 0),
    Category("Workshop", "work", 130, 10, "122082122", "office", 440, 0),
    Category("School", "work", 110, 10, "101012213", "office", 450, 1),
    Category("Medical Centre", "work", 34, 10, "211213213", "office", 450, 1),
    Category("Coworking Space", "work", 19, 10, "324530200", "office", 600, 1),
    Category("University Building", "campus", 110, 10, "000000900", "campus", 480, 1),
    Category("University Library", "campus", 7, 3, "000000900", "campus", 600, 1),
    Category("Train Station", "hub", 0, 0, "000000000", "always", 60, 0),
    Category("Bus Station", "hub", 0, 0, "000000000", "always", 70, 0),
    Category("Tram Stop", "hub", 0, 0, "000000000", "always", 70, 0),
    Category("Ferry Terminal", "hub", 0, 0, "000000000", "always", 110, 0),
    Category("Airport", "hub", 0, 0, "000000000", "always", 500, 0),
    Category("Café", "coffee", 350, 10, "555532323", "coffee", 420, 2),
    Category("Bakery", "coffee", 190, 6, "333213213", "coffee", 330, 2),
    Category("Tea Room", "coffee", 65, 2, "332111122", "coffee", 400, 2),
    Category("Sandwich Shop", "lunch", 176, 8, "434822411", "lunch", 330, 2),
    Category("Noodle Bar", "lunch", 139, 6, "446521311", "lunch", 380, 3),
    Category("Canteen", "lunch", 61, 4, "112632500", "lunch", 300, 1),
    Category("Food Hall", "lunch", 19, 3, "442311100", "lunch", 420, 3),
    Category("Restaurant", "dinner", 190, 8, "446312123", "dinner", 480, 2),
    Category("Seafood Restaurant", "dinner", 101, 5, "392111043", "dinner", 500, 3),
    Category("Pizzeria", "dinner", 113, 6, "335212213", "dinner", 440, 1),
    Category("Curry House", "dinner", 76, 4, "224113212", "dinner", 450, 2),
    Category("Bar", "night", 198, 10, "559321311", "night", 520, 2),
    Category("Pub", "night", 176, 9, "444222223", "night", 480, 2),
    Category("Jazz Club", "night", 17, 2, "319100000", "night", 560, 2),
    Category("Cinema", "show", 8, 6, "323101101", "show", 560, 2),
    Category("Theatre", "show", 7, 4, "415101100", "show", 600, 2),
    Category("Concert Hall", "show", 7, 4, "325110200", "show", 640, 2),
    Category("Clothing Shop", "shop", 72, 6, "654310112", "shop", 320, 3),
    Category("Bookshop", "shop", 35, 4, "534211511", "shop", 380, 1),
    Category("Record Shop", "shop", 17, 2, "326020300", "shop", 400, 2),
    Category("Gift Shop", "shop", 26, 2, "552100022", "shop", 320, 2),
    Category("Department Store", "shop", 8, 5, "513411001", "shop", 400, 3),
    Category("Hardware Shop", "shop", 29, 2, "111042013", "shop", 300, 2),
    Category("Grocery", "grocery", 302, 8, "223115223", "grocery", 330, 1),
    Category("Supermarket", "grocery", 126, 9, "112124113", "grocery", 340, 2),
    Category("Market", "grocery", 31, 4, "543111112", "market", 420, 2),
    Category("Pharmacy", "service", 52, 4, "322213112", "service", 260, 1),
    Category("Hairdresser", "service", 59, 3, "324213112", "service", 360, 1),
    Category("Post Office", "service", 29, 2, "211212112", "service", 240, 2),
    Category("Library", "service", 21, 3, "211112212", "service", 380, 1),
    Category("Gym", "sport", 176, 10, "334423312", "sport", 430, 1),
    Category("Swimming Pool", "sport", 31, 4, "111113312", "sport", 460, 2),
    Category("Climbing Hall", "sport", 14, 2, "001042200", "sport", 520, 2),
    Category("Sports Ground", "sport", 46, 2, "000023423", "sport", 380, 2),
    Category("Park", "outdoor", 42, 8, "000000000", "outdoor", 380, 2),
    Category("Playground", "outdoor", 34, 3, "111015113", "outdoor", 280, 1),
    Category("Square", "outdoor", 20, 4, "643211222", "outdoor", 320, 2),
    Category("Viewpoint", "outdoor", 20, 2, "141112142", "outdoor", 460, 1),
    Category("Beach", "outdoor", 17, 3, "000000000", "outdoor", 480, 2),
    Category("Museum", "culture", 10, 6, "632111310", "culture", 560, 2),
    Category("Gallery", "culture", 16, 4, "436231210", "culture", 460, 1),
)

CATEGORY_INDEX: Final = {category.name: index for index, category in enumerate(CATEGORIES)}
GROUPS: Final = {
    group: tuple(i for i, category in enumerate(CATEGORIES) if category.group == group)
    for group in dict.fromkeys(category.group for category in CATEGORIES)
}
BUSY: Final = tuple(
    tuple(tuple(category.busy(weekend, hour) for category in CATEGORIES) for hour in range(24))
    for weekend in (False, True)
)
"""Busyness by weekend (0 or 1), hour and category."""
