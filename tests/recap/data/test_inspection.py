"""Inspection: each issue on a table small enough to see it, the page, and the command that writes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.data.checks import check_checkins
from recap.data.cleaning import DataConfig
from recap.data.inspection import HISTORY_ONLY_LABEL, Inspection, describe_read, look_at
from recap.data.reading import SOURCE_FORMATS, understand
from tests.checkins import raw_table, write_foursquare
from tests.shell import assert_refused, recap, recap_json
from tests.sources import write_source


def problems(raw: pd.DataFrame) -> dict[str, int]:
    return {problem.kind: problem.count for problem in check_checkins(raw)}


def inspected(path: Path, config: DataConfig) -> Inspection:
    _, read = look_at(path)
    assert read is not None
    return describe_read(read, config)


def clean(**changes: Any) -> pd.DataFrame:
    """Four check-ins without an issue, hours apart, in New York; columns may be replaced."""
    raw = raw_table([("ann", "home", 0.0), ("ann", "work", 3.0), ("ann", "home", 9.0), ("bob", "home", 1.0)])
    return raw.assign(**changes)


def test_a_clean_table_has_no_problem() -> None:
    assert check_checkins(clean()) == []


def test_repeats_and_ties() -> None:
    """home twice in one second is a repeat and a tie; work in that second is a tie only; bob's second is his own."""
    raw = raw_table([("ann", "home", 1.0), ("ann", "home", 1.0), ("ann", "work", 1.0), ("bob", "home", 1.0)])
    assert problems(raw.assign(**{c.LATITUDE: 40.0, c.LONGITUDE: -74.0})) == {"exact_duplicates": 1, "same_second": 2}


def test_impossible_speed() -> None:
    """111 km in an hour is fine, 1,112 km is not; at one instant 11 km is not; 4 km in a second is rounding."""
    zero, ten = np.array([0.0]), np.array([10.0])
    assert distance_km(zero, zero, ten, zero)[0] == pytest.approx(1111.9, abs=0.1)
    hours = [("ann", "a", 0.0), ("ann", "b", 1.0)]
    for degrees, expected in ((1.0, {}), (10.0, {"impossible_speed": 1})):
        assert problems(raw_table(hours).assign(**{c.LATITUDE: [40.0, 40 + degrees]})) == expected
    instant = raw_table([("ann", "a", 0.0), ("ann", "b", 1 / 3600)])
    assert problems(instant.assign(**{c.LATITUDE: [40.0, 40.1]})) == {"impossible_speed": 1}
    assert problems(instant.assign(**{c.LATITUDE: [40.0, 40.04]})) == {}
    two_users = raw_table([("ann", "a", 0.0), ("bob", "b", 1.0)])
    assert problems(two_users.assign(**{c.LATITUDE: [40.0, 50.0]})) == {}


def test_places_that_move_or_change() -> None:
    """home stands twice 1.1 km apart, and once as another category."""
    raw = clean()
    raw[c.LATITUDE] += [0.0, 0.0, 0.01, 0.0]
    (problem,) = check_checkins(raw)
    assert (problem.kind, problem.count) == ("moving_places", 1)
    assert "1 of them more than 200 m" in problem.title and problem.examples == ["home spreads over 1.11 km"]
    assert problems(clean(**{c.CATEGORY_ID: ["1", "2", "3", "1"]})) == {"changing_categories": 1}


def test_missing_categories() -> None:
    """None at all is one thing, some missing another."""
    none = clean(**{c.CATEGORY: pd.Categorical([""] * 4), c.CATEGORY_ID: pd.Categorical([""] * 4)})
    assert problems(none) == {"no_categories": 4}
    some = clean(**{c.CATEGORY: ["kind h", "", "kind h", "kind h"], c.CATEGORY_ID: ["1", "", "1", "1"]})
    assert problems(some) == {"missing_category": 1}


def test_gaps_where_the_file_is_dense() -> None:
    """Two check-ins an hour, then three days of silence; three days between four check-ins are no gap."""
    rows = [("ann", "home", hour / 2) for hour in range(200)] + [("ann", "home", 172 + hour / 2) for hour in range(200)]
    (problem,) = check_checkins(raw_table(rows))
    assert (problem.kind, problem.count) == ("time_gaps", 1)
    assert problem.examples == ["2012-04-06 11:30 to 2012-04-09 12:00 UTC"]
    assert problems(raw_table([("ann", "home", 72.0 * day) for day in range(4)])) == {}


