"""A checkpoint outlives its dataset and its version: later check-ins, users and places; fields of earlier versions."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.config import Config
from recap.data.dataset import Dataset, hash_tables
from recap.data.preparation import prepare_dataset
from recap.errors import CheckpointError, ConfigError, RecapError, VocabularyError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.model.scorer import RecapScorer
from recap.scores import Scores
from recap.training_config import TrainConfig
from tests.checkins import LENIENT, raw_table, small_dataset
from tests.cli_runner import recap_here, recap_json_here
from tests.shell import assert_refused
from tests.spoiled import change_weights, write_sums_again
from tests.tiny import tiny
from tests.untrained import write_untrained_checkpoint
from tests.worlds import CURVES, all_cases, habit_rows, small_city, small_training

LATER = [("adam", "aaron's", 5.0), ("adam", "a1", 9.0), ("adam", "zoo", 12.0), ("user3", "aaron's", 900.0)]
"""A user and a place whose ids come first, so that every index moves; the place has a category of its own."""


def later_city() -> Dataset:
    """The small city with a new user and a new place, and later check-ins."""
    raw = raw_table([*habit_rows(), *LATER])
    is_new = raw[c.POI_ID] == "aaron's"
    raw[c.CATEGORY_ID] = raw[c.CATEGORY_ID].astype(str).where(~is_new, "id of #").astype("category")
    return prepare_dataset(raw, LENIENT, name="small", source_format="test")


def reversed_city(dataset: Dataset) -> Dataset:
    """The same check-ins with users, places and categories numbered from the other end."""
    pois = dataset.pois.take(range(dataset.num_pois)[::-1]).reset_index(drop=True)
    pois[c.CATEGORY_INDEX] = dataset.num_categories - 1 - pois[c.CATEGORY_INDEX]
    checkins = dataset.checkins.copy()
    checkins[c.POI] = (dataset.num_pois - 1 - checkins[c.POI]).astype(checkins[c.POI].dtype)
    checkins[c.USER] = (dataset.num_users - 1 - checkins[c.USER]).astype(checkins[c.USER].dtype)
    checkins = checkins.sort_values(c.USER, kind="stable").reset_index(drop=True)
    users = dataset.users.take(range(dataset.num_users)[::-1]).reset_index(drop=True)
    digest = hash_tables(checkins, pois, users)
    return Dataset(checkins, pois, users, dataset.manifest.model_copy(update={"dataset_hash": digest}))


def make_old(checkpoint: Path) -> None:
    """What formats 1 and 2 held: no coordinates, no hash of each user."""
    places = pq.read_table(checkpoint / "vocabulary.parquet").drop([c.LATITUDE, c.LONGITUDE])
    pq.write_table(places, checkpoint / "vocabulary.parquet")
    (checkpoint / "users.parquet").unlink()
    manifest = json.loads((checkpoint / "checkpoint.json").read_text()) | {"format_version": 1}
    (checkpoint / "checkpoint.json").write_text(json.dumps(manifest))
    write_sums_again(checkpoint)


def scored(checkpoint: Path, dataset: Dataset) -> tuple[Scores, RecapScorer, Histories]:
    """Scores after every source row of the dataset's cases."""
    scorer = Checkpoint.load(checkpoint).scorer(dataset, TransitionGraph.from_dataset(dataset))
    histories = Histories(CheckinTensors.from_dataset(dataset), all_cases(dataset))
    assert isinstance(scorer, RecapScorer)
    return scorer.score(histories), scorer, histories


@pytest.fixture(params=["paper", "curves"])
def checkpoint(request: pytest.FixtureRequest, city_checkpoint: Path, tmp_path: Path) -> Path:
    """A trained checkpoint of the small city with the paper's prior, and an untrained one with curves."""
    if request.param == "paper":
        return Path(shutil.copytree(city_checkpoint, tmp_path / "checkpoint"))
    config = small_training(model=CURVES)
    return write_untrained_checkpoint(small_city(), tmp_path / "checkpoint", config=config)


