"""Guess which column of an unknown table holds what, by the names that the field uses."""

import re
from typing import Final

from recap.data.parsing.options import FIELDS, REQUIRED_FIELDS
from recap.errors import DataError
from recap.printable import shortened

# Names as compared: lower case, only letters and digits. The first match in this order wins.
_NAMES: Final = {
    "user": ("user", "userid", "uid", "person", "personid", "entityid", "account", "device", "deviceid", "traveller"),
    "poi": (
        *("poi", "poiid", "venue", "venueid", "place", "placeid", "item", "itemid", "location", "locationid"),
        *("locid", "loc", "business", "businessid", "spot", "spotid", "stop", "stopid", "geoid"),
    ),
    "time": (
        *("time", "timestamp", "utctime", "utctimestamp", "timeutc", "datetime", "checkintime", "checkedinat"),
        *("visitedat", "createdat", "date", "localtime", "timelocal", "ts", "at"),
    ),
    "lat": ("latitude", "lat", "venuelatitude", "poilatitude", "y"),
    "lon": ("longitude", "lon", "lng", "long", "venuelongitude", "poilongitude", "x"),
    "category": (
        *("category", "categoryname", "venuecategory", "venuecategoryname", "poicatname", "poicategory", "catname"),
        *("kind", "type", "amenity"),
    ),
    "category_id": ("categoryid", "venuecategoryid", "poicatid", "catid", "poicategoryid"),
    "name": ("name", "poiname", "venuename", "placename", "locationname", "title"),
    "tz": (
        "tz",
        "timezoneoffset",
        "tzoffset",
        "tzoffsetminutes",
        "timezoneoffsetminutes",
        "utcoffset",
        "offsetminutes",
        "timezone",
        "timezoneid",
        "timezonename",
        "tzid",
        "tzname",
    ),
    "split": ("split", "splittag"),
    "trajectory": ("trajectoryid", "trajid", "tripid", "pseudosessiontrajectoryid", "trajectory"),
}


def plain_name(column: str) -> str:
    """A column's name as guesses compare it: small letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", column.lower())


def complete_mapping(given: dict[str, str], columns: list[str], name: str) -> dict[str, str]:
    """Add guesses to the fields that `--map` names.

    Args:
        given: field -> column.
        columns: the file's columns.
        name: file name for messages.

    Raises:
        DataError: a named column does not exist, or a required field can be neither found nor guessed; the message
            shows the columns and the option.
    """
    for field, column in given.items():
        if column not in columns:
            raise DataError(
                f"{name} has no column {column!r} for --map {field}={column}; its columns: {_list(columns)}"
            )
    mapping = dict(given)
    plain = {plain_name(column): column for column in reversed(columns)}
    for field, names in _NAMES.items():
        if field not in mapping:
            taken = set(mapping.values())
            found = next((plain[key] for key in names if key in plain and plain[key] not in taken), None)
            if found is not None:
                mapping[field] = found
    missing = [field for field in REQUIRED_FIELDS if field not in mapping]
    if missing:
        wanted = ",".join(f"{field}=COLUMN" for field in missing)
        raise DataError(
            f"{name}: cannot tell which column is {' and '.join(FIELDS[field] for field in missing)}; "
            f"name it with --map {wanted}. Its columns: {_list(columns)}"
        )
    return {field: mapping[field] for field in FIELDS if field in mapping}


def _list(columns: list[str]) -> str:
    return shortened(", ".join(columns), 200)
