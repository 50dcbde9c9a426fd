"""Ideas that need a training of RECAP itself, beside the same arm without them.

    python -m benchmarks.tries_trained DATASET OUT IDEA [--experiment weighed] [--arm weighed] [--seeds 3407]

``OUT`` is the folder of `recap experiment run`, which must have trained the arm. Trains it anew with the idea, into
``OUT/tries_trained``, where it goes on if it was cut off. Prints validation values less those of the same seeds without
it, with 95 % intervals over users. Ideas:

- ``own_graph``: the graph token reads the user's own transitions beside everybody's. The arm must have the token.
- ``repeat_gate``: a mixture of two distributions, over known places and over new ones (RepeatNet, Ren et al., AAAI
  2019). The arm must weigh evidence.

Shape suffixes: B cases, P POIs, E features of a POI embedding, H past check-ins of all cases, Z numbers of a step.
"""

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis.experiments.results import training_digest
from analysis.experiments.spec import load_spec
from benchmarks.case_values import mean, values_of
from benchmarks.removals import COLUMNS, Ranked, row
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evidence.past import step_back
from recap.evidence.steps import STEP_NUMBERS, step_numbers
from recap.model.config import Stage
from recap.model.evidence_terms import EvidenceTerms
from recap.model.interventions import Interventions
from recap.model.recap import Recap
from recap.scores import CaseBatch, past_rows
from recap.training.run import train


class TwoGraphRecap(Recap):
    """RECAP whose token reads the source's row of everybody's G^(N) and, beside it, of each hop in the user's own.

    The own graph holds the user's transitions up to the source, as they are known at the step. What it says is mapped
    to the size of an embedding and added before the token's MLP, as its first layer would do with both in a row.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        size = self.config.poi_dim
        self.own = nn.Linear(self.config.num_hops * size, size).to(self.poi_embedding.weight.dtype)

    def encode(
        self,
        batch: CaseBatch,
        stage: Stage,
        propagated_PE: Tensor | None = None,
        changes: Interventions | None = None,
    ) -> Tensor:
        """The prediction state (B, D)."""
        if stage.graph_weight > 0:
            table_PE = self.poi_embedding.weight
            propagated_PE = self.propagate() if propagated_PE is None else propagated_PE
            assert propagated_PE is not None
            hops = own_hops(batch, len(table_PE), self.config.num_hops)
            own_BE = self.own(torch.cat([hop_BP.to(table_PE.dtype) @ table_PE for hop_BP in hops], 1))
            both_BE = F.embedding(batch.source_B, propagated_PE) + own_BE
            changes = replace(changes or Interventions(), propagated_BE=both_BE)
        return super().encode(batch, stage, propagated_PE, changes)


def own_hops(batch: CaseBatch, num_pois: int, hops: int) -> list[Tensor]:
    """Where 1 to ``hops`` steps from the source lead in the user's own row-normalised graph, (B, P) each."""
    case_H, row_H = past_rows(batch)
    previous_H, goes_on_H = step_back(batch.checkins, row_H)
    first_H = (case_H * num_pois + batch.checkins.poi_T[previous_H])[goes_on_H]
    next_H = (case_H * num_pois + batch.checkins.poi_T[row_H])[goes_on_H]
    degree = torch.bincount(first_H, minlength=len(batch) * num_pois)
    at = torch.zeros(len(batch) * num_pois)
    at[torch.arange(len(batch)) * num_pois + batch.source_B] = 1.0
    found = []
    for _ in range(hops):
        at = torch.zeros_like(at).index_add(0, next_H, at[first_H] / degree[first_H])
        found.append(at.view(len(batch), num_pois))
    return found


