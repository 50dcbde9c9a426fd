"""Two ways to train with several processes beside torch's own: differences from one process, seconds of a step.

    torchrun --nproc-per-node 2 benchmarks/sharing.py [DATASET] [--steps 18] [--places 100_000]

First the whole of RECAP (`nyc_tuned`, or --preset), with every batch split over the processes: our own sum of
gradients and masks of dropout against DistributedDataParallel, with dropout and without; weights after the steps are
compared with those of one process. Then a table of places and an output layer alone, whole softmax: DTensor over places
against FSDP2; the loss and the gradient of the table are compared with one process's. Runs on the CPU over gloo. Rank 0
prints one JSON line for each; seconds are processor seconds of one process. See docs/decisions/own-gradient-sum.md.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from benchmarks.gpu import small_city
from recap.data.dataset import Dataset
from recap.model.config import Stage
from recap.presets import train_preset
from recap.scores import CaseBatch
from recap.training.group import Group, join_group, leave_group
from recap.training.losses import training_losses
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig

CPU = torch.device("cpu")
WIDTH = 256
CASES = 512


class TorchsOwn(Trainer):
    """Each process learns from its share through DistributedDataParallel, as its manual says."""

    def share_with(self, group: Group) -> None:
        """Wrap the model; `init_sync` and `broadcast_buffers` would stop at the sparse transition matrix."""
        self.torchs_group = group
        self.wrapped = DistributedDataParallel(
            self.model, init_sync=False, broadcast_buffers=False, find_unused_parameters=True
        )

    def _step(self, index_B: Tensor, stage: Stage) -> Tensor:
        self.model.train()
        index_B = index_B[self.torchs_group.rank :: self.torchs_group.size]
        batch = CaseBatch(self.checkins, self.row_N[index_B])
        scores = self.wrapped(batch, stage)
        smoothing = self.config.label_smoothing
        losses = training_losses(scores, batch.target_B, self.warm_N[index_B], stage.warm_weight, smoothing)
        self.optimiser.zero_grad(set_to_none=True)
        losses.objective.backward()
        self.optimiser.step()
        return losses.main


def train_steps(dataset: Dataset, config: TrainConfig, way: str, group: Group, steps: int) -> tuple[Tensor, float]:
    """All weights after some steps of the last epoch, and processor seconds of a step."""
    kind = TorchsOwn if way == "DistributedDataParallel" else Trainer
    with tempfile.TemporaryDirectory() as folder:
        trainer = kind(dataset, config, Path(folder), CPU, group=group if way == "ours" else None)
        if isinstance(trainer, TorchsOwn):
            trainer.share_with(group)
        trainer._begin_epoch(config.epochs)
        started = time.process_time()
        for step in range(steps):
            trainer._learn(slice(step * config.batch_size, (step + 1) * config.batch_size))
        seconds = (time.process_time() - started) / steps
    return torch.cat([weight.detach().reshape(-1) for weight in trainer.model.parameters()]), seconds


def compare_steps(dataset: Dataset, config: TrainConfig, group: Group, steps: int) -> None:
    """One process against ours and torch's, with dropout and without."""
    without = {name: 0.0 for name in config.model.model_dump() if name.endswith("dropout")}
    still = config.model_copy(update={"model": config.model.model_copy(update=without)})
    for dropout, chosen in (("with", config), ("without", still)):
        alone: Tensor | None = None
        for way in ("one process", "ours", "DistributedDataParallel"):
            found, seconds = train_steps(dataset, chosen, way, group, steps)
            alone = found if alone is None else alone
            off = (found - alone).abs()
            line: dict[str, Any] = {"way": way, "dropout": dropout, "steps": steps, "places": dataset.num_pois}
            line |= {"mean_difference": float(off.mean()), "largest_difference": float(off.max())}
            tell(group, line | {"step_cpu_seconds": round(seconds, 3)})


class Catalogue(nn.Module):
    """A table of places and an output layer: what grows with places."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.table = nn.Embedding(places, WIDTH)
        self.output = nn.Linear(WIDTH, places, bias=False)

    def forward(self, source_B: Tensor) -> Tensor:
        logits_BP: Tensor = self.output(self.table(source_B))
        return logits_BP


def learn_once(
    model: Catalogue, source_B: Tensor, target_B: Tensor, context: Callable[[], AbstractContextManager[Any]], steps: int
) -> tuple[float, float]:
    """The loss, and processor seconds of forward and backward; gradients are left in the model."""
    started = time.process_time()
    for _ in range(steps):
        model.zero_grad(set_to_none=True)
        with context():
            loss = F.cross_entropy(model(source_B), target_B)
            loss.backward()
    seconds = (time.process_time() - started) / steps
    loss = loss.detach()
    return float(loss.full_tensor() if isinstance(loss, DTensor) else loss), seconds


def compare_tables(places: int, group: Group, steps: int) -> None:
    """One process against DTensor and FSDP2."""
    mesh = distributed.device_mesh.init_device_mesh("cpu", (group.size,))
    generator = torch.Generator().manual_seed(0)
    source_B, target_B = (torch.randint(places, (CASES,), generator=generator) for _ in range(2))
    alone: tuple[float, Tensor] | None = None
    for way in ("one process", "DTensor", "FSDP2"):
        torch.manual_seed(0)
        model = Catalogue(places)
        part_B = slice(None)
        context: Callable[[], AbstractContextManager[Any]] = nullcontext
        if way == "DTensor":
            plan = {
                "table": RowwiseParallel(input_layouts=Replicate(), output_layouts=Replicate()),
                "output": ColwiseParallel(use_local_output=False),
            }
            parallelize_module(model, mesh, plan)
            context = loss_parallel
        elif way == "FSDP2":
            part_B = slice(group.rank, None, group.size)
            for layer in (model.table, model.output, model):
                fully_shard(layer, mesh=mesh)
        loss, seconds = learn_once(model, source_B[part_B], target_B[part_B], context, steps)
        if way == "FSDP2":  # each process has the mean over its share, all of one size
            loss = float(group.add(torch.tensor(loss))) / group.size
        gradient, weight = model.table.weight.grad, model.table.weight
        assert gradient is not None
        rows = len(weight.to_local()) if isinstance(weight, DTensor) else places
        gradient = gradient.full_tensor() if isinstance(gradient, DTensor) else gradient
        alone = alone or (loss, gradient)
        line: dict[str, Any] = {"way": way, "places": places, "cases": CASES, "rows_held": rows, "steps": steps}
        line |= {"loss_difference": abs(loss - alone[0])}
        line |= {"gradient_difference": float((gradient - alone[1]).abs().max())}
        tell(group, line | {"step_cpu_seconds": round(seconds, 3)})


def tell(group: Group, line: dict[str, Any]) -> None:
    """One line, from one process."""
    if group.is_writer:
        print(json.dumps({"benchmark": "sharing", "processes": group.size} | line), flush=True)


def main() -> None:
    """Both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, nargs="?", help="a small synthetic city by default")
    parser.add_argument("--preset", default="nyc_tuned")
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--places", type=int, default=100_000)
    parser.add_argument("--table-steps", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    group = join_group(CPU)
    if not group.is_shared:
        parser.error("start it with torchrun --nproc-per-node 2")
    dataset = Dataset.load(arguments.dataset) if arguments.dataset else small_city(60)
    config = train_preset(arguments.preset)
    compare_steps(dataset, config, group, arguments.steps)
    compare_tables(arguments.places, group, arguments.table_steps)
    leave_group(group)


if __name__ == "__main__":
    main()
