"""Single cases and what comes next: what the batched evaluation says, without an answer."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.asking.counterfactuals import Counterfactual
from recap.asking.extension import extend_dataset
from recap.asking.open_model import open_model
from recap.asking.prediction import ASSUMED, CONTRIBUTION, Chosen, choose, expected_visits, is_counted, predict
from recap.asking.predictor import CaseRanker, Predictor
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import CaseError, ConfigError, ScoreError, VocabularyError
from recap.evaluation.cases import describe_cases
from recap.evaluation.ranks import rank_of
from recap.evaluation.scoring import evaluate, score_cases
from recap.history import moments
from recap.history.asked_times import parse_next_time, parse_time
from recap.history.tensors import Histories
from recap.probabilities import UNFITTED
from recap.published.network import PublishedScorer
from recap.scores import Scores
from recap.storage.frames import write_frames
from recap.training.run import train
from tests.checkins import raw_table, small_dataset
from tests.learn_worlds import DEMO
from tests.recap.asking.test_extension import last_rows, raw_rows, shortened
from tests.recap.published.variants import shaken, small_config
from tests.worlds import habit_rows, small_city


def listed(model: CaseRanker, chosen: Chosen, **options: bool | int) -> pd.DataFrame:
    return pd.concat(list(predict(model, chosen, **options)), ignore_index=True)  # type: ignore[arg-type]


def utc(dataset: Dataset, row: int) -> datetime:
    """The moment of a check-in."""
    return pd.Timestamp(dataset.checkins[c.TIME].iloc[row]).to_pydatetime()


def check_against_records(model: CaseRanker, count: int = 12) -> None:
    """Some test cases: as of their source, the user's list is the records', with its scores."""
    cases = describe_cases(model.dataset, model.graph)
    seconds = model.checkins.seconds_T.numpy()
    cases = cases[seconds[cases[c.ROW] + 1] > seconds[cases[c.ROW]]]  # else the target is known by then
    drawn = cases.iloc[np.linspace(0, len(cases) - 1, count).astype(int)]
    records = score_cases(model.scorer, drawn, model.checkins)
    for record in records.to_dict("records"):
        user = model.dataset.users[c.USER_ID].iloc[record[c.USER]]
        found = listed(model, choose(model, [user], utc(model.dataset, record[c.ROW])))
        ids = model.dataset.pois[c.POI_ID].to_numpy()[record[c.TOP_POIS]]
        assert found[c.POI_ID].tolist() == ids.tolist()
        np.testing.assert_allclose(found[c.SCORE], record[c.TOP_SCORES], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["checkpoint", "paper", "visit_count", "count_plus_markov", "lotnext"])
def test_the_list_at_a_source_is_the_records_list(name: str) -> None:
    if name == "lotnext":
        check_against_records(CaseRanker(None, small_city(), scorer=PublishedScorer(shaken(small_config(name)))))
        return
    data = Dataset.load(DEMO / "dataset")
    check_against_records(open_model(DEMO / name if (DEMO / name).is_dir() else name, data))


@pytest.fixture(scope="module")
def model() -> CaseRanker:
    """Visit counts and transitions over the small city."""
    return open_model("count_plus_markov", small_city())


@pytest.fixture(scope="module")
def curves() -> CaseRanker:
    """The baseline that has probabilities."""
    return open_model("feature_curves", small_city())


def test_columns_by_hand() -> None:
    """Anna: a0, b0, a0, then nothing: a0 twice, b0 once, c0 never; times in both clocks."""
    data = small_dataset([("anna", "a0", 0), ("anna", "b0", 1), ("anna", "a0", 2), ("ben", "c0", 0), ("ben", "c0", 1)])
    found = listed(open_model("visit_count", data), choose(open_model("visit_count", data), ["anna"]))
    assert found[c.POI_ID].tolist() == ["a0", "b0", "c0"] and found[c.RANK].tolist() == [1, 2, 3]
    assert found["visits"].tolist() == [2, 1, 0] and found["visited"].tolist() == [True, True, False]
    assert found[c.SCORE].tolist() == [2.0, 1.0, 0.0] and found["probability"].isna().all()
    assert found["as_of"].iloc[0] == pd.Timestamp("2012-04-02 10:00", tz="UTC")
    assert found["as_of_local"].iloc[0] == pd.Timestamp("2012-04-02 06:00")
    assert found["km"].iloc[0] == 0 and found["km"].iloc[1] == pytest.approx(1.4, abs=0.1)  # .01 degrees both ways


def test_without_a_moment_every_user_goes_on_from_the_last_check_in(model: CaseRanker) -> None:
    """A moment before the test weeks is said."""
    rows = choose(model).row_N
    user = model.checkins.user_T.numpy()
    assert rows.tolist() == [*np.flatnonzero(user[1:] != user[:-1]), len(user) - 1]
    early, late = utc(small_city(), 20), utc(small_city(), int(model.checkins.seconds_T.argmax()))
    assert "The model has seen this time: the test weeks begin on" in choose(model, None, early).notes[0]
    assert choose(model, None, late).notes == ()


def test_new_places_keep_their_probabilities(curves: CaseRanker) -> None:
    """The list without visited places is the whole list without them, ranked from 1."""
    chosen, places = choose(curves), curves.dataset.num_pois
    every, new = listed(curves, chosen, top=places), listed(curves, chosen, top=places, new_places=True)
    assert every.groupby("user_id")["probability"].sum().to_numpy() == pytest.approx(1)
    rest = every[~every["visited"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(new.drop(columns=c.RANK), rest.drop(columns=c.RANK))
    assert new.groupby("user_id")[c.RANK].apply(lambda ranks: ranks.tolist() == [*range(1, len(ranks) + 1)]).all()


@pytest.mark.parametrize("name", ["count_plus_markov", "feature_curves"])
def test_contributions_add_up_to_the_score(name: str) -> None:
    found = listed(*(opened := open_model(name, small_city()), choose(opened)), why=True)
    parts = found[[column for column in found if str(column).startswith(CONTRIBUTION)]]
    assert parts.shape[1] > 1
    np.testing.assert_allclose(parts.sum(axis=1), found[c.SCORE], rtol=0, atol=1e-9)


def test_shards_or_passes_together_are_one_run(curves: CaseRanker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with more shards than users, whose file has the same columns and no row; a chosen order is kept."""
    chosen = choose(curves)
    whole, parts = listed(curves, chosen), [listed(curves, chosen.part(slice(n - 1, None, 12))) for n in range(1, 13)]
    assert [len(part) for part in parts[8:]] == [0, 0, 0, 0] and list(parts[-1]) == list(whole)
    together = pd.concat([part for part in parts if len(part)]).sort_values([c.USER_ID, c.RANK], ignore_index=True)
    pd.testing.assert_frame_equal(together, whole, rtol=0, atol=1e-9)
    sums = sum(
        expected_visits(curves, chosen.part(slice(n - 1, None, 3))).set_index(c.POI_ID)["expected"] for n in (1, 2, 3)
    )
    expected = expected_visits(curves, chosen).set_index(c.POI_ID)["expected"]
    np.testing.assert_allclose(sums[expected.index], expected, rtol=0, atol=1e-9)  # type: ignore[index]
    monkeypatch.setattr("recap.asking.prediction.histories_per_pass", lambda places: 3)
    frames = list(predict(curves, chosen))
    assert len(frames) == 3
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), whole, rtol=0, atol=1e-9)
    two = listed(curves, choose(curves, ["user5", "user1", "user5"]))
    assert two[c.USER_ID].unique().tolist() == ["user5", "user1"]