def test_another_order_moves_every_row(checkpoint: Path) -> None:
    """Users, places and categories with other indices: the same scores, at the other indices."""
    here, there = small_city(), reversed_city(small_city())
    before, _, _ = scored(checkpoint, here)
    after, _, histories = scored(checkpoint, there)
    source_row = here.checkins[c.SOURCE_ROW].to_numpy()[all_cases(here)]
    found = there.checkins[c.SOURCE_ROW].to_numpy()[histories.row_B]
    at = pd.Index(found).get_indexer(source_row)
    assert sorted(at) == list(range(len(at)))
    torch.testing.assert_close(after.total.flip(1)[torch.from_numpy(at)], before.total, rtol=0, atol=1e-9)
    match = Checkpoint.load(checkpoint).match(there)
    assert match is not None and match.line.endswith(f"0 of {here.num_users} users, 0 of {here.num_pois} places.")


def test_old_formats_score_their_own_dataset_to_the_last_bit(checkpoint: Path) -> None:
    """Formats 1 and 3 give equal numbers, and so does the dataset when its rows are only described again."""
    dataset = small_city()
    before, _, _ = scored(checkpoint, dataset)
    again = replace(dataset, manifest=dataset.manifest.model_copy(update={"dataset_hash": "0" * 64}))
    assert torch.equal(scored(checkpoint, again)[0].total, before.total)
    make_old(checkpoint)
    assert torch.equal(scored(checkpoint, dataset)[0].total, before.total)
    assert torch.equal(scored(checkpoint, again)[0].total, before.total)


def test_new_places_users_and_categories_are_means(checkpoint: Path) -> None:
    """A new place's core score is the log of the mean of exp(core) over the known ones; contributions add up."""
    dataset = later_city()
    scores, scorer, histories = scored(checkpoint, dataset)
    match = Checkpoint.load(checkpoint).match(dataset)
    assert match is not None and (match.new_users, match.new_places) == (1, 1)
    assert match.line.endswith("1 of 9 users, 1 of 18 places.") and (match.category_K < 0).sum() == 1
    model, core = scorer.model, scorer.model.core
    assert core is not None
    new, adam = dataset.pois[c.POI_ID].tolist().index("aaron's"), dataset.users[c.USER_ID].tolist().index("adam")
    kept = [poi for poi in range(dataset.num_pois) if poi != new]
    for weight, row in (
        (model.poi_embedding.weight, new),
        (model.backbone.user_embedding.weight, adam),
        (model.tokens.category_embedding.weight, int(dataset.pois[c.CATEGORY_INDEX][new])),
    ):
        known = weight[[at for at in range(len(weight)) if at != row]]
        torch.testing.assert_close(weight[row], known.mean(0), rtol=0, atol=1e-12)
    own = scored(checkpoint, small_city())[1].model.tokens.coordinates_P2
    torch.testing.assert_close(model.tokens.coordinates_P2[kept], own, rtol=0, atol=1e-12)
    core_BP = core(model.encode(histories, scorer.stage))
    torch.testing.assert_close(core_BP[:, new], core_BP[:, kept].exp().mean(1).log(), rtol=0, atol=1e-12)
    pois = [new, kept[0]]
    sums_BK = scorer.contributions(histories, torch.tensor(pois).expand(len(histories), -1)).sum(2)
    torch.testing.assert_close(sums_BK, scores.total[:, pois], rtol=0, atol=1e-9)


def test_the_commands_say_what_is_new(checkpoint: Path, tmp_path: Path) -> None:
    """In one line next to the answer; a refusal is one line without it."""
    later_city().save(tmp_path / "later")
    line = "New to the checkpoint, which was trained on another dataset: 1 of 9 users, 1 of 18 places."
    commands = (("evaluate", checkpoint), ("explain", checkpoint, "--case", 0), ("compare", checkpoint, "markov"))
    for words in commands:
        result = recap_here(*words, "--data", tmp_path / "later")
        assert result.returncode == 0 and result.stderr.count(line) == 1, result.stderr
    found = recap_json_here("evaluate", checkpoint, "--data", tmp_path / "later", "--json")
    assert found["new_to_checkpoint"] == {"users": 1, "places": 1}
    change_weights(checkpoint, lambda tensors: tensors.update({"poi_embedding.weight": torch.zeros(3, 4)}))
    for words in (*commands[1:], ("curves", checkpoint)):
        assert_refused(recap_here(*words, "--data", tmp_path / "later"), "poi_embedding.weight")


