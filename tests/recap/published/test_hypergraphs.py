"""Small pieces of MSAHG and STHGCN against arithmetic that a reader can redo on paper."""

import math

import pytest
import torch

from recap import columns as c
from recap.history import CheckinTensors, Histories
from recap.published.city import City
from recap.published.hypergraphs import Msahg, downtown, locals_of, match
from recap.published.registry import build_published
from recap.published.sthgcn import NumberCode, Outline, SimilarTrajectories, Sthgcn, TrajectoryReader, kilometres
from tests.checkins import split_dataset
from tests.recap.published.test_arithmetic import approx, city_of, model_of
from tests.recap.published.variants import small_config


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_msahg_gives_locals_a_hypergraph_of_their_own() -> None:
    """Users at places 0, 1, 1 (two hours: a local) and 1, 2 (one hour): with values 1, 3, 5 users stand at 2 and 4."""
    city, _ = city_of([[0, 1, 1], [1, 2]], 3)
    model = build_published(small_config("msahg", local_days=1.5 / 24), city, torch.float64)
    assert isinstance(model, Msahg) and locals_of(city, 1.5 / 24).tolist() == [1, 0]
    whole, locals_, tourists = (model.graphs[f"collaborative{side}"](column(1, 3, 5)) for side in ("", "-1", "-0"))
    assert whole[:, 0].tolist() == approx([2.0, 3.0, 4.0])
    assert locals_[:, 0].tolist() == approx([2.0, 2.0, 0.0]) and tourists[:, 0].tolist() == approx([0.0, 4.0, 4.0])


def test_msahg_keeps_workdays_and_suburbs_apart() -> None:
    """All on one workday: nothing moves on weekends; places at one spot are all downtown, and near each other."""
    city, checkins = city_of([[0, 1], [1, 2]], 3)
    model = build_published(small_config("msahg"), city, torch.float64)
    assert isinstance(model, Msahg) and downtown(city).tolist() == [1, 1, 1]
    sides = model.scenarios(Histories(checkins, torch.tensor([0])))
    weekend = int(sides["time"])
    assert sides["place"].tolist() == [1] and weekend in (0, 1)
    assert model.graphs[f"temporal-{1 - weekend}"](column(1, 3, 5)).eq(0).all()
    # An hour each: place 0 in the first, 1 in the second and third, 2 in the fourth; no two share an hour.
    assert model.graphs["temporal"](column(1, 3, 5))[:, 0].tolist() == approx([1.0, 3.0, 5.0])
    assert model.graphs["geographic-1"](column(1, 3, 5))[:, 0].tolist() == approx([3.0, 3.0, 3.0])
    assert model.graphs["geographic-0"](column(1, 3, 5)).eq(0).all()


def test_msahg_takes_the_mean_of_a_cases_three_scenarios() -> None:
    """Gates of 0 halve every view: .5 (3 + 1 + 0 + 2) (1 + 0 + 1 + 1) = 9; a score is the mean of its three sides'."""
    model, checkins = model_of(Msahg, [[0, 1, 0, 2], [1, 2]], 3, dim=1)
    batch = Histories(checkins, torch.tensor([1]))
    with torch.no_grad():
        tables = model.tables()
        of_sides = [
            match(model.shares.values(), *model.matched(batch, tables, split, int(side)))
            for split, side in model.scenarios(batch).items()
        ]
        torch.testing.assert_close(model.logits(batch), (of_sides[0] + of_sides[1] + of_sides[2]) / 3)
        for share in model.shares.values():
            assert isinstance(share, torch.nn.Linear)
            share.weight.zero_()
            share.bias.zero_()
        users, places = ([column(value) for value in values] for values in ((3, 1, 0, 2), (1, 0, 1, 1)))
        assert float(match(model.shares.values(), users, places)) == 9.0