def test_expected_visits_sum_over_users_and_are_counted_in_the_past(curves: CaseRanker) -> None:
    """As of the start of the test weeks: expected is one visit a user, counted one for each that went on.

    At a time given those are counted who check in within thirty minutes of it.
    """
    checkins = curves.dataset.checkins
    moment = checkins[checkins[c.SPLIT] == c.TEST][c.TIME].min().to_pydatetime()
    chosen = choose(curves, None, moment)
    table = expected_visits(curves, chosen)
    assert table["expected"].sum() == pytest.approx(len(chosen)) and table["expected"].is_monotonic_decreasing
    after = checkins[checkins[c.TIME] > moment].groupby(c.USER).head(1)[c.POI]
    counts = curves.dataset.pois[c.POI_ID].iloc[after].value_counts()
    assert table[table["counted"] > 0].set_index(c.POI_ID)["counted"].to_dict() == counts.to_dict()
    assert "counted" not in expected_visits(curves, choose(curves))
    row = int(curves.checkins.first_T[0])
    own = int(curves.checkins.local_seconds_T[row + 1])
    for minutes, counts in ((0, True), (30, True), (31, False), (-30, True)):
        asked = Chosen(np.array([row]), np.array([own + 60 * minutes]))
        assert is_counted(curves, asked).tolist() == [counts]


