"""The evaluation records: one row per case and scorer, the table every long-tail view is a group-by of."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from recap import columns as c
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.errors import RecapError
from recap.evaluation.metrics import reciprocal_rank
from recap.evaluation.ranks import Ranks, check_scores, rank_targets, top_pois
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.scores import CaseBatch, Scorer, Scores
from recap.user_folder import user_subfolder

LIST_LENGTH: Final = 20


def describe_cases(
    dataset: Dataset, graph: TransitionGraph, split: int = c.TEST, protocol: Protocol = "every_step"
) -> pd.DataFrame:
    """What is known of each case before any scorer, in case order.

    Returns:
        ``case`` (number among the split's every_step cases), ``row`` (source row), ``user``, ``position`` (check-ins of
        the user before the source), ``time`` (of the source, UTC), ``trajectory, source, target, transition_count``
        (m_sd), ``destination_count`` (the target's training check-ins), ``in_history`` (y in C_t), ``within_two_hops``
        (y in C_2(s)), ``two_step_walk`` ((A^2)_sy > 0).
    """
    every = dataset.cases(split)
    row = every if protocol == "every_step" else dataset.cases(split, protocol)
    checkins = CheckinTensors.from_dataset(dataset)
    poi = dataset.checkins[c.POI].to_numpy(np.int64)
    source, target = poi[row], poi[row + 1]
    return pd.DataFrame(
        {
            "case": np.searchsorted(every, row),
            "row": row,
            "user": dataset.checkins[c.USER].to_numpy(np.int64)[row],
            "position": row - checkins.first_T.numpy()[row],
            "time": dataset.checkins[c.TIME].array[row],
            "trajectory": dataset.checkins[c.TRAJECTORY].to_numpy(np.int64)[row],
            "source": source,
            "target": target,
            "transition_count": graph.count(source, target),
            "destination_count": dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.int64)[target],
            "in_history": checkins.target_in_history(row),
            "within_two_hops": graph.hops_of(source, target, 2) > 0,
            "two_step_walk": graph.two_step_probability(source, target) > 0,
        }
    )


def rank_cases(scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors, *, batch_size: int = 512) -> pd.DataFrame:
    """Rank the target of every case: ``cases`` plus ``num_better, num_tied, rank, reciprocal_rank``.

    Args:
        cases: from `describe_cases`.
        checkins: the dataset's tensors, on the scorer's device.

    Raises:
        ScoreError: the scorer returned NaN.
    """
    ranks = [ranks for _, _, ranks in _scored_batches(scorer, cases, checkins, batch_size)]
    return _with_ranks(cases, ranks)


def score_cases(
    scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors, *, batch_size: int = 512
) -> pd.DataFrame:
    """Rank the target of every case and keep what was scored.

    Returns:
        What `rank_cases` returns (``rank`` is the mean and ``reciprocal_rank`` the expectation over tied orders) plus
        ``score`` (the target's total), ``part_<name>`` of the target, ``top_pois`` and ``top_scores`` (20 each).

    Raises:
        ScoreError: the scorer returned NaN.
    """
    all_ranks, columns = [], dict[str, list[torch.Tensor]]()
    for batch, scores, ranks in _scored_batches(scorer, cases, checkins, batch_size):
        all_ranks.append(ranks)
        poi_BK, value_BK = top_pois(scores, LIST_LENGTH)
        values = {
            "score": scores.total.gather(1, batch.target_B[:, None])[:, 0],
            **{f"part_{name}": part_B for name, part_B in scores.parts_at(batch.target_B).items()},
            "top_pois": poi_BK,
            "top_scores": value_BK,
        }
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    records = _with_ranks(cases, all_ranks)
    for name, pieces in columns.items():
        values_N = torch.cat(pieces).cpu().numpy()
        records[name] = values_N if values_N.ndim == 1 else list(values_N)
    return records


def _scored_batches(
    scorer: Scorer, cases: pd.DataFrame, checkins: CheckinTensors, batch_size: int
) -> Iterator[tuple[CaseBatch, Scores, Ranks]]:
    rows = torch.tensor(cases["row"].to_numpy(np.int64), device=checkins.device)
    for start in range(0, len(rows), batch_size):
        batch = CaseBatch(checkins, rows[start : start + batch_size])
        scores = scorer.score(batch)
        check_scores(scores.total, scorer.name)
        yield batch, scores, rank_targets(scores, batch.target_B)


def _with_ranks(cases: pd.DataFrame, ranks: list[Ranks]) -> pd.DataFrame:
    empty = np.zeros(0, dtype=np.int64)
    num_better = torch.cat([r.num_better_B for r in ranks]).cpu().numpy() if ranks else empty
    num_tied = torch.cat([r.num_tied_B for r in ranks]).cpu().numpy() if ranks else empty
    return cases.assign(
        num_better=num_better,
        num_tied=num_tied,
        rank=num_better + (num_tied + 1) / 2,
        reciprocal_rank=reciprocal_rank(num_better, num_tied),
    )


def records_name(dataset_hash: str, scorer: str, split: str, protocol: str) -> str:
    """The file name of a scorer's records; ``scorer`` is a checkpoint's hash or a baseline's name."""
    return f"{dataset_hash[:16]}-{scorer[:24]}-{split}-{protocol}.parquet"


def records_file(dataset_hash: str, scorer: str, split: str, protocol: str) -> Path:
    """Where a scorer's records lie in the user's cache."""
    return user_subfolder("cache") / "records" / records_name(dataset_hash, scorer, split, protocol)


def write_records(records: pd.DataFrame, path: Path, metadata: dict[str, str]) -> None:
    """Write records as Parquet with string metadata (hashes, protocol, model), whole or not at all.

    Raises:
        RecapError: the disk refused.
    """
    table = pa.Table.from_pandas(records, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, temporary, compression="zstd")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise RecapError(f"writing {path} failed: {error.strerror or error}; nothing was kept") from error


def read_records(path: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """Read records and their metadata.

    Raises:
        RecapError: not a records file.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise RecapError(f"{path} is not a records file ({error}); write it with `recap evaluate --records`") from error
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    metadata.pop("pandas", None)
    return table.to_pandas(), metadata
