"""Invented names for venues: pleasant, without markup, unique within a city, and none of a real brand on purpose."""

from typing import Final

from recap.data.synthetic.draws import Draws


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STEMS: Final = _words(
    """
    Alder Amber Anchor Ashling Barnacle Beacon Bellweather Birch Bramble Brine Cinder Cockle Copperfield Coral
    Cormorant Cowrie Curlew Dapple Dovecote Driftwood Dunlin Eelgrass Elder Ember Estuary Fathom Fennel Fernlea
    Foxglove Gannet Gorse Greyling Gullwing Halyard Harebell Hawser Hazel Headland Heather Heron Hollin Ironstone
    Ivy Jetty Juniper Kelp Kestrel Kittiwake Lantern Lapwing Larch Lavender Limpet Linden Linnet Lobelia Mallow
    Marram Meadow Merrow Mistral Moorhen Moss Nettle Oakum Osprey Oyster Pebble Petrel Pilchard Plover Primrose
    Quill Quince Rigger Rosemary Rowan Saffron Samphire Sandling Sedge Shale Shearwater Shingle Skylark Slate Sorrel
    Spindrift Starling Stonecrop Swift Tamarisk Tansy Teasel Thistle Tideway Tidewell Topsail Turnstone Vesper
    Wagtail Waverley Whelk Willow Wren Yarrow
    """
)
_SURNAMES: Final = _words(
    """
    Abberley Arkwell Ashdowne Bellamore Birtwhistle Braddock Brannock Calloway Carrick Corrin Crossfold Dallimore
    Denholme Dunmarsh Ellery Fairlock Fenwright Garrow Gellatly Haddow Harkness Hathersedge Heskett Holloway
    Inglebright Jessop Kellaway Kerrow Langmere Larkins Lorimer Maddern Marlowe Merriden Mossley Nankervis Norwell
    Ormsby Ottery Pascoe Pellow Penhale Quennell Rackham Redfern Rosewarne Rudd Sandry Selwood Skerritt Tallack
    Tangye Thackery Tregarth Truscott Underhay Varcoe Venning Wainscott Warrick Whitlow Winnard Yeoland Zealey
    """
)
_ADJECTIVES: Final = _words(
    """
    Amber Blue Brass Bright Broken Copper Crooked Dancing Drowsy Early Faded Floating Gentle Gilded Golden Green
    Hidden Hungry Idle Iron Jolly Kindly Late Little Long Lucky Merry Midnight Mossy Narrow Northern Old Painted
    Paper Patient Pickled Plain Quiet Rusty Salty Second Seven Silver Singing Sleepy Slow Southern Spare Striped
    Sunday Tall Tiny Travelling Upper Velvet Wandering Whistling Wooden Yellow
    """
)
_NOUNS: Final = _words(
    """
    Albatross Almanac Apron Arcade Barrel Basket Bell Bicycle Boathouse Bobbin Bonnet Bucket Button Cabin Candle
    Captain Cartographer Compass Cork Crane Crate Cupboard Curlew Dinghy Dory Drum Ferryman Fiddle Fig Fork Gull
    Hammock Hare Harbour Hatch Heron Kettle Keyhole Kite Ladder Ladle Lamp Lantern Lemon Lighthouse Magpie Mast
    Mermaid Mitten Moon Needle Net Oar Onion Orchard Otter Owl Parcel Parrot Pear Pelican Pepper Pilot Plum Pocket
    Porthole Postcard Quilt Radish Rook Rope Rudder Sail Saucer Seal Shell Shutter Skein Spoon Spyglass Staircase
    Starfish Stove Table Teapot Thimble Tide Trawler Umbrella Wagon Walnut Weathervane Whale Whistle Window
    """
)
_STREETS: Final = _words(
    """
    Alma Bakehouse Bellfounder Boatyard Bridge Candlemaker Cannery Canal Chandler Chapel Cistern Cooper Crane
    Customs Dock Drapery Dyer Exchange Fishmarket Fountain Foundry Gatehouse Glassworks Granary Guildhall Hawthorn
    Herring Hill Kiln Lantern Lighthouse Lock Loom Malthouse Mariner Mercer Mill Mole Netmaker Orchard Packet
    Paddock Parade Pilot Pump Quarry Quayside Rampart Reservoir Ropery Sailmaker Saltpan Ship Signal Sluice Smithy
    Spinner Station Tannery Terrace Tidewater Timber Tollhouse Towpath Victualler Viaduct Vine Wash Watchtower
    Weaver Weir Wharf
    """
)
_WAYS: Final = ("Street", "Lane", "Row", "Hill", "Yard", "Square", "Walk", "Steps")