@pytest.mark.parametrize(("name", "at"), [("pretrained", None), ("pretrained", "mon 18:00"), ("visit_count", None)])
def test_a_closed_place_is_no_candidate(name: str, at: str | None) -> None:
    """Other probabilities grow by 1 / (1 - p), also with a fitted temperature; scores stay, changes add up to 0."""
    city = small_dataset(habit_rows(num_users=30, num_walks=12))
    model = open_model(name, city, given_time=at is not None)
    everything, time = {"top": city.num_pois}, parse_next_time(at)
    chosen, closed = choose(model, at=time), choose(model, at=time, without=["zoo", "a0", "zoo"])
    before, after = listed(model, chosen, **everything), listed(model, closed, **everything)
    assert ASSUMED in closed.notes and ASSUMED not in chosen.notes
    is_open = ~before[c.POI_ID].isin(["zoo", "a0"])
    left = before["probability"].where(is_open).groupby(before[c.USER_ID]).transform("sum")
    kept = before.assign(probability=before["probability"] / left)[is_open].reset_index(drop=True)
    kept[c.RANK] = kept.groupby(c.USER_ID).cumcount() + 1
    kept["probability"] += 0 if name == "pretrained" else np.nan
    pd.testing.assert_frame_equal(after, kept, rtol=0, atol=1e-9)
    assert not listed(model, closed, new_places=True, **everything)[c.POI_ID].isin(["zoo", "a0"]).any()
    if name == "pretrained":
        assert model.temperature != UNFITTED
        table = expected_visits(model, closed).set_index(c.POI_ID)
        assert table.loc[["zoo", "a0"], "expected"].tolist() == [0, 0] and abs(table["change"].sum()) < 1e-9
        for frame, column in ((before, "expected_before"), (after, "expected")):
            sums = frame.groupby(c.POI_ID)["probability"].sum()
            np.testing.assert_allclose(table[column][sums.index], sums, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["count_plus_markov", "feature_curves"])
def test_added_check_ins_go_on_where_the_data_set_ends(name: str, curves: CaseRanker) -> None:
    """Cut off and added again, users' last check-ins give the predictions of the whole data set."""
    city = small_city()
    tested = city.checkins[city.checkins[c.SPLIT] == c.TEST].groupby(c.USER).size()
    dropped = last_rows(city, tested.index[tested >= 2].tolist()[:3])
    short = shortened(city, dropped)
    extension, _ = extend_dataset(short, raw_rows(city, dropped))
    added = open_model(name, short, extension=extension)
    whole = open_model(name, city)
    pd.testing.assert_frame_equal(listed(added, choose(added)), listed(whole, choose(whole)), rtol=0, atol=1e-9)


def test_unknown_users_start_and_only_curves_score_unknown_places(curves: CaseRanker) -> None:
    raw = raw_table([("stranger", "a0", 5_000), ("stranger", "nowhere", 5_001)])
    extension, _ = extend_dataset(small_city(), raw)
    for name, new in (("feature_curves", 1), ("visit_count", 0)):
        model = open_model(name, small_city(), extension=extension)
        found = listed(model, choose(model, ["stranger"]), top=100)
        assert len(found) == small_city().num_pois + new and (found[c.POI_ID] == "nowhere").sum() == new
        assert found.set_index(c.POI_ID)["visits"]["a0"] == 1 and (found["km"] > 0).sum() == small_city().num_pois
    assert found[c.POI_ID].iloc[0] == "a0"


def test_unknown_places_change_no_fitted_number() -> None:
    """`pretrained` is fitted to the data set alone: others are predicted as without the added check-ins."""
    city = small_dataset(habit_rows(num_users=30, num_walks=12))
    raw = raw_table([("stranger", f"elsewhere {at}", 9_000.0 + at) for at in range(200)])
    extended, _ = extend_dataset(city, raw)
    added, alone = open_model("pretrained", city, extension=extended), open_model("pretrained", city)
    assert added.temperature == alone.temperature != UNFITTED
    found, before = (listed(one, choose(one, city.users[c.USER_ID].tolist()), top=300) for one in (added, alone))
    found = found[found[c.POI_ID].isin(city.pois[c.POI_ID])].reset_index(drop=True)
    given = [c.RANK, "probability"]  # among more places
    pd.testing.assert_frame_equal(found.drop(columns=given), before.drop(columns=given), rtol=0, atol=1e-9)


