"""`pretrained` as the MODEL of commands, on tables of one person and of twelve."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recap.pretrained.curves_file import PretrainedCurves
from tests.shell import recap, recap_json


def write_table(path: Path, users: int, checkins: int, places: int) -> Path:
    """Check-ins without categories, three a day."""
    generator = np.random.default_rng(5)
    weights = 1.0 / np.arange(1, places + 1)
    rows = []
    for user in range(users):
        for at in range(checkins):
            place = int(generator.choice(places, p=weights / weights.sum()))
            moment = pd.Timestamp("2024-03-01 08:00", tz="UTC") + pd.Timedelta(hours=8 * at + user)
            rows.append((f"u{user}", f"place {place}", moment.isoformat(), 48.1 + place / 500, 11.5 + place / 700))
    frame = pd.DataFrame(rows, columns=["user", "place", "time", "latitude", "longitude"])
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("users", "checkins", "places"), [(1, 360, 30), (12, 60, 25)])
def test_small_tables_work_at_once(tmp_path: Path, users: int, checkins: int, places: int) -> None:
    """One person's table and one of twelve users: evaluate and explain without training and without a warning."""
    source, data = write_table(tmp_path / "mine.csv", users, checkins, places), tmp_path / "data"
    prepared = recap_json("prepare", source, "--out", data, "--timezone", "Europe/Berlin")
    assert prepared["kept"] == users * checkins and prepared["dropped"]["rare_poi"] == 0
    evaluate, explain = (
        ("evaluate", "pretrained", "--data", data),
        ("explain", "pretrained", "--data", data, "--case", 0),
    )
    evaluated, explained = recap(*evaluate), recap(*explain)
    assert evaluated.returncode == explained.returncode == 0 and "arning" not in evaluated.stderr + explained.stderr
    assert "Pretrained RECAP ranks" in " ".join(explained.stdout.split())
    assert recap_json(*evaluate)["all"]["mrr"] > 0.1
    fitted = recap_json(*evaluate, "--split", "val", "--protocol", "every_next")
    assert fitted["probabilities"]["log_likelihood"] > -np.log(places), "better than every place the same"
    terms = recap_json(*explain)["candidates"][0]["terms"]
    by_category = [points for name, points in terms.items() if "category" in name]
    assert by_category and not any(by_category)


def test_curves_say_where_they_were_learned(city_folder: Path) -> None:
    shown = recap("curves", "pretrained", "--data", city_folder)
    assert shown.returncode == 0 and "Learned in New York (Foursquare), " in " ".join(shown.stdout.split())
    assert recap_json("curves", "pretrained", "--data", city_folder)["learned_on"]


def test_the_better_one_is_named_by_its_letter(city_folder: Path) -> None:
    """In the table, whose title says which model A and B are: a long name would be cut. `pretrained` has no seed."""
    said = recap("compare", "nearest", "visit_count", "--metric", "mrr", "--data", city_folder).stdout
    assert "│ B  " in said and "A: Nearest, B: Visit count" in " ".join(said.split())
    words = ("compare", "nearest", "pretrained", "--data", city_folder)
    assert "Neither model has seeds" in recap(*words).stdout
    named, b = recap_json("evaluate", "pretrained", "--data", city_folder), recap_json(*words)["b"]
    assert (b["label"], b["key"], named["model"]) == ("RECAP, pretrained", named["checkpoint_hash"], "pretrained")


def test_the_file_is_made_by_one_command(city_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "curves.json"
    done = recap("experiment", "run", "pretrained", "--data", city_folder, "--out", out)
    assert done.returncode == 0 and "Curves learned in small" in done.stdout
    assert PretrainedCurves.load(out).protocol == "every_next"