def test_refuses_another_city(checkpoint: Path, tmp_path: Path) -> None:
    """Other ids, and the same ids elsewhere: one line with the count; nothing else opens as if it were this city."""
    city = small_city()

    def moved(degrees: float) -> Dataset:
        pois = city.pois.assign(**{c.LATITUDE: city.pois[c.LATITUDE] + degrees})
        digest = hash_tables(city.checkins, pois, city.users)
        named = {"dataset_hash": digest, "name": "elsewhere"}
        return replace(city, pois=pois, manifest=city.manifest.model_copy(update=named))

    other_ids = small_dataset([(user, f"other {poi}", hour) for user, poi, hour in habit_rows()])
    for name, dataset in {"ids": other_ids, "moved": moved(0.0091)}.items():
        dataset.save(tmp_path / name)
        for arguments in (["evaluate", checkpoint], ["explain", checkpoint, "--case", 0]):
            result = recap_here(*arguments, "--data", tmp_path / name)
            assert_refused(result, "was trained on dataset 'small'", "it knows 0 of the 17 places here")
    match = Checkpoint.load(checkpoint).match(moved(0.0089))
    assert match is not None and match.new_places == 0, "990 m away"


def test_half_of_the_places_are_enough(checkpoint: Path) -> None:
    """17 known places among 34 open it, among 35 they do not."""
    more = [("adam", f"new {number}", float(number)) for number in range(18)]
    match = Checkpoint.load(checkpoint).match(small_dataset([*habit_rows(), *more[:17]]))
    assert match is not None and match.new_places == 17
    with pytest.raises(VocabularyError, match="it knows 17 of the 35 places here"):
        Checkpoint.load(checkpoint).match(small_dataset([*habit_rows(), *more]))


def test_an_old_checkpoint_needs_all_its_places(checkpoint: Path) -> None:
    """Its users then count as new; without one of its places it is refused."""
    make_old(checkpoint)
    match = Checkpoint.load(checkpoint).match(later_city())
    assert match is not None and (match.new_users, match.new_places) == (9, 1)
    assert torch.isfinite(scored(checkpoint, later_city())[0].total).all()
    with pytest.raises(VocabularyError, match=r"1 of its 17 places are not here.*train again"):
        Checkpoint.load(checkpoint).match(small_dataset([row for row in habit_rows() if row[1] != "zoo"]))


def test_refuses_a_vocabulary_that_lies(checkpoint: Path) -> None:
    """A place twice, and more places than weights: one line each."""
    places = pq.read_table(checkpoint / "vocabulary.parquet").to_pandas()
    one_more = later_city().pois.query('poi_id == "aaron\'s"')[list(places)]
    for changed, line in (
        (pd.concat([places, places]), "a place occurs twice"),
        (pd.concat([places, one_more]), "too few for what the checkpoint knows"),
    ):
        changed.to_parquet(checkpoint / "vocabulary.parquet")
        write_sums_again(checkpoint)
        with pytest.raises(CheckpointError, match=line):
            scored(checkpoint, later_city())


MOST_FIELDS = 59


def leaves(kind: type[Config], prefix: str = "", *, retired: bool = False) -> Iterator[str]:
    """Paths of all fields that hold a value, however deep; or of those that earlier versions had."""
    if retired:
        yield from (prefix + name for name in kind.retired)
        assert not kind.retired.keys() & kind.model_fields.keys()
    for name, field in kind.model_fields.items():
        parts = [part for part in (field.annotation, *getattr(field.annotation, "__args__", ())) if is_config(part)]
        for part in parts:
            yield from leaves(part, f"{prefix}{name}.", retired=retired)
        if not parts and not retired:
            yield prefix + name


