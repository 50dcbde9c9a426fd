"""How long each interaction of Compare and Cases takes: 25,000 test cases and ten scorers, every view under AppTest.

    python -m benchmarks.many_cases FOLDER [--people 3000] [--from-raw FILE]

FOLDER gets (once, about four minutes) an invented city, a checkpoint that was never trained, and drawn records: of the
checkpoint with its removals and four sibling seeds, of all baselines, and three imports. Then one JSON line for each
interaction: seconds of the script run on this machine's clock and of its processor, the first time and again. What
needs the model on every case (an exchange of parts) or ten explanations (Share) is no part of it. OMP_NUM_THREADS=1.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.cases.recipes import RECIPES
from analysis.records.causes import removals_key
from analysis.records.evaluation_records import records_key
from analysis.records.imported import keep_predictions
from analysis.records.kept_seeds import seed_key
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.removals import COLUMNS, GRAPH_POINTS
from analysis.records.table_cache import TableKey, kept_table
from app.settings import BUNDLES_VARIABLE, CHECKPOINT_VARIABLE, DATA_VARIABLE
from recap import columns as c
from recap.baselines import BASELINES
from recap.checkpoint import Checkpoint
from recap.data.cleaning import DataConfig
from recap.data.preparation import prepare_dataset
from recap.data.synthetic import build_demo_city
from recap.evaluation.metrics import reciprocal_rank
from tests.app.app_driver import open_view
from tests.untrained import write_untrained_checkpoint

LISTED = 20
IMPORTED = f"imported-{0:012x}"
HOME_VARIABLE = "RECAP_HOME"


def prepare(folder: Path, people: int, raw: Path | None) -> None:
    """Write the city, the checkpoint and everything drawn, once."""
    if (folder / "ready").exists():
        return
    table = build_demo_city(people=people) if raw is None else pd.read_parquet(raw)
    dataset = prepare_dataset(
        table,
        DataConfig.parse({"train_end": 0.78, "val_end": 0.88}),
        name="many",
        source_format="demo",
        synthetic=True,
    )
    dataset.save(folder / "dataset")
    write_untrained_checkpoint(dataset, folder / "checkpoint")
    opened, checkpoint = LoadedDataset.load(folder / "dataset"), Checkpoint.load(folder / "checkpoint")
    dataset_hash, cases = opened.dataset.hash, opened.cases
    for number, name in enumerate([checkpoint.hash, *BASELINES]):
        keep(records_key(dataset_hash, name), drawn_records(opened, number))
    keep(removals_key(dataset_hash, checkpoint.hash), drawn_removals(drawn_records(opened, 0), 0))
    for seed in range(1, 5):
        keep(seed_key(dataset_hash, checkpoint.hash, seed), drawn_removals(drawn_records(opened, 20 + seed), seed))
    for number in range(3):
        imported = drawn_records(opened, 10 + number).assign(**{c.LISTED: LISTED})
        imported[c.IN_LIST] = imported[c.RANK] <= LISTED
        keep_predictions(imported, dataset_hash, f"theirs {number}", f"{number:012x}".ljust(64, "0"))
    (folder / "ready").write_text(f"{len(cases)}\n")


def keep(key: TableKey, table: pd.DataFrame) -> None:
    """Put a table where the app looks for it."""
    kept_table(key, lambda: table, rows=len(table))


def drawn_records(opened: LoadedDataset, number: int) -> pd.DataFrame:
    """Ranks of which two scorers share most, and lists that hold the truth where its rank says so."""
    rng, cases = np.random.default_rng(number + 1), opened.cases
    shared = np.random.default_rng(0).geometric(0.1, len(cases)) - 1
    better = np.where(rng.random(len(cases)) < 0.15, rng.geometric(0.02, len(cases)) - 1, shared)
    better = np.minimum(better, opened.dataset.num_pois - 1)
    lists = rng.integers(0, opened.dataset.num_pois, (len(cases), LISTED))
    inside = np.flatnonzero(better < LISTED)
    lists[inside, better[inside]] = cases[c.TARGET].to_numpy()[inside]
    scores = np.sort(rng.normal(0, 3, lists.shape))[:, ::-1]
    drawn: dict[str, Any] = {
        c.NUM_BETTER: better,
        c.NUM_TIED: 1,
        c.RANK: better + 1.0,
        c.RECIPROCAL_RANK: reciprocal_rank(better, np.ones_like(better)),
        c.SCORE: rng.normal(0, 3, len(cases)),
        c.TOP_POIS: pd.Series(list(lists), dtype=object),
        c.TOP_SCORES: pd.Series(list(scores), dtype=object),
    }
    return cases.assign(**drawn)


def drawn_removals(records: pd.DataFrame, number: int) -> pd.DataFrame:
    """Ranks without each source: mostly the same, sometimes far behind."""
    rng, rank = np.random.default_rng(100 + number), records[c.RANK].to_numpy()
    table = {name: rng.normal(0, 1, len(rank)) for name in (*COLUMNS, GRAPH_POINTS)}
    table |= {name: rank * np.where(rng.random(len(rank)) < 0.2, 50, 1) for name in table if name.startswith("without")}
    whole = {name: rng.integers(0, 50, len(rank)) for name in ("first", "gates", "negative_gates")}
    return pd.DataFrame(table | whole | {c.CASE: records[c.CASE].to_numpy(), c.RANK: rank})


def timed(what: str, act: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Act twice; one JSON line."""
    spent, result = [], None
    for _ in range(2):
        wall, processor = time.perf_counter(), time.process_time()
        result = act(*arguments, **named)
        spent.append((round(time.perf_counter() - wall, 2), round(time.process_time() - processor, 2)))
        if result.exception or result.error:
            raise RuntimeError(f"{what}: {[item.value for item in [*result.exception, *result.error]]}")
    (first, first_cpu), (again, again_cpu) = spent
    told = {"what": what, "first_s": first, "first_cpu_s": first_cpu, "again_s": again, "again_cpu_s": again_cpu}
    print(json.dumps(told), flush=True)
    return result