def test_an_unknown_user_gets_recaps_predictions_and_no_published_models(
    city_checkpoint: Path, city_folder: Path, tmp_path: Path
) -> None:
    """RECAP takes the mean of all users; a published model goes on for known users at known places only."""
    city = Dataset.load(city_folder)
    user, poi = city.users[c.USER_ID].iloc[0], city.pois[c.POI_ID].iloc[0]
    known, unknown = (extend_dataset(city, raw_table([(name, poi, 5_000)]))[0] for name in (user, "stranger"))
    assert train(city, small_config("lotnext").with_epochs(1), tmp_path / "lotnext", device=torch.device("cpu"))
    for folder in (city_checkpoint, tmp_path / "lotnext"):
        model = open_model(folder, city, extension=known)
        assert listed(model, choose(model, [user]))["km"].min() == 0
    model = open_model(city_checkpoint, city, extension=unknown)
    assert len(listed(model, choose(model, ["stranger"]))) == min(20, city.num_pois)
    with pytest.raises(VocabularyError, match="users"):
        open_model(tmp_path / "lotnext", city, extension=unknown)


def test_a_model_that_reads_the_targets_time_needs_one(tmp_path: Path) -> None:
    """The time is local where it has no zone; it cannot be before the last check-in."""
    config = small_config("rotan", target_time=True).with_epochs(1)
    assert train(small_city(), config, tmp_path / "rotan", device=torch.device("cpu")) is not None
    checkpoint = Checkpoint.load(tmp_path / "rotan")
    model = open_model(checkpoint.folder, small_city())

    def at(text: str) -> pd.DataFrame:
        return next(predict(model, choose(model, ["user0", "user1"], at=parse_next_time(text))))

    with pytest.raises(ConfigError, match=r"ROTAN.* reads the time of the next check-in; give it with --at"):
        choose(model)
    with pytest.raises(CaseError, match=r"--at 2012-04-02 00:00:00 is before the last check-in of user 'user0'"):
        choose(model, ["user0"], at=parse_next_time("2012-04-02"))
    local, same, other = (at(f"2013-01-01T{text}") for text in ("08:00", "12:00Z", "20:00"))
    pd.testing.assert_frame_equal(local, same)  # four hours behind UTC
    assert not local[c.SCORE].equals(other[c.SCORE])


def test_a_time_asked_for(home: Path) -> None:
    """A weekday is one date for all; who was seen later is left out and said; the last time itself is allowed."""
    model = open_model("visit_count_at_time", small_city())
    local_T, ids = small_city().local_time, small_city().users[c.USER_ID].tolist()
    rows = choose(model, at=parse_next_time("mon 18:00"))
    assert rows.next_N is not None and len(rows) == small_city().num_users and len(set(rows.next_N.tolist())) == 1
    monday = pd.Timestamp(int(rows.next_N[0]), unit="s")
    assert (monday.day_name(), monday.hour, monday.minute) == ("Monday", 18, 0)
    assert pd.Timedelta(0) < monday - local_T.max() <= pd.Timedelta(days=7)
    ends = local_T[moments.last_rows(small_city())].sort_values()
    between = choose(model, at=ends.iloc[2].to_pydatetime())
    assert len(between) == 3 and f"after the time given: {len(ends) - 3}" in between.notes[0]
    own = choose(model, ids[:1], at=ends[moments.last_rows(small_city())[0]].to_pydatetime())
    assert own.next_N is not None and own.next_N.tolist() == [int(model.checkins.local_seconds_T[own.row_N[0]])]
    early = ends.iloc[0] - pd.Timedelta(seconds=1)
    with pytest.raises(CaseError, match="is before the last check-in of every user: choose a later time"):
        choose(model, at=early.to_pydatetime())
    frame = listed(model, own)
    assert (frame["at_local"] == frame["as_of_local"]).all()
    note = choose(open_model("visit_count", small_city()), None, parse_time("2033-01-01")).notes
    assert note == ("--as-of is after every check-in and changes nothing; --at asks about a later time.",)
    for wrong in ("mon", "18:00", "mon 25:00", "someday 18:00"):
        with pytest.raises(ConfigError, match="--at expects a time such as"):
            parse_next_time(wrong)


class NotANumber:
    """A scorer whose second pass is NaN."""

    name, reads_target_time = "broken", False

    def score(self, histories: Histories) -> Scores:
        return Scores({"all": torch.full((len(histories), small_city().num_pois), torch.nan)})


