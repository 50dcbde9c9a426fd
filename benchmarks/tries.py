"""Every idea that might lift RECAP above the evidence ranker, tried on validation; one JSON line for each try.

    python -m benchmarks.tries DATASET OUT [--only NAME ...] [--table]

The first run caches the cases of ``DATASET`` in ``OUT``; a try whose line is in ``OUT/tries.jsonl`` is not run again,
so the command can be killed and started again at will. Nothing reads the test split. The ``cross`` tries need the
scores of a trained RECAP (``--checkpoint``). ``--table`` prints the lines as a table and runs nothing.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.records.bootstrap import UserBootstrap
from benchmarks.case_values import METRICS, Values, difference
from benchmarks.tries_cases import TryCases, build, chosen, fit_rows, load, save
from benchmarks.tries_features import World
from benchmarks.tries_models import Arrays, Suffix, better_of, fit, matrix, scores
from benchmarks.tries_named import TRIES
from benchmarks.tries_pointer import own_next, pointer_of
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evaluation.metrics import hit_rate, ndcg, reciprocal_rank
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history import CheckinTensors, local_hour_fraction
from recap.scores import CaseBatch, Scorer, Scores
from recap.visits import Visits

COLUMNS = {
    "all.hr1": "HR@1",
    "all.hr20": "HR@20",
    "all.mrr": "MRR",
    "tail.mrr": "tail MRR",
    "last.hr1": "last HR@1",
    "last.mrr": "last MRR",
    "new.hr20": "new HR@20",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.table:
        print(table(options.out / "tries.jsonl"))
        return
    dataset = Dataset.load(options.dataset)
    prepare(dataset, options.out)
    if options.checkpoint is not None and not (options.out / "val" / "core.npz").exists():
        keep_core(dataset, options.checkpoint, options.out / "val")
    bench = Bench(dataset, options.out)
    lines = options.out / "tries.jsonl"
    done = {json.loads(line)["try"] for line in lines.read_text().splitlines()} if lines.exists() else set()
    for name, settings in TRIES.items():
        if name in done or (options.only and name not in options.only):
            continue
        if settings.get("cross") and not (options.out / "val" / "core.npz").exists():
            continue
        line = bench.run(name, settings)
        with lines.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(told(line), flush=True)


def prepare(dataset: Dataset, out: Path) -> None:
    """Cache validation cases and fitting cases where they are not yet there."""
    missing = [name for name in ("val", "fit") if not (out / name).exists()]
    if not missing:
        return
    world = World.of(dataset)
    for name in missing:
        rows = torch.from_numpy(dataset.cases(c.VAL)) if name == "val" else fit_rows(world)
        cases = build(world, rows)
        cases.rest_NP = cases.rest_NP if name == "val" else cases.rest_NP[:1]
        save(cases, out / name)


class Bench:
    """The cached cases and the rival's ranks."""

    def __init__(self, dataset: Dataset, out: Path) -> None:
        self.out, self.dataset = out, dataset
        self.fit, self.val = load(out / "fit"), load(out / "val")
        row = self.val.row_N
        poi = dataset.checkins[c.POI].to_numpy(np.int64)
        self.count = TransitionGraph.from_dataset(dataset).count(poi[row], poi[row + 1])
        self.is_last = np.isin(row, dataset.cases(c.VAL, "trajectory_last"))
        known = Visits.of(dataset).target_in_history(row)
        self.groups = {
            "all": np.ones(len(row), bool),
            "head": self.count > TAIL_MAX_COUNT,
            "tail": self.count <= TAIL_MAX_COUNT,
            "last": self.is_last,
            "last_tail": self.is_last & (self.count <= TAIL_MAX_COUNT),
            "new": ~(known | (poi[row] == poi[row + 1])),
        }
        self.bootstrap = UserBootstrap(self.val.user_N)
        self.base = values(better_of(self.val, self.val.base_C))

    def run(self, name: str, settings: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        if settings.get("cross"):
            return self.run_across(name, settings)
        if "mean_of" in settings:
            return self.run_mean(name, settings["mean_of"])
        features, options = settings["features"], fitting(settings)
        data, val = self.arrays(settings)
        total, losses, models = np.zeros(len(self.val.case_C), np.float32), [], []
        for seed in range(settings.get("seeds", 1)):
            model = fit(settings["kind"], data, seed=seed, **options)
            score_C, loss = scores(model, val)
            _, fit_loss = scores(model, data)
            total = total + score_C.numpy() / settings.get("seeds", 1)
            losses.append(loss)
            models.append(model)
        better = better_of(self.val, total)
        np.save(self.out / f"score_{name}.npy", total)
        weights = dict(zip(features, (models[0].weight.detach()).tolist(), strict=True))
        return {
            "try": name,
            "loss": float(np.mean(losses)),
            "fit_loss": fit_loss,
            "seconds": round(time.perf_counter() - started, 1),
            **self.told(better),
            "weights": weights,
        }

    def arrays(self, settings: dict[str, Any]) -> tuple[Arrays, Arrays]:
        """A try's fitting cases and validation cases."""
        context = settings.get("context", [])
        data, scale = matrix(self.fit, settings["features"], context)
        val, _ = matrix(self.val, settings["features"], context, scale)
        if "seq" in settings["kind"]:
            data.suffix, val.suffix = self.suffix_of(self.fit), self.suffix_of(self.val)
        if "pointer" in settings["kind"]:
            data.pointer, val.pointer = pointer_of(self.dataset, self.fit), pointer_of(self.dataset, self.val)
        if "ownnext" in settings["kind"]:
            data.own_next_C, val.own_next_C = own_next(self.fit), own_next(self.val)
        if "mixture" in settings["kind"]:
            known = [torch.from_numpy(cases.features["known"] > 0) for cases in (self.fit, self.val)]
            data.known_C, val.known_C = known
        if settings.get("base") == "others":
            data.base_C, val.base_C = (torch.from_numpy(cases.base_others_C).float() for cases in (self.fit, self.val))
        return data, val

    def suffix_of(self, cases: TryCases, length: int = 15) -> Suffix:
        checkins = CheckinTensors.from_dataset(self.dataset)
        row_N = torch.from_numpy(cases.row_N)
        row_NK = torch.maximum(row_N[:, None] - torch.arange(length - 1, -1, -1), checkins.first_T[row_N][:, None])
        category_P = torch.from_numpy(self.dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64))
        days_NK = (checkins.seconds_T[row_N][:, None] - checkins.seconds_T[row_NK]).float() / 86400
        angle_NK = 2 * torch.pi * local_hour_fraction(checkins.local_seconds_T[row_NK]).float()
        time_NKT = torch.stack([torch.log1p(24 * days_NK) / 3, angle_NK.sin(), angle_NK.cos()], 2)
        poi_NK = checkins.poi_T[row_NK]
        return Suffix(poi_NK, category_P[poi_NK], time_NKT, self.dataset.num_pois, int(category_P.max()) + 1)

    def run_mean(self, name: str, names: list[str]) -> dict[str, Any]:
        """The mean of other tries' scores."""
        total = np.mean([np.load(self.out / f"score_{other}.npy") for other in names], axis=0)
        return {
            "try": name,
            "loss": float("nan"),
            "fit_loss": float("nan"),
            "seconds": 0.0,
            **self.told(better_of(self.val, total)),
            "weights": {},
        }

    def run_across(self, name: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Fitted on the validation cases of one half of the users, ranked on the other's, and the other way round."""
        started = time.perf_counter()
        with np.load(self.out / "val" / "core.npz") as core:
            self.val.features |= {key: core[key] for key in ("core", "revisit")}
        total, losses, weights = across_halves(self.val, settings, self.groups[settings.get("only", "all")])
        better = better_of(self.val, total)
        return {
            "try": name,
            "loss": float(np.mean(losses)),
            "fit_loss": float("nan"),
            "seconds": round(time.perf_counter() - started, 1),
            **self.told(better),
            "weights": dict(zip(settings["features"], zip(*weights, strict=True), strict=True)),
        }

    def told(self, better: np.ndarray) -> dict[str, Any]:
        found: dict[str, Any] = {}
        mine = values(better)
        for group, mask in self.groups.items():
            for metric in METRICS:
                value = float(mine[metric][mask].mean())
                found[f"{group}.{metric}"] = [
                    value,
                    *difference(self.bootstrap, mine[metric] - self.base[metric], mask),
                ]
            found[f"{group}.n"] = int(mask.sum())
        return found


def across_halves(
    cases: TryCases, settings: dict[str, Any], keep_N: np.ndarray
) -> tuple[np.ndarray, list[float], list[list[float]]]:
    """Scores of every candidate (C,) by what was fitted on the other half of the users, on the cases to be kept.

    Returns:
        The scores; of each half the loss on it and the weights of the features.
    """
    features, context = settings["features"], settings.get("context", [])
    total, losses, weights = np.zeros(len(cases.case_C), np.float32), [], []
    half_N = np.random.default_rng(0).permutation(cases.user_N.max() + 1)[cases.user_N] % 2
    for half in (0, 1):
        data, scale = matrix(chosen(cases, (half_N == half) & keep_N), features, context)
        other, _ = matrix(chosen(cases, half_N != half), features, context, scale)
        model = fit(settings["kind"], data, **fitting(settings))
        score_C, loss = scores(model, other)
        total[(half_N != half)[cases.case_C]] = score_C.numpy()
        losses.append(loss)
        weights.append((model.weight.detach().numpy() / scale.deviation_F).tolist())
    return total, losses, weights


def fitting(settings: dict[str, Any]) -> dict[str, Any]:
    """Of a try's settings those of its fit."""
    apart = ("features", "context", "kind", "seeds", "base", "cross", "only")
    return {key: value for key, value in settings.items() if key not in apart}


def values(better: np.ndarray) -> Values:
    tied = np.ones_like(better)
    return {
        "hr1": hit_rate(better, tied, 1),
        "hr20": hit_rate(better, tied, 20),
        "ndcg20": ndcg(better, tied, 20),
        "mrr": reciprocal_rank(better, tied),
    }


def scored(
    dataset: Dataset, cases: TryCases, scorer: Scorer, block: int = 512
) -> Iterator[tuple[CaseBatch, Scores, tuple[np.ndarray, np.ndarray]]]:
    """Block by block the cases, a scorer's scores of all places, and where among them (B, P) the candidates stand."""
    checkins = CheckinTensors.from_dataset(dataset)
    for start in range(0, len(cases.row_N), block):
        batch = CaseBatch(checkins, torch.from_numpy(cases.row_N[start : start + block]))
        low, high = np.searchsorted(cases.case_C, [start, start + block])
        yield batch, scorer.score(batch), (cases.case_C[low:high] - start, cases.poi_C[low:high])


def keep_core(dataset: Dataset, folder: Path, out: Path) -> None:
    """A trained RECAP's log probabilities by its core alone, and prior with correction, of the cached candidates."""
    scorer = Checkpoint.load(folder).scorer(dataset, TransitionGraph.from_dataset(dataset))
    core, revisit = [], []
    for _, said, place in scored(dataset, load(out), scorer):
        core.append(torch.log_softmax(said.core, 1)[place].float().numpy())
        revisit.append((said.prior + said.correction)[place].float().numpy())
    np.savez(out / "core.npz", core=np.concatenate(core), revisit=np.concatenate(revisit))


def table(path: Path) -> str:
    """Every try's differences from evidence_sessions with 95 % intervals over users, as Markdown."""
    lines = {line["try"]: line for line in map(json.loads, path.read_text().splitlines())}
    heads = " | ".join(COLUMNS.values())
    rows = [f"| try | loss | {heads} |", "|---|---:|" + "---:|" * len(COLUMNS)]
    for name, line in ((name, lines[name]) for name in TRIES if name in lines):
        cells = [f"{difference:+.4f} [{low:+.4f}, {high:+.4f}]" for _, difference, low, high in map(line.get, COLUMNS)]
        loss = "–" if np.isnan(line["loss"]) else f"{line['loss']:.3f}"
        rows.append(f"| {name} | {loss} | " + " | ".join(cells) + " |")
    return "\n".join(rows).replace("+0.", "+.").replace("-0.", "−.")


def told(line: dict[str, Any]) -> str:
    cells = [f"{line['try']:28s} {line['seconds']:6.1f}s loss {line['loss']:.4f} fit {line['fit_loss']:.4f}"]
    for key in (
        "all.hr1",
        "all.hr20",
        "all.ndcg20",
        "all.mrr",
        "tail.hr1",
        "tail.mrr",
        "last.hr1",
        "last.hr20",
        "last.mrr",
        "new.hr20",
    ):
        value, difference, low, high = line[key]
        star = "*" if low > 0 else "-" if high < 0 else " "
        cells.append(f"{key} {value:.4f} ({difference:+.4f}{star})")
    return " | ".join(cells)


if __name__ == "__main__":
    main()