def choose(widget: Any, value: Any) -> Any:
    """Give a control a value and run the script."""
    return widget.set_value(value).run()


def press(app: Any, key: str) -> Any:
    """Press a button and run the script."""
    return app.button(key=key).click().run()


def compare() -> None:
    """Every control of Compare."""
    open_view("compare")  # the server's first page: opening the dataset is no interaction
    app = timed("compare: open", open_view, "compare")
    for metric in ("hr1", "ndcg20", "mrr", "hr20"):
        timed(f"compare: metric {metric}", choose, app.segmented_control(key="compared_metric"), metric)
    sides = app.selectbox(key="pick_a")
    for at, side in enumerate(list(sides.options)):
        timed(f"compare: A {side}", lambda at: app.selectbox(key="pick_a").select_index(at).run(), at)
    timed("compare: exchange", press, app, "exchange")
    for cell in ("both", "neither", "only_a", "figure_1", "only_b"):
        timed(f"compare: list {cell}", choose, app.segmented_control(key="cell_control"), cell)
    for case in ("5", "12345"):
        timed(f"compare: case {case} side by side", open_view, "compare", open=case)
    timed("compare: one side's Walk", open_view, "walk", case="12345")
    timed("compare: an import's Walk", open_view, "walk", case="5", predictions=IMPORTED)
    timed("compare: an import's Explain", open_view, "explain", case="5", predictions=IMPORTED)


def cases() -> None:
    """Every control of Cases."""
    app = timed("cases: open", open_view, "cases")
    for recipe in RECIPES:
        timed(f"cases: {recipe}", open_view, "cases", recipe=recipe)
    app = open_view("cases", recipe="own_visits")
    second = next(str(button.key) for button in app.button if button.label.startswith("2 of"))
    timed("cases: choose a card", press, app, second)
    timed("cases: six more", press, app, "more_cards")
    timed("cases: save", press, app, "save_case")
    timed("cases: search", choose, app.text_input(key="search_cases"), "a")


def main() -> None:
    """Prepare and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=int, default=3000)
    parser.add_argument("--from-raw", type=Path, help="check-ins that were drawn before, as Parquet")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        HOME_VARIABLE: str(asked.folder / "home"),
        DATA_VARIABLE: str(asked.folder / "dataset"),
        CHECKPOINT_VARIABLE: str(asked.folder / "checkpoint"),
        BUNDLES_VARIABLE: "/nonexistent",
    }
    prepare(asked.folder, asked.people, asked.from_raw)
    print(json.dumps({"cases": int((asked.folder / "ready").read_text())}))
    compare()
    cases()


if __name__ == "__main__":
    main()
