"""A training shared by several processes: batches are split, gradients added, and one process writes.

Started by torch's launcher (``python -m torch.distributed.run --nproc-per-node N ...``), which sets each process's rank
in the environment. A group of one changes nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from recap.arithmetic.random_masks import draw_mask


class SharedMaskDropout(TorchFunctionMode):
    """Makes dropout over a share of a batch follow masks drawn for the whole batch. Every process draws the masks of
    the ``whole`` batch and takes those of its own cases (`Group.share`), so sharing a batch changes results by rounding
    only. Every dropped tensor has the cases in its first dimension. ``words``: cut masks out of 64-bit random words,
    sixteen bits an element, much faster than torch on a CPU.
    """

    def __init__(self, whole: int, rank: int = 0, size: int = 1, *, words: bool = False) -> None:
        super().__init__()
        self.whole, self.rank, self.size, self.words = whole, rank, size, words

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.dropout:
            return self._dropout(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            return self._attend(*args, **kwargs)
        return func(*args, **kwargs)

    def _dropout(self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or p == 0.0:
            return input
        return input * self._mask(input, p)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, dropout_p: float = 0.0) -> Tensor:
        if dropout_p == 0.0:
            return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = torch.softmax(scores.masked_fill(~attn_mask, float("-inf")), dim=-1)
        return (weights * self._mask(weights, dropout_p)) @ value

    def _mask(self, values: Tensor, p: float) -> Tensor:
        mine = len(range(self.rank, self.whole, self.size))
        if values.shape[0] != mine:
            raise RuntimeError(
                f"dropout over {values.shape[0]} rows in a share of {mine} cases: expected one row for each case"
            )
        if self.words:
            whole = draw_mask((self.whole, *values.shape[1:]), p, values.dtype).to(values.device)
        else:
            whole = _torch_mask(values, self.whole, p)
        return whole[self.rank :: self.size]


def _torch_mask(values: Tensor, whole: int, p: float) -> Tensor:
    # Drop ones: the same call uses the same random numbers if the ones have the memory order of the whole batch.
    shape = (whole, *values.shape[1:])
    order = sorted(range(values.dim()), key=values.stride, reverse=True)
    ones = torch.ones([shape[dim] for dim in order], dtype=values.dtype, device=values.device)
    ones = ones.permute(sorted(range(values.dim()), key=order.__getitem__))
    return torch.dropout(ones, p, True)


_STEPS_BETWEEN_STOP_CHECKS = 10


@dataclass(frozen=True)
class Group:
    """The processes of one training. ``rank``: this process, from 0; 0 writes."""

    rank: int = 0
    size: int = 1

    @property
    def is_writer(self) -> bool:
        return self.rank == 0

    @property
    def is_shared(self) -> bool:
        return self.size > 1

    def share(self, index_B: Tensor) -> Tensor:
        """This process's cases of a batch; sizes differ by one at most."""
        return index_B[self.rank :: self.size] if self.is_shared else index_B

    def all_reduce_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by the sum over processes; a missing one counts as 0."""
        if not self.is_shared:
            return
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        # A parameter without a gradient here may have one in another process.
        present = torch.tensor([parameter.grad is not None for parameter in parameters], dtype=torch.float32)
        present = present.to(parameters[0].device)
        pieces = [
            (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).reshape(-1)
            for parameter in parameters
        ]
        message = torch.cat([present, *pieces])
        distributed.all_reduce(message)
        somewhere = message[: len(parameters)].tolist()
        values = message[len(parameters) :].split([parameter.numel() for parameter in parameters])
        for parameter, anyone, value in zip(parameters, somewhere, values, strict=True):
            parameter.grad = value.view_as(parameter).clone() if anyone else None

    def add(self, values: Tensor) -> Tensor:
        if self.is_shared:
            values = values.clone()
            distributed.all_reduce(values)
        return values

    def agrees_to_stop(self, step: int, wanted: bool) -> bool:
        """Whether the writer wants to stop. Every process gets the same answer at the same step, counted from the start
        of the training; they ask every tenth step.
        """
        if not self.is_shared:
            return wanted
        if step % _STEPS_BETWEEN_STOP_CHECKS:
            return False
        return self._from_writer(wanted)

    def take_writers_random_state(self, device: torch.device) -> None:
        """Continue with the writer's random numbers; waits for every process."""
        if not self.is_shared:
            return
        carrier = device if distributed.get_backend() == "nccl" else torch.device("cpu")
        state = torch.get_rng_state().to(carrier)
        distributed.broadcast(state, src=0)
        torch.set_rng_state(state.cpu())
        if device.type == "cuda":
            state = torch.cuda.get_rng_state(device).to(carrier)
            distributed.broadcast(state, src=0)
            torch.cuda.set_rng_state(state.cpu(), device)

    def wait(self) -> None:
        """Wait for every process."""
        if self.is_shared:
            self._from_writer(True)

    def _from_writer(self, value: bool) -> bool:
        # A tensor, because torch pickles objects.
        flag = torch.tensor([int(value)], device="cuda" if distributed.get_backend() == "nccl" else "cpu")
        distributed.broadcast(flag, src=0)
        return bool(flag.item())


@contextmanager
def joined_group(device: torch.device) -> Iterator[Group]:
    """The group of the launcher's environment; this process leaves it at the end."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Group(rank=distributed.get_rank(), size=distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