def is_config(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Config)


def put(values: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one field set, by its dotted path."""
    name, _, rest = path.partition(".")
    return values | {name: put(values[name], rest, value) if rest else value}


NEUTRAL: dict[str, Any] = {
    "fit_evidence": True,  # words: a field of earlier versions
    "order": "random",
    "model.evidence": None,  # words: a field of earlier versions
    "model.state": "last_checkin",
    "model.within_trajectory": False,
    "model.detach_context": False,
    "model.graph_dropout": 0.1,
    "model.max_candidates": 256,
    "model.prior.scale": 1.0,
    "model.prior.recency_weight": 0.5,
    "model.prior.window_weight": 2.0,
    "model.prior.max_prior": 10.0,
    "optimiser.evidence_learning_rate": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_learning_rate": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_penalty": 0.01,  # words: a field of earlier versions
    "optimiser.weighing_decay": 0.01,  # words: a field of earlier versions
}
REFUSED: dict[str, Any] = {
    "order": "by_user",
    "model.evidence": {"sessions": True},  # words: a field of earlier versions
    "model.state": "graph",
    "model.within_trajectory": True,
    "model.detach_context": True,
    "model.max_candidates": 64,
    "model.prior.max_prior": 2.0,
}


def test_every_retired_field_is_listed_here() -> None:
    """None is forgotten by the tests below, and none that is retired is a field; RECAP has few fields."""
    assert len(list(leaves(TrainConfig))) <= MOST_FIELDS
    assert set(leaves(TrainConfig, retired=True)) == {*NEUTRAL, "sampled_softmax.power"}


@pytest.mark.parametrize("path", NEUTRAL)
def test_a_retired_field_that_changed_nothing_is_read(path: str) -> None:
    """The configuration is the same as without it, and does not write it again."""
    values = tiny().model_dump(mode="json")
    assert TrainConfig.parse(put(values, path, NEUTRAL[path])) == tiny()


@pytest.mark.parametrize("path", REFUSED)
def test_a_retired_field_that_meant_something_is_refused_by_name(path: str) -> None:
    """One line: the field, what it was, what to do; to `--set` it is as unknown as any other."""
    with pytest.raises(ConfigError, match="train again") as refusal:
        TrainConfig.parse(put(tiny().model_dump(mode="json"), path, REFUSED[path]))
    message = str(refusal.value)
    assert "\n" not in message and f"{path.rpartition('.')[2]} was " in message and len(message) < 400
    with pytest.raises(ConfigError, match=f"unknown field '{path}'"):
        tiny().override([f"{path}=false"])


@pytest.mark.parametrize(
    ("path", "value", "opens"),
    [
        ("train.model.evidence", {"sessions": True, "weighing": {}}, False),  # words: a field of earlier versions
        ("train.model.evidence", None, True),  # words: a field of earlier versions
        ("train.model.state", "user", False),
        ("train.model.graph_dropout", 0.1, True),
        ("rebalanced", {"core_factor": 0.3}, True),  # words: a field of earlier versions
    ],
    ids=str,
)
def test_a_checkpoint_of_an_earlier_version(
    path: str, value: Any, opens: bool, city_checkpoint: Path, tmp_path: Path
) -> None:
    """Opened where its configuration still says all there is to say; else one line that names the field."""
    folder = tmp_path / "old"
    shutil.copytree(city_checkpoint, folder)
    manifest = json.loads((folder / "checkpoint.json").read_text("utf-8"))
    (folder / "checkpoint.json").write_text(json.dumps(put(manifest, path, value)), encoding="utf-8")
    write_sums_again(folder)
    if opens:
        assert Checkpoint.load(folder).manifest == Checkpoint.load(city_checkpoint).manifest
        return
    with pytest.raises(RecapError, match=f"{path.rpartition('.')[2]} was ") as refusal:
        Checkpoint.load(folder)
    assert isinstance(refusal.value, CheckpointError | ConfigError) and "\n" not in str(refusal.value)