# By category; {a} adjective, {n} noun, {s} stem, {p} and {q} surnames, {r} {w} street, {d} district
_PATTERNS: Final[dict[str, tuple[str, ...]]] = {
    "Residential Building": (
        "{s} Court", "{s} House", "{s} Terrace", "{s} Flats", "{s} Lodge", "{s} Gardens", "{s} Mews", "{r} {w} Flats",
    ),
    "Hotel": ("Hotel {s}", "The {a} {n} Hotel", "{d} Guest House", "{s} Inn"),
    "Office": (
        "{p} & {q}", "{p} Surveyors", "{p} Architects", "{s} Chartering", "{p} & {q} Accountants", "{s} Software",
        "{p} Legal", "{s} Design Office", "{p} Underwriters", "{s} Press", "{s} Freight", "{p} Partners",
        "{s} Engineers", "{r} {w} Studios", "{s} Data Works", "{p} Translators",
    ),
    "Workshop": (
        "{p} Boatbuilders", "{s} Joinery", "{p} Engineering Shop", "{s} Ceramics", "{p} Sail Loft", "{s} Printworks",
    ),
    "School": ("{d} School", "{s} Primary School", "{s} Grammar School", "{r} {w} School"),
    "Medical Centre": ("{d} Health Centre", "{r} {w} Surgery", "{s} Clinic", "{s} Dental Practice"),
    "Coworking Space": ("{s} Desks", "The {a} Desk", "{r} {w} Workrooms"),
    "University Building": (
        "Faculty of Tidal Studies", "School of Navigation", "Institute of Salt Chemistry", "Faculty of Letters",
        "{p} Building", "{p} Hall", "{p} Laboratory", "{p} Lecture Theatre",
    ),
    "University Library": ("{p} Library", "Scholars' Reading Room"),
    "Café": ("The {a} {n}", "{s} Coffee", "{r} {w} Café", "{a} {n} Café", "Café {s}"),
    "Bakery": ("{s} Bakery", "{r} {w} Bakery", "{p}'s Bread", "The {a} Loaf"),
    "Tea Room": ("{s} Tea Room", "The {a} Teapot", "{p}'s Tea Room"),
    "Sandwich Shop": ("{p}'s Sandwiches", "The {a} Crust", "{s} Deli", "{r} {w} Deli"),
    "Noodle Bar": ("{r} {w} Noodles", "{s} Noodle Bar", "The {a} Bowl"),
    "Canteen": ("{s} Canteen", "{r} {w} Canteen", "{d} Canteen"),
    "Food Hall": ("{r} Food Hall", "{d} Food Hall"),
    "Restaurant": ("The {a} {n}", "{p}'s Table", "{s} Kitchen", "{r} {w} Kitchen", "Restaurant {s}"),
    "Seafood Restaurant": (
        "The {a} Oyster", "{p}'s Fish House", "{s} Seafood", "The {a} Lobster Pot", "{r} {w} Fish Bar",
    ),
    "Pizzeria": ("Pizzeria {s}", "{p}'s Pizza", "{r} {w} Pizza"),
    "Curry House": ("{s} Curry House", "The {a} Cardamom", "{r} {w} Spice Kitchen"),
    "Bar": ("{a} {n} Bar", "Bar {s}", "The {a} {n}", "{r} {w} Bar"),
    "Pub": ("The {n} and {s}", "The {a} {n}", "{p} Arms", "The {s} Tavern"),
    "Jazz Club": ("{a} {n} Jazz Club", "The {s} Room"),
    "Cinema": ("{s} Picture House", "{d} Cinema"),
    "Theatre": ("{s} Theatre", "{r} {w} Playhouse"),
    "Concert Hall": ("{s} Hall", "{d} Music Hall"),
    "Clothing Shop": ("{p} Outfitters", "{s} Clothing", "{a} Thread", "{p}'s Knitwear"),
    "Bookshop": ("{p} Books", "The {a} Page", "{s} Bookshop", "{r} {w} Books"),
    "Record Shop": ("{a} {n} Records", "{s} Records"),
    "Gift Shop": ("{s} Gifts", "The {a} {n} Gift Shop"),
    "Department Store": ("{p} & {q} Department Store", "{d} Galleries"),
    "Hardware Shop": ("{p} Hardware", "{s} Ironmongers"),
    "Grocery": ("{p}'s Grocery", "{s} Stores", "{r} {w} Grocery", "{d} Corner Shop"),
    "Supermarket": ("{s} Market Hall", "{d} Supermarket", "{s} Foods", "{r} {w} Supermarket"),
    "Market": ("{r} Market", "{d} Market"),
    "Pharmacy": ("{p} Pharmacy", "{s} Pharmacy", "{r} {w} Pharmacy"),
    "Hairdresser": ("{p} Hair", "The {a} Comb", "{s} Hairdressing"),
    "Post Office": ("{r} {w} Post Office", "{d} Post Office"),
    "Library": ("{d} Library", "{s} Reading Room"),
    "Gym": ("{s} Gym", "{d} Gym", "{r} {w} Gym", "The {a} Barbell"),
    "Swimming Pool": ("{d} Baths", "{s} Pool", "{s} Lido"),
    "Climbing Hall": ("{s} Climbing Hall", "The {a} Overhang"),
    "Sports Ground": ("{d} Sports Ground", "{s} Playing Fields"),
    "Park": ("{s} Green", "{s} Gardens Gate", "{d} Bandstand", "{s} Meadow", "{s} Glade"),
    "Playground": ("{s} Playground", "{d} Playground", "{r} {w} Playground"),
    "Square": ("{r} Square", "{d} Cross", "{r} Place"),
    "Viewpoint": ("{s} Lookout", "{r} Hill View", "{s} Point"),
    "Beach": ("{s} Beach", "{s} Sands", "{s} Cove"),
    "Museum": ("{s} Museum", "Museum of Ropes and Sails", "Museum of the Bay", "{d} Museum"),
    "Gallery": ("{p} Gallery", "{s} Gallery", "Gallery {s}"),
}  # fmt: skip


def draw_name(category: str, district: str, taken: set[str], draws: Draws) -> str:
    """A new name for a venue; it is added to `taken`."""
    patterns = _PATTERNS[category]
    for attempt in range(200):
        name = patterns[draws.below(len(patterns))].format(
            a=_ADJECTIVES[draws.below(len(_ADJECTIVES))],
            n=_NOUNS[draws.below(len(_NOUNS))],
            s=_STEMS[draws.below(len(_STEMS))],
            p=_SURNAMES[draws.below(len(_SURNAMES))],
            q=_SURNAMES[draws.below(len(_SURNAMES))],
            r=_STREETS[draws.below(len(_STREETS))],
            w=_WAYS[draws.below(len(_WAYS))],
            d=district,
        )
        if attempt > 20:
            name = f"{name}, {_STREETS[draws.below(len(_STREETS))]} {_WAYS[draws.below(len(_WAYS))]}"
        if name not in taken:
            taken.add(name)
            return name
    raise AssertionError(f"no name left for {category} in {district}")