def test_sthgcn_finds_similar_earlier_trajectories_of_others() -> None:
    """A prefix at 0 and 1 shares 2 of 3 places with (0, 1, 2), 1 of 3 with (0, 3), none with (4); two do not count."""
    walks = [(0, [0, 3]), (1, [0, 1, 2]), (2, [4]), (3, [0, 1]), (3, [0, 1, 0, 5]), (4, [0, 1])]
    dataset = split_dataset([(user, [(poi, c.TRAIN) for poi in walk]) for user, walk in walks], num_pois=6)
    checkins = CheckinTensors.from_dataset(dataset)
    batch, outline = Histories(checkins, torch.tensor([10])), Outline.of(checkins)  # user 3, in his second trajectory
    prefixes, start = outline.prefixes(batch, 9), checkins.seconds_T[torch.tensor([8])]
    assert prefixes.row_H.tolist() == [8, 9, 10] and outline.first_J.tolist() == [0, 2, 5, 6, 8, 12]
    assert [found.tolist() for found in outline.earlier(batch, 5)] == [[0], [3]], "his own is a neighbour of its kind"
    find = SimilarTrajectories(City.of(dataset)).find
    assert [found.tolist() for found in find(prefixes, start, 5, 0.005)] == [[0, 0], [1, 0]]
    assert [found.tolist() for found in find(prefixes, start, 1, 0.005)] == [[0], [1]]
    assert find(prefixes, start, 5, 0.5)[1].tolist() == [1]
    # At a time when trajectory 1 had not ended, trajectory 0 is all there is.
    assert find(prefixes, start - 5 * 3600, 5, 0.005)[1].tolist() == [0]


def test_sthgcn_reads_a_trajectory_by_its_seed() -> None:
    """Messages 1 and -1, key 2, seed .5: LReLU(2 * .5) = 1 and LReLU(-1) = -.2; values are 3 times the message."""
    reader = TrajectoryReader(1, 1, 0.0).double()
    with torch.no_grad():
        for linear, weight in ((reader.key, 2.0), (reader.value, 3.0)):
            linear.weight.fill_(weight)
        reader.seed_AD.fill_(0.5)
        read = reader.attend(column(1, -1, 4), torch.tensor([0, 0, 1]), 2)
    share = math.exp(1.0) / (math.exp(1.0) + math.exp(-0.2))
    assert read[:, 0].tolist() == approx([3 * share - 3 * (1 - share) + 0.5, 12.5])


def test_sthgcn_attends_to_neighbours_by_scaled_products() -> None:
    """State 1 and messages 0 and log 3 in one head, all weights 1: shares 1/4 and 3/4, half own, half heard."""
    model, _ = model_of(Sthgcn, [[0, 1]], 2, heads=1, dim=1)
    width = 5
    with torch.no_grad():
        for linear in (model.query, model.key, model.value, model.skip, model.merge):
            linear.weight.copy_(torch.eye(width))
        for linear in (model.query, model.skip, model.merge):
            linear.bias.zero_()
        state = torch.zeros(2, width, dtype=torch.float64)
        state[:, 0] = math.sqrt(width)  # which the scale takes off again
        message = torch.zeros(2, width, dtype=torch.float64)
        message[1, 0] = math.log(3)
        heard = model.attend(state, message, torch.tensor([0, 0]))
    own = math.sqrt(width) / 2
    assert heard[:, 0].tolist() == approx([own + 0.75 * math.log(3) / 2, own]), "the second case has no neighbour"


def test_sthgcn_codes_numbers_by_cosines() -> None:
    """Speeds 1 and 10^-9, no phase: half a turn is -1 in the first, still 1 in the second; a degree has 111 km."""
    code = NumberCode(2).double()
    with torch.no_grad():
        code.mix.weight.copy_(torch.eye(2))
        assert code(torch.tensor([math.pi]))[0].tolist() == pytest.approx([-1.0, 1.0], abs=1e-6)
    angle = math.radians(1.0)
    ends = torch.tensor([[1.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]], dtype=torch.float64)
    assert float(kilometres(ends[:1], ends[1:])) == pytest.approx(111.195, abs=1e-3)
