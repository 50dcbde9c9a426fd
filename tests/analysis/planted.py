"""Predictors for tests of explanations: small cities with shaken weights; and edits done once more by other means.

The second kind edits the rows of a copied dataset and scores with a model built again from it. Nothing is shared with
the code under test but the meaning of an edit: rows are dictionaries, order comes from sorting, the local clock is the
time zone column, the graph is counted from a plain dictionary.
"""

import json
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from analysis.explain.edits import Edit
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from tests.untrained import write_untrained_checkpoint
from tests.worlds import CURVES, batch_of, counted_graph, shake, small_city, small_training

MODELS: dict[str, dict[str, Any]] = {
    "paper": {},
    "recap": CURVES | {"core_scope": "unvisited", "use_correction": False},
    "corrected curves": CURVES | {"core_scope": "unvisited"},
    "curves alone": CURVES | {"core_scope": "nowhere", "use_graph": False, "use_correction": False},
    "core everywhere with curves": CURVES | {"num_hops": 3},
}
"""Changes of the small model, by kind of model."""


def predictor_of(dataset: Dataset, seed: int = 0, **changes: Any) -> Predictor:
    """A predictor with shaken weights, every enabled part active; changes are to the model."""
    config = small_training(model=changes, curriculum={"staged": False})
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint.load(write_untrained_checkpoint(dataset, Path(folder) / "checkpoint", config=config))
    torch.manual_seed(seed)
    model = Recap(config.model, dataset, TransitionGraph.from_dataset(dataset), torch.float64)
    if model.curves is not None:
        model.curves.curves.place_knots(
            model.curves.knot_values(batch_of(dataset, torch.from_numpy(dataset.cases(c.TRAIN))))
        )
    shake(model, seed)
    return Predictor(checkpoint, dataset, scorer=RecapScorer(model, checkpoint.stage))


def small_predictor(**changes: Any) -> Predictor:
    """`predictor_of` `small_city`, made once."""
    return _small(json.dumps(changes, sort_keys=True))


@cache
def _small(changes: str) -> Predictor:
    return predictor_of(small_city(), **json.loads(changes))


def rescore(predictor: Predictor, row: int, edits: tuple[Edit, ...]) -> torch.Tensor:
    """Totals (P,) of the case at a source row, from an edited dataset and a model built for it."""
    table = predictor.dataset.checkins.reset_index(drop=True)
    user = table[c.USER].iloc[row]
    records: list[dict[Any, Any]] = table.to_dict(orient="records")
    first = int(np.flatnonzero(table[c.USER].to_numpy() == user)[0])
    mine = [record | {"visit": at} for at, record in enumerate(records[first : row + 1])]
    source, past = mine[-1], mine[:-1]
    added = len(mine)
    zone = int(source[c.TZ_OFFSET_MINUTES])
    matrix = predictor.graph.counts.tocoo()
    counts = {(int(s), int(d)): int(n) for s, d, n in zip(*matrix.coords, matrix.data, strict=True)}
    off = set()
    edit: Any
    for edit in edits:
        match edit.kind:
            case "remove":
                past = [record for record in past if record["visit"] != edit.visit]
            case "add":
                clock = {c.TZ_OFFSET_MINUTES: zone, **_at(edit.local_time, zone)}
                past.append(source | {"visit": added, c.POI: edit.poi} | clock)
                past, added = _ordered(past, source), added + 1
            case "move":
                for record in past:
                    if record["visit"] == edit.visit:
                        record |= _at(edit.local_time, int(record[c.TZ_OFFSET_MINUTES]))
                        moved = record
                past = _ordered([*(record for record in past if record is not moved), moved], source)
            case "hour":
                local = _local(source).replace(hour=edit.hour, minute=edit.minute, second=0)
                source[c.TZ_OFFSET_MINUTES] += (local - _local(source)).total_seconds() / 60
                _keep_order(source, past, zone)
            case "weekday":
                source[c.TZ_OFFSET_MINUTES] += 1440 * (edit.weekday - _local(source).weekday())
                _keep_order(source, past, zone)
            case "source":
                source[c.POI] = edit.poi
            case "edge":
                counts[edit.source, edit.destination] = edit.count
            case "off":
                off.add(edit.name)
    edited = pd.DataFrame([*records[:first], *past, source, *records[row + 1 :]])
    dataset = replace(predictor.dataset, checkins=edited)
    kept = {pair: count for pair, count in counts.items() if count > 0}
    graph = counted_graph(pd.Series(kept), dataset.num_pois)
    # The training data that tell what others did stay as they are; an edit changes this case's history and counts.
    model = Recap(predictor.model.config, predictor.dataset, graph, torch.float64)
    model.load_state_dict(predictor.model.state_dict())
    switched = {"graph_weight": 0.0} if "graph_token" in off else {}
    stage = predictor.stage.model_copy(update=switched | ({"correction": False} if "correction" in off else {}))
    stage = _switched_off(model, stage, off)
    checkins = _tensors(edited)
    at = first + len(past)
    return RecapScorer(model, stage).score(Histories(checkins, torch.tensor([at]))).total[0]


def _switched_off(model: Recap, stage: Stage, off: set[str]) -> Stage:
    """Switches parts of a model off, and its stage where that does it."""
    with torch.no_grad():
        for term in off & {"count", "recency", "window"}:
            getattr(model.prior, f"{term}_weight").zero_()
        if model.curves is not None:
            curves = model.curves.curves
            curves.step_FK[[bool(off & {feature.name, feature.group}) for feature in model.curves.of.features]] = 0.0
        elif "past visits" in off:
            model.prior = None
            stage = stage.model_copy(update={"prior": False})
        if "core" in off and model.core is not None:
            model.core.output.weight.zero_()
            model.core.output.bias.zero_()
    return stage


def _keep_order(source: dict[str, Any], past: list[dict[str, Any]], zone: int) -> None:
    """Whole weeks later, until the clock is not before the check-in before."""
    while past and _local(source) < _local(past[-1] | {c.TZ_OFFSET_MINUTES: zone}):
        source[c.TZ_OFFSET_MINUTES] += 7 * 1440


def _tensors(table: pd.DataFrame) -> CheckinTensors:
    seconds = np.array([int(pd.Timestamp(time).timestamp()) for time in table[c.TIME]], dtype=np.int64)
    return CheckinTensors.from_arrays(
        user=table[c.USER].to_numpy(np.int64, copy=True),
        poi=table[c.POI].to_numpy(np.int64, copy=True),
        seconds=seconds,
        local_seconds=np.round(seconds + 60 * table[c.TZ_OFFSET_MINUTES].to_numpy(np.float64)).astype(np.int64),
        trajectory=table[c.TRAJECTORY].to_numpy(np.int64, copy=True),
    )


def _ordered(past: list[dict[str, Any]], source: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort by time, the newcomer (last) after its equals; it joins the trajectory of the check-in after it."""
    *others, new = past
    before = [record for record in others if record[c.TIME] <= new[c.TIME]]
    after = [record for record in others if record[c.TIME] > new[c.TIME]]
    new[c.TRAJECTORY] = (after[0] if after else source)[c.TRAJECTORY]
    return [*before, new, *after]


def _at(local_time: datetime, offset_minutes: int) -> dict[str, Any]:
    return {c.TIME: pd.Timestamp(local_time, tz="UTC") - pd.Timedelta(minutes=offset_minutes)}


def _local(record: dict[str, Any]) -> datetime:
    moment = pd.Timestamp(record[c.TIME]) + pd.Timedelta(minutes=float(record[c.TZ_OFFSET_MINUTES]))
    return moment.round("s").to_pydatetime().astimezone(UTC)