def test_refusals(model: CaseRanker, tmp_path: Path) -> None:
    """One line each, and no file; the command's tests hold the others."""
    with pytest.raises(CaseError, match="the data set has no user 'nobody'; --user takes ids as in the raw table"):
        choose(model, ["user0", "nobody"])
    with pytest.raises(CaseError, match="the data set has no place 'nowhere'; --without takes ids as in the raw table"):
        choose(model, without=["zoo", "nowhere"])
    with pytest.raises(CaseError, match="no place is left to predict"):
        choose(model, without=model.dataset.pois[c.POI_ID])
    with pytest.raises(CaseError, match="every user has no check-in up to 2001-01-01"):
        choose(model, None, parse_time("2001-01-01"))
    with pytest.raises(ConfigError, match=r"--as-of expects a time such as .*, got 'NaN'"):
        parse_time("NaN")
    broken = CaseRanker(None, small_city(), scorer=NotANumber())
    with pytest.raises(ConfigError, match="broken gives one score for each place and no terms: leave out --why"):
        next(predict(broken, choose(broken), why=True))
    with pytest.raises(ScoreError, match="broken"):
        write_frames(predict(broken, choose(broken)), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_name_wins_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, city_checkpoint: Path) -> None:
    (tmp_path / "popularity").symlink_to(city_checkpoint)
    monkeypatch.chdir(tmp_path)
    assert open_model("popularity", small_city()).label == "popularity"
    assert open_model("./popularity", small_city()).label == "RECAP"


@pytest.fixture(scope="module")
def predictor(city_checkpoint: Path, city_folder: Path) -> Predictor:
    opened = open_model(city_checkpoint, Dataset.load(city_folder))
    assert isinstance(opened, Predictor)
    return opened


@pytest.fixture(scope="module")
def records(predictor: Predictor) -> pd.DataFrame:
    scorer = predictor.checkpoint.scorer(predictor.dataset, predictor.graph)
    return evaluate(scorer, predictor.dataset, predictor.graph).records


def test_a_case_alone_is_as_in_the_evaluation(predictor: Predictor, records: pd.DataFrame) -> None:
    """Case N is row N of the records, with user, source, target, counts and flags; score, parts and rank of every
    target to 1e-12; in float64 without gradients.
    """
    pd.testing.assert_frame_equal(predictor.cases, records[list(predictor.cases.columns)])
    for number in range(len(records)):
        case = predictor.case(number)
        scores = predictor.score(predictor.histories([int(case["row"])]))
        target, record = int(case["target"]), records.iloc[number]
        assert scores.total[0, target].item() == pytest.approx(record["score"], abs=1e-12)
        for name, part in scores.parts.items():
            assert part[0, target].item() == pytest.approx(record[f"part_{name}"], abs=1e-12)
        assert int((scores.total[0] > scores.total[0, target]).sum()) == record["num_better"]
    kinds = {(parameter.dtype, parameter.requires_grad) for parameter in predictor.model.parameters()}
    assert kinds == {(torch.float64, False)} and not predictor.model.training


def test_copies_with_changed_counts_keep_their_order(predictor: Predictor) -> None:
    """Copies with and without a changed count, mixed: each has the scores and the rank that it has alone."""
    history = predictor.history(predictor.moment(3))
    copies = [Counterfactual(history, edges={(history.source, poi): 50} if poi else {}) for poi in (1, 0, 2, 0, 1)]
    total_BP = predictor.score_counterfactuals(copies)
    alone_BP = torch.cat([predictor.score_counterfactuals([copy]) for copy in copies])
    torch.testing.assert_close(total_BP, alone_BP, rtol=0, atol=1e-9)
    assert len(torch.unique(total_BP, dim=0)) == 3
    ranks, scores = predictor.place_ranks(copies, 2).rank_B.tolist(), predictor.place_ranks(copies, 2).total_B
    assert ranks == [rank_of(total_P, 2) for total_P in total_BP] and torch.equal(scores, total_BP[:, 2])


def test_refuses_an_unknown_case(predictor: Predictor) -> None:
    """Named with the range there is; a dataset whose test period is empty says so."""
    for number in (-1, 24, 10**9):
        with pytest.raises(CaseError, match=f"no test case {number}; this dataset has cases 0 to 23"):
            predictor.case(number)
    dataset = predictor.dataset
    train_only = dataset.checkins.assign(**{c.SPLIT: c.TRAIN}).astype({c.SPLIT: "int8"})
    with pytest.raises(CaseError, match="no test case 0; this dataset has no test case"):
        Predictor(predictor.checkpoint, replace(dataset, checkins=train_only)).case(0)
