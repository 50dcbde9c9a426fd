"""The test of GNPR-SID on New York, for RECAP with the time given, from the raw file of Yang et al. (2015).

Places with at least 10 check-ins, then users with at least 10. Sorted by local time, the first 80 % are for training;
their last tenth chooses whether the core is added. Each user known there with a check-in at a known place in the last
20 % gives one case, the user's last check-in; one at an unknown place counts as wrong. Prints one JSON line a seed.

    python -m benchmarks.gnpr_sid dataset_TSMC2014_NYC.txt [--seeds 3407,3408,3409]
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from recap import columns as c
from recap.asking.open_model import open_model
from recap.data.cleaning import data_preset
from recap.data.parsing.options import ReadOptions
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins
from recap.evaluation.ranks import rank_targets
from recap.history.tensors import CaseBatch
from recap.presets import train_preset
from recap.training.run import train

_FEWEST = 10
_TRAIN, _VALIDATE = 0.8, 0.1


def read_table(path: Path) -> pd.DataFrame:
    """The check-ins of the test, by local time, with a split."""
    raw = read_checkins(path, "foursquare", ReadOptions()).table
    for name in (c.POI_ID, c.USER_ID):
        raw = raw[raw.groupby(name, observed=True)[name].transform("size") >= _FEWEST]
    local = raw[c.TIME].dt.tz_localize(None) + pd.to_timedelta(raw[c.TZ_OFFSET_MINUTES], unit="min")
    raw = raw.loc[local.sort_values(kind="stable").index].reset_index(drop=True)
    train = int(_TRAIN * len(raw))
    split = np.full(len(raw), c.TEST, dtype=np.int8)
    split[:train] = c.VAL
    split[: round(train * (1 - _VALIDATE))] = c.TRAIN
    return raw.assign(**{c.SPLIT: split})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--seeds", default="3407,3408,3409")
    arguments = parser.parse_args()
    table = read_table(arguments.path)
    is_late = table[c.SPLIT] == c.TEST
    early = table[~is_late]
    known = table[c.POI_ID].isin(early[c.POI_ID]) & table[c.USER_ID].isin(early[c.USER_ID])
    last = table[table[c.USER_ID].isin(table[c.USER_ID][is_late & known])].groupby(c.USER_ID, observed=True).tail(1)
    dataset = prepare_dataset(table, data_preset("default"), name="GNPR-SID's test", source_format="foursquare")
    rows = dataset.checkins.join(dataset.users, on=c.USER).join(dataset.pois[[c.POI_ID]], on=c.POI)
    final = rows.groupby(c.USER).tail(1)
    final = final.assign(row=final.index)[[c.USER_ID, c.POI_ID, c.TIME, "row"]]
    found = last.merge(final, on=[c.USER_ID, c.POI_ID, c.TIME])
    for seed in map(int, arguments.seeds.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            config = train_preset("recap").override(
                [f"seed={seed}", "model.prior.start=zero", "optimiser.prior_learning_rate=5e-2"]
            )
            train(dataset, config, Path(folder) / "out", device=torch.device("cpu"))
            opened = open_model(Path(folder) / "out", dataset, given_time=True)
            batch = CaseBatch(opened.checkins, torch.from_numpy(found["row"].to_numpy(np.int64) - 1))
            scores = opened.score(batch.histories(target_time=True))
            ranks = rank_targets(scores.total, batch.target_B, scores.tie_break_P)
            better = ranks.num_better_B
            hits = {f"hr{k}": float((better < k).sum()) / len(last) for k in (1, 5, 10, 20)}
        print(
            json.dumps({"seed": seed, "n": len(last), "at_known_places": len(found), "rows": len(table), **hits}),
            flush=True,
        )


if __name__ == "__main__":
    main()
