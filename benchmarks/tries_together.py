"""Where rankers disagree on validation, what that is worth, and whether anything tells which of them is right.

    python -m benchmarks.tries_together DATASET OUT RANKER ... [NAME=CHECKPOINT ...]

``OUT`` is the folder of `tries.py`, which must have run. For every protocol it prints

- each ranker's HR@1, and of how many cases it alone has the target first;
- ``any``: the share of cases whose target is first for at least one ranker (the mark of a judge who always picks the
  right one), and beside it ``guesses``: the best ranker alone, allowed as many first places in each case as there are
  different ones among all. What ``any`` has above ``guesses`` is what their disagreement knows; the rest is having more
  guesses.
- ``stack``: the best ranker's log probability plus one weight for each one's; ``stack_gate``: weights that depend on
  habit and pace; ``stack_mlp``: a network over the log probabilities, habit and pace. Fitted on the validation cases of
  half of the users and ranked on the other's, both ways; differences from the best ranker with 95 % intervals over
  users.

- ``mean``: the mean of their log probabilities, held against one of them alone (values averaged over them): what more
  seeds of one model are worth.

Among places that a ranker ties the one with the lower number is its first.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from benchmarks.case_values import METRICS, Values, mean
from benchmarks.tries import Bench, across_halves, scored, values
from benchmarks.tries_beside import beside
from benchmarks.tries_cases import TryCases
from benchmarks.tries_models import better_of
from benchmarks.tries_named import HABIT_PACE
from recap.baselines import BASELINES
from recap.baselines.building import build_baseline
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.graph import TransitionGraph
from recap.scores import Scorer

GROUPS: Final = ("all", "last")
MOST_GUESSES: Final = 16
STACKS: Final[dict[str, dict[str, Any]]] = {
    "stack": {"kind": "linear", "epochs": 20},
    "stack_gate": {"kind": "gate", "epochs": 20, "decay": 1.0, "context": HABIT_PACE},
    "stack_mlp": {"kind": "mlp", "epochs": 6, "decay": 1.0, "context": HABIT_PACE},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("rankers", nargs="+", help=f"of {', '.join(BASELINES)}, or NAME=CHECKPOINT")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset = Dataset.load(options.dataset)
    bench = Bench(dataset, options.out)
    folders = {ranker.partition("=")[0]: ranker for ranker in options.rankers}
    read = {name: reading(dataset, bench, ranker) for name, ranker in folders.items()}
    for group in GROUPS:
        print(f"{group}, n = {bench.groups[group].sum()}")
        for line in disagreement(read, bench.val.target_N, bench.groups[group]):
            print("  " + line, flush=True)
    mine = {name: values(one["better"]) for name, one in read.items()}
    best = max(mine, key=lambda name: float(mine[name]["mrr"].mean()))
    based = based_on(dataset, bench, ranker_of(dataset, folders[best]))
    based.features |= {name: one["log_p"] for name, one in read.items()}
    mean_C = np.mean([one["log_p"] for one in read.values()], axis=0)
    together, alone = values(better_of(based, mean_C)), mean(list(mine.values()))
    for group in GROUPS:
        print(f"mean less one alone, {group}: {beside(bench, together, alone, group)}")
    print(f"stacks on {best}")
    for line in stacks(bench, based, list(read), mine[best]):
        print("  " + line, flush=True)


def ranker_of(dataset: Dataset, ranker: str) -> Scorer:
    """A baseline, or a trained checkpoint."""
    name, _, folder = ranker.partition("=")
    graph = TransitionGraph.from_dataset(dataset)
    if folder:
        return Checkpoint.load(Path(folder)).scorer(dataset, graph)
    return build_baseline(name, dataset, graph)


def reading(dataset: Dataset, bench: Bench, ranker: str) -> Values:
    """What a ranker says of each validation case; kept beside the tries' cases.

    Returns:
        ``top`` (N, 16) its first places, ``better`` (N,) how many places it puts above the target, ``log_p`` (C,) its
        log probability of each cached candidate.
    """
    kept = bench.out / "val" / f"ranker_{Path(ranker).name}.npz"
    if not kept.exists():
        pieces: dict[str, list[np.ndarray]] = {"top": [], "better": [], "log_p": []}
        for batch, said, place in scored(dataset, bench.val, ranker_of(dataset, ranker)):
            log_BP = torch.log_softmax(said.total.double(), 1)
            pieces["top"].append(log_BP.argsort(dim=1, descending=True, stable=True)[:, :MOST_GUESSES].numpy())
            pieces["better"].append((log_BP > log_BP.gather(1, batch.target_B[:, None])).sum(1).numpy())
            pieces["log_p"].append(log_BP[place].float().numpy())
        np.savez(kept, **{key: np.concatenate(value) for key, value in pieces.items()})  # type: ignore[arg-type]
    return dict(np.load(kept))


def based_on(dataset: Dataset, bench: Bench, scorer: Scorer) -> TryCases:
    """The validation cases with this ranker's log probabilities in the place of evidence_sessions' scores."""
    pieces: dict[str, list[np.ndarray]] = {"base_C": [], "base_target_N": [], "rest_lse_N": [], "rest_NP": []}
    for batch, said, place in scored(dataset, bench.val, scorer):
        rest_BP = torch.log_softmax(said.total.double(), 1).float()
        pieces["base_C"].append(rest_BP[place].numpy())
        pieces["base_target_N"].append(rest_BP.gather(1, batch.target_B[:, None])[:, 0].numpy())
        rest_BP[place] = -torch.inf
        pieces["rest_lse_N"].append(torch.logsumexp(rest_BP, 1).numpy())
        pieces["rest_NP"].append(rest_BP.sort(dim=1).values.numpy())
    return replace(bench.val, **{key: np.concatenate(value) for key, value in pieces.items()})  # type: ignore[arg-type]


def disagreement(read: dict[str, Values], target_N: np.ndarray, mask_N: np.ndarray) -> list[str]:
    """First places alone and together."""
    target_N = target_N[mask_N]
    first_NR = np.stack([one["top"][mask_N, 0] for one in read.values()], 1)
    right_NR = first_NR == target_N[:, None]
    alone_NR = right_NR & (right_NR.sum(1) == 1)[:, None]
    at_best = int(right_NR.mean(0).argmax())
    best = list(read)[at_best]
    ordered_NR = np.sort(first_NR, 1)
    guesses_N = 1 + (ordered_NR[:, 1:] != ordered_NR[:, :-1]).sum(1)
    allowed_NK = np.arange(MOST_GUESSES) < guesses_N[:, None]
    within_N = ((read[best]["top"][mask_N] == target_N[:, None]) & allowed_NK).any(1)
    any_N, agree_N = right_NR.any(1), guesses_N == 1
    return [
        *(
            f"{name:22s} HR@1 {right_NR[:, at].mean():.4f}, alone right {alone_NR[:, at].mean():.4f}"
            for at, name in enumerate(read)
        ),
        f"any {any_N.mean():.4f}; guesses {within_N.mean():.4f} ({best}, {guesses_N.mean():.2f} a case)",
        f"all agree in {agree_N.mean():.4f} of the cases, and are right in "
        f"{right_NR[agree_N, 0].sum() / len(agree_N):.4f}",
        f"where they disagree {best} is right in {right_NR[~agree_N, at_best].sum() / len(agree_N):.4f} of all cases, "
        f"any of them in {any_N[~agree_N].sum() / len(agree_N):.4f}",
    ]


def stacks(bench: Bench, based: TryCases, names: list[str], his: Values) -> list[str]:
    """Every stack's values and its differences from the ranker it starts from."""
    lines = []
    for name, settings in STACKS.items():
        total_C, _, _ = across_halves(based, {**settings, "features": names}, bench.groups["all"])
        found = values(better_of(based, total_C))
        for group in GROUPS:
            mask = bench.groups[group]
            told = " | ".join(f"{metric} {found[metric][mask].mean():.4f}" for metric in METRICS)
            lines += [f"{name}, {group}: {told}", f"  less it: {beside(bench, found, his, group)}"]
    return lines


if __name__ == "__main__":
    main()
