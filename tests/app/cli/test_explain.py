"""`recap explain`, ablations and checks as a shell sees them."""

import re
from pathlib import Path

import pytest

from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.links import CaseLink
from analysis.workspace import Workspace
from recap.data.dataset import Dataset
from recap.features.catalogue import WHENEVER
from recap.history.moments import find_moment
from recap.presets import recap as recap_config
from tests.cli_runner import recap_here, recap_json_here
from tests.learn_worlds import DEMO
from tests.untrained import write_untrained_checkpoint


@pytest.mark.parametrize("name", ["checkpoint", "paper"])
def test_the_bundled_models_are_explained(name: str) -> None:
    """Groups that sum to the score, paths and past visits; of the default at least five groups, paths with points."""
    asked = ("explain", DEMO / name, "--data", DEMO / "dataset", "--case", 2417)
    explained = CaseExplanation.parse(recap_json_here(*asked))
    assert sum(explained.a.groups.values()) == pytest.approx(explained.a.score, abs=1e-9) and explained.paths
    if name == "paper":
        assert list(explained.groups) == ["past visits", "correction", "core"]
        assert [entry.name for entry in explained.without][-1] == "graph_token"
    else:
        assert len(explained.groups) >= 5 and all(path.points is not None for path in explained.paths)
    text = recap_here(*asked).stdout
    assert explained.headline.text.split(",")[0] in " ".join(text.split())
    for part in ("What adds up to the score", "Two-hop paths", "Past visits to", "Graph token", "rank without"):
        assert part in text


def test_curves_and_what_parts_are_worth(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Every curve with its knots, of the paper's prior too; each part among all, known and new places."""
    checkpoint = write_untrained_checkpoint(Dataset.load(city_folder), tmp_path / "curves", config=recap_config())
    explained = recap_json_here("curves", checkpoint, "--data", city_folder)
    assert [curve["name"] for curve in explained["curves"]] == list(WHENEVER.names)
    assert all(len(curve["knots"]) == len(curve["points"]) == len(curve["amounts"]) for curve in explained["curves"])
    parts = {(row["among"], row["ablation"]) for row in explained["worth"]}
    assert {("known", "past_visits"), ("new", "two_hop_paths"), ("all", "graph_token")} <= parts
    paper = recap_json_here("curves", city_checkpoint, "--data", city_folder)
    assert [curve["name"] for curve in paper["curves"]] == ["count", "recency", "window"]
    assert paper["numbers"]["tau_rec"] > 0 and sum(paper["gates"]) > 0
    shown = recap_here("curves", city_checkpoint, "--data", city_folder).stdout
    assert {"Learned curves", "Recent window", "no or yes"} <= set(re.split(r"\n|  +", shown))
    assert "λ prior = " in shown and "_" not in shown


def test_edits_replay_from_the_command_line(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """Plain and with checks it is what Python says; --edit, the same edits in a link, and Python give one ranking."""
    asked, page = ("explain", city_checkpoint, "--data", city_folder), tmp_path / "page.html"
    predictor = Workspace.open(city_folder, city_checkpoint).predictor
    assert CaseExplanation.parse(recap_json_here(*asked, "--case", 3)) == explain_case(predictor, 3)
    checked = recap_json_here(*asked, "--case", "5,1", "--checks")
    assert [each["case"] for each in checked] == [5, 1]
    assert {"past visits", "core"} & {check["row"] for check in checked[0]["checks"]}
    assert "Is it stable?" in recap_here(*asked, "--case", 3, "--checks").stdout
    edits = ("remove:1", "hour:5")
    flags = [word for edit in edits for word in ("--edit", edit)]
    by_flags = recap_json_here(*asked, "--case", 3, *flags, "--html", page)
    by_link = recap_json_here(*asked, "--link", CaseLink.to(predictor, 3, edits=";".join(edits)).query)
    assert by_flags == by_link and by_link["edits"] == "remove:1;hour:05:00"
    assert by_link["what_if"]["target"]["rank"] == by_link["target_rank"]
    assert "What if" in page.read_text(encoding="utf-8") and explain_case(predictor, 3).what_if is None
    text = recap_here(*asked, "--case", 3, "--edit", "hour:5")
    assert text.returncode == 0 and "With hour:05:00: " in text.stdout


def test_a_user_at_a_moment(city_checkpoint: Path, city_folder: Path, tmp_path: Path) -> None:
    """What Python says from the last check-in; as of an earlier time the next check-in is the truth."""
    predictor = Workspace.open(city_folder, city_checkpoint).predictor
    end = find_moment(predictor.dataset, "user2")
    page, asked = tmp_path / "page.html", ("explain", city_checkpoint, "--data", city_folder, "--user", "user2")
    plain = recap_json_here(*asked, "--search", "--html", page)
    assert CaseExplanation.parse(plain) == explain_case(predictor, end, search=True)
    assert (plain["truth"], plain["truth_name"], plain["case"]) == (None, "not known yet", None)
    html = page.read_text(encoding="utf-8")
    assert "not known yet" in html and "user2" not in html
    text = " ".join(recap_here(*asked).stdout.split())
    assert text.startswith("User user2, from the last check-in: RECAP ranks ") and "◎" not in text
    time = predictor.dataset.local_time.iloc[end.row - 1]
    earlier = recap_json_here(*asked, "--as-of", time.isoformat())
    assert earlier["row"] == end.row - 1 and earlier["target"] == earlier["truth"] is not None
    said = " ".join(recap_here(*asked, "--as-of", time.isoformat()).stdout.split())
    assert said.startswith(f"User user2, as of {time.day} {time:%b, %H:%M}: ")
    link = CaseLink.to(predictor, end, edits="hour:5").query
    linked = ("explain", city_checkpoint, "--data", city_folder, "--link", link)
    assert recap_json_here(*linked) == recap_json_here(*asked, "--edit", "hour:5")
    assert recap_here(*linked).stdout.startswith("User 002, from the last check-in: After 1 change")


def test_ablations_in_long_tail(city_checkpoint: Path, city_folder: Path) -> None:
    """--full says what each group is worth and counts misses by kind; overview and `cases find` then know them too."""
    words = (city_checkpoint, "--data", city_folder)
    answer = recap_json_here("long-tail", *words, "--full")
    parts = {"history", "two_hops", "past_visits", "core", "correction", "graph_token"}
    assert {row["ablation"] for row in answer["worth"]} == parts
    assert all(row["mrr_low"] <= row["mrr"] <= row["mrr_high"] for row in answer["worth"])
    found = recap_json_here("cases", "find", *words, "--show", "history")
    assert found["n"] == len(found["cases"])
    missed = recap_json_here("cases", "find", *words, "--show", "missed")
    assert sum(row["n"] for row in answer["misses"]) == missed["n"]
    cards = recap_json_here("overview", *words)["cards"]
    assert all(card["rank"] <= 20 < card["rank_without"] for card in cards if card["kind"] != "missed")
    assert answer["metric"] == recap_json_here("overview", *words)["metric"] != "hr20"
    assert "Accuracy lost without each part" in recap_here("long-tail", *words, "--full").stdout
    assert "worth" not in recap_json_here("long-tail", "markov", "--data", city_folder, "--full")