def test_zones_dates_and_zeros() -> None:
    """New York with Tokyo's clock; midnights; latitude and longitude 0."""
    assert problems(clean(**{c.TZ_OFFSET_MINUTES: [540, -240, -240, -240]})) == {"odd_zone": 1}
    midnight: Any = pd.to_datetime(["2012-04-02", "2012-04-03", "2012-04-04", "2012-04-05"], utc=True)
    assert problems(clean(**{c.TIME: midnight})) == {"dates_only": 4}
    nowhere = clean(**{c.LATITUDE: 0.0, c.LONGITUDE: 0.0, c.TZ_OFFSET_MINUTES: 0})
    assert problems(nowhere) == {"null_island": 4}


def test_leaks_of_a_given_split() -> None:
    """Test before training ends, the same check-in in both, a trajectory across."""
    rows = [("ann", "home", 0.0), ("ann", "work", 1.0), ("ann", "home", 5.0), ("ann", "work", 6.0)]
    given: dict[str, Any] = {c.SPLIT: [0, 0, 1, 2], c.TRAJECTORY_ID: ["a", "a", "b", "c"]}
    good = raw_table(rows).assign(**given)
    assert problems(good) == {}
    mixed = good.assign(**{c.SPLIT: [0, 1, 0, 2]})
    assert problems(mixed) == {"split_not_in_time": 1, "split_trajectories": 1}
    repeated = raw_table([*rows, ("ann", "work", 1.0)]).assign(**{c.SPLIT: [0, 0, 1, 2, 2]})
    twice = {"exact_duplicates": 1, "same_second": 1}
    assert problems(repeated) == twice | {"split_not_in_time": 1, "in_train_and_test": 1}


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_every_format_is_inspected_without_options(tmp_path: Path, source_format: str) -> None:
    """Where a zone is missing, that of the coordinates is taken and said; the preview agrees with the protocol."""
    path, options = write_source(tmp_path, source_format)
    understood, found = understand(path), inspected(path, DataConfig())
    assert understood.source_format == source_format and understood.why
    assert found.facts["check-ins"] == found.account.rows_kept == 72
    is_missing = "--timezone" in str(found.account.notes) or understood.question is not None
    assert is_missing == (options.timezone is not None)
    assert len(found.first_rows) == 5
    assert found.preview.checkins == 72 - sum(found.preview.dropped.values())


def test_a_few_bad_lines_do_not_hide_a_format(tmp_path: Path) -> None:
    """More than half of the first lines decide."""
    path, _ = write_source(tmp_path, "foursquare")
    path.write_text("what\n" + path.read_text(encoding="latin-1"), encoding="latin-1")
    assert understand(path).source_format == "foursquare"


def test_the_preview_says_what_stays_as_history(tmp_path: Path) -> None:
    """Ann's last walk of two opens no case and stays; under a protocol of cases only it would be dropped."""
    rows = [("ann", "ab"[hour % 2], float(hour)) for hour in range(18)] + [("ann", "a", 200.0), ("ann", "b", 201.0)]
    path = write_foursquare(tmp_path / "city.txt", rows)
    config = DataConfig(min_poi_checkins=1, min_user_checkins=1)
    found = inspected(path, config)
    assert (found.preview.checkins, found.preview.history_only) == (18, 2)
    assert found.preview.left_out == {HISTORY_ONLY_LABEL: 2}
    only = config.model_copy(update={"history": "cases_only"})
    found = inspected(path, only)
    assert (found.preview.checkins, found.preview.history_only) == (18, 0)
    assert found.preview.left_out == {"left out: validation or test check-in in a trajectory shorter than 3": 2}


def test_bad_rows_become_problems(tmp_path: Path) -> None:
    """The same file that prepare refuses is inspected to its end."""
    path, _ = write_source(tmp_path, "foursquare")
    path.write_text(path.read_text(encoding="latin-1").replace("\t40.", "\t400.", 2), encoding="latin-1")
    found = inspected(path, DataConfig())
    (problem,) = [problem for problem in found.problems if problem.kind == "latitude"]
    assert problem.count == 2 and "city.txt line 1: latitude 400." in problem.examples[0]
    refused = inspected(path, DataConfig(min_poi_checkins=1000))
    assert "min_poi_checkins" in refused.preview.refusal and refused.preview.checkins == 0


def test_the_command(tmp_path: Path) -> None:
    """JSON for programs, text for people, nothing on the disk; a folder that holds no table is refused."""
    path, _ = write_source(tmp_path, "gowalla")
    found = recap_json("inspect", path)
    assert found["source_format"] == "gowalla" and found["facts"]["check-ins"] == 72
    assert sorted(item.name for item in tmp_path.iterdir()) == ["gowalla.txt"]
    text = recap("inspect", path)
    assert text.returncode == 0 and "Problems" in text.stdout and "no time zone" in text.stdout
    assert_refused(recap("inspect", tmp_path / "nowhere", "--json"), "does not exist")
