"""The stamps as a table: glyphs, words, ranks, and a finding that claims only what holds."""

from typing import Any

from analysis.explain.checks import CaseChecks
from analysis.explain.stamp_table import stamp_finding, stamp_lines
from analysis.explain.stamps import PathPeople, RowStamp
from analysis.figures.exact_share import plot_exact_share
from analysis.figures.palette import LIGHT


def stamp(row: str, verdict: Any, words: list[str], points: float, **more: Any) -> RowStamp:
    return RowStamp(
        row=row, label=row.replace("_", " ").capitalize(), verdict=verdict, words=words, points=points, **more
    )


CHECKS = CaseChecks(
    without={"own_revisits": 16.0, "two_hop_addends": 212.0, "core": 41.0, "distance": None},
    stamps=[
        stamp("own_visits", "no_points", ["no points"], 0.0),
        stamp("two_hop_addends", "holds", ["holds in 5 of 5 seeds"], 1.86, seeds=5, seeds_same=5, people=9),
        stamp("popularity", "partly", ["holds in 3 of 5 seeds"], 2.5, seeds=5, seeds_same=3),
        stamp("distance", "fails", ["no better than placebo", "holds in 5 of 5 seeds"], 3.0, seeds=5, seeds_same=5),
        stamp("core", "not_explained", ["not explained"], 0.0),
    ],
    path_people=[PathPeople(middle=3, people=9, trips=14), PathPeople(middle=4, people=1, trips=2)],
    exact_share=0.987,
)


def test_lines_hold_glyph_words_and_ranks() -> None:
    """Every verdict has its shape; a source that the model lacks has no rank; paths say whose trips they are."""
    lines = [
        (line.label, line.points, line.rank, line.chips) for line in stamp_lines(CHECKS, 16.0, ["Calder", "Saltmere"])
    ]
    assert lines == [
        ("Own visits", "0.00", "stays 16th", ["– no points"]),
        ("Two hop addends", "+1.86", "16th → 212th", ["● holds in 5 of 5 seeds", "9 people"]),
        ("Popularity", "+2.50", "–", ["◐ holds in 3 of 5 seeds"]),
        ("Distance", "+3.00", "–", ["○ no better than placebo", "holds in 5 of 5 seeds"]),
        ("Core", "–", "16th → 41st", ["○ not explained"]),
        ("Path through Calder", "", "", ["9 people's trips"]),
        ("Path through Saltmere", "", "", ["○ one person's trips"]),
    ]
    edited = CHECKS.model_copy(update={"without": None})
    assert {line.rank for line in stamp_lines(edited, 16.0, ["a", "b"])} == {"–", ""}


def test_the_finding_claims_only_what_holds() -> None:
    """Distance has more points and fails; popularity has more and holds in three seeds: two-hop paths are named."""
    assert stamp_finding(CHECKS) == "Most points among the rows that hold: Two hop addends, +1.86, in 5 of 5 seeds."
    without = CHECKS.model_copy(update={"stamps": [one for one in CHECKS.stamps if one.verdict != "holds"]})
    assert stamp_finding(without) == "No row that speaks for this place holds in 5 seeds and beats its placebos."
    alone = CHECKS.model_copy(update={"stamps": [stamp("distance", "partly", ["seeds not measured"], 3.0)]})
    assert stamp_finding(alone).startswith("Seeds not measured")


def test_the_bar_adds_up_in_words() -> None:
    """99 % exact leaves 1 % to the network; the two bars add up to the whole."""
    figure = plot_exact_share(CHECKS.exact_share, LIGHT)
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["<b>Explained exactly 99 %</b>", "opaque network 1 %"]
    assert sum(bar.x[0] for bar in figure.data) == 1.0