class GatedTerms(EvidenceTerms):
    """Evidence whose known places have, all together, the probability that a gate gives to going back to one.

    Scores of a mixture are those of one softmax with a number added to every known place: logit p(repeat) less the
    log-odds that the scores themselves give to known places. The gate reads the step's numbers and h_t.
    """

    def __init__(self, features: Any, state_dim: int = 0, dropout: float = 0.0) -> None:
        super().__init__(features, state_dim, dropout)
        self.gate_state = nn.Linear(state_dim, 8)
        self.gate = nn.Sequential(nn.Linear(len(STEP_NUMBERS) + 8, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, batch: CaseBatch, changes: Interventions | None = None, state_BD: Tensor | None = None) -> Tensor:
        """E_t(d) of every POI, (B, P)."""
        assert state_BD is not None
        values = self.values(batch, changes, state_BD)
        total_BP = self.total(values)
        known_BP = torch.zeros_like(total_BP, dtype=torch.bool)
        known_C = values.evidence.packed_CF[:, self._features.config.packed_features.index("known")] > 0
        known_BP[values.evidence.case_C[known_C], values.evidence.poi_C[known_C]] = True
        number_BZ = step_numbers(batch, self._features.config.burst_minutes).to(total_BP.dtype)
        read_BZ = torch.cat([number_BZ, torch.tanh(self.gate_state(self._dropout(state_BD).to(total_BP.dtype)))], 1)
        return total_BP + known_BP * added_to_known(self.gate(read_BZ).squeeze(1), total_BP, known_BP)[:, None]


def added_to_known(logit_B: Tensor, score_BP: Tensor, known_BP: Tensor) -> Tensor:
    """What makes the known places' share of softmax(score) the gate's; 0 for a user who was everywhere.

    >>> score_BP, known_BP = torch.tensor([[1.0, 2.0, 0.0]]), torch.tensor([[True, False, False]])
    >>> added_B = added_to_known(torch.zeros(1), score_BP, known_BP)
    >>> torch.softmax(score_BP + added_B * known_BP, 1)[0, 0].item()
    0.5
    """
    known_B = torch.logsumexp(score_BP.masked_fill(~known_BP, -torch.inf), 1)
    new_B = torch.logsumexp(score_BP.masked_fill(known_BP, -torch.inf), 1)
    return torch.where(known_BP.all(1), 0.0, logit_B - known_B + new_B)


PATCHES: Final[dict[str, tuple[tuple[str, type[nn.Module]], ...]]] = {
    "own_graph": (("recap.training.trainer.Recap", TwoGraphRecap), ("recap.checkpoint.Recap", TwoGraphRecap)),
    "repeat_gate": (("recap.model.recap.EvidenceTerms", GatedTerms),),
}
"""What stands in whose place while an idea is trained and ranked."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("idea", choices=list(PATCHES))
    parser.add_argument("--experiment", default="weighed")
    parser.add_argument("--arm", default="weighed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3407])
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset, spec = Dataset.load(options.dataset), load_spec(options.experiment)
    arm = next(arm for arm in spec.arms if arm.name == options.arm)
    ranked = Ranked(dataset, options.out, spec, c.VAL)
    less = ranked.seeds_of(arm, options.seeds)
    if len(less) < len(options.seeds):
        raise SystemExit(f"{options.out} lacks trainings of {options.arm}: run `recap experiment run` on it first")
    found = []
    with ExitStack() as stack:
        for target, stand_in in PATCHES[options.idea]:
            stack.enter_context(patch(target, stand_in))
        for seed in options.seeds:
            config = spec.train_config(arm, seed)
            folder = options.out / "tries_trained" / options.idea / training_digest(dataset, config, spec.test_points)
            if not (folder / "summary.json").exists():
                train(dataset, config, folder, device=torch.device("cpu"), resume=folder.exists())
            scorer = Checkpoint.load(folder).scorer(dataset, ranked.graph)
            found.append(values_of(scorer, ranked.cases, ranked.checkins))
    cells = [ranked.difference(mean(found), mean(less), group, metric) for group, metric, _ in COLUMNS]
    print(f"| {options.idea}, seeds {options.seeds} | {' | '.join(head for _, _, head in COLUMNS)} | MRR by seed |")
    print(row(arm, cells, found))


if __name__ == "__main__":
    main()
